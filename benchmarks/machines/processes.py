"""Processes on emulated machines: started and ended, a trainer told what to do, all measured from outside."""

from __future__ import annotations

import json
import os
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring.checkout import BENCHMARKS, ROOT
from measuring.jobs import Job
from measuring.memory import status_number

from machines.networks import Loopback, Network
from machines.quotas import Quotas

COORDINATOR = "coordinator"
START_SECONDS = 300.0  # that all machines may take until they are ready
_STOP_SECONDS = 10.0
_LAST_LINES = 8  # of what a failed process printed


class NodeError(Exception):
    """A machine's process did not do what it was to; says which and how it ended."""


class NodeProcesses(ABC):
    """Machines with a process each; `cores` is what each is limited to while it is measured."""

    def __init__(
        self, network: Network | Loopback, quotas: Quotas | None, cores: dict[str, float | None], folder: Path
    ) -> None:
        self._network = network
        self._quotas = quotas
        self._cores = cores
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def start(self) -> None:
        """Start what has to run before the trainer does; here nothing."""
        return

    @abstractmethod
    def train(self, job: Job, batch_words: int | None) -> dict[str, Any]:
        """Return the results of a training, with what `measure` adds; `batch_words` is for our coordinator."""

    def stop(self) -> None:
        """End all processes."""
        for process in self._processes.values():
            process.terminate()
        deadline = time.monotonic() + _STOP_SECONDS
        for process in self._processes.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def measure(
        self, command: Sequence[str], request: Any, environment: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Return what a trainer on the coordinator's machine says, with processor seconds and bytes of every machine.

        The trainer reads `request`, warms up, and says so. From there until training has ended the machines are limited
        and measured. Peak memory is from a process's start, as the warm-up needs the same.
        """
        process = self._begin(COORDINATOR, command, has_pipes=True, environment=environment)
        self._tell(request)
        self._hear()
        for name, cores in self._cores.items():
            if self._quotas is not None and cores is not None:
                self._quotas.limit(name, cores)
            elif self._quotas is not None:
                self._quotas.prefer(name)
        cpu, sent, received = self._cpu_seconds(), self._network.sent_bytes(), self._network.received_bytes()
        self._tell("train")
        self._hear()
        cpu_seconds = {name: seconds - cpu[name] for name, seconds in self._cpu_seconds().items()}
        sent_bytes = {name: count - sent[name] for name, count in self._network.sent_bytes().items()}
        received_bytes = {name: count - received[name] for name, count in self._network.received_bytes().items()}
        peak = {name: sum(map(peak_bytes, family_of(one.pid))) for name, one in self._processes.items()}
        self._tell("score")
        result: dict[str, Any] = self._hear()
        process.wait()
        return result | {
            "cpu_seconds": cpu_seconds,
            "sent_bytes": sent_bytes or None,
            "received_bytes": received_bytes or None,
            "peak_bytes": peak,
        }

    def _wait_until(self, is_ready: str, names: Sequence[str]) -> None:
        """Return when the processes on these machines have printed some words."""
        deadline = time.monotonic() + START_SECONDS
        for name in names:
            while is_ready not in self._log(name).read_text(errors="replace"):
                if self._processes[name].poll() is not None or time.monotonic() > deadline:
                    raise self._failure(name)
                time.sleep(0.1)

    def _begin(
        self,
        name: str,
        command: Sequence[str],
        has_pipes: bool = False,
        is_again: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        with self._log(name).open("a" if is_again else "w") as log:
            process = subprocess.Popen(
                [*self._network.inside(name), *command],
                stdin=subprocess.PIPE if has_pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if has_pipes else log,
                stderr=log,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(BENCHMARKS)]), **(environment or {})},
                start_new_session=True,  # Ctrl-C is for this process, which then ends the others
            )
        self._processes[name] = process
        if self._quotas is not None:
            self._quotas.take(name, process.pid)
        return process

    def _tell(self, message: Any) -> None:
        stream = self._processes[COORDINATOR].stdin
        assert stream is not None
        try:
            stream.write(json.dumps(message) + "\n")
            stream.flush()
        except BrokenPipeError:
            raise self._failure(COORDINATOR) from None

    def _hear(self) -> Any:
        stream = self._processes[COORDINATOR].stdout
        assert stream is not None
        line = stream.readline()
        if not line:
            raise self._failure(COORDINATOR)
        return json.loads(line)

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def _failure(self, name: str) -> NodeError:
        said = self._log(name).read_text(errors="replace").strip().splitlines()[-_LAST_LINES:]
        return NodeError(f"{name} failed: " + "\n".join(said))

    def _cpu_seconds(self) -> dict[str, float]:
        ticks = os.sysconf("SC_CLK_TCK")
        return {name: sum(map(cpu_ticks, family_of(one.pid))) / ticks for name, one in self._processes.items()}


def family_of(process: int) -> list[int]:
    """Return a process and all that it has started, as far as they run."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            parents[int(folder.name)] = int(fields[1])
    family = [process]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    return family


def processes_of(sessions: Collection[int]) -> list[int]:
    """Return the processes of sessions that run, or that have ended and are not waited for."""
    found = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return [process for process in found if (fields := _stat(process)) and int(fields[3]) in sessions]


def cpu_ticks(process: int) -> int:
    """Return the processor time that a process and its finished children have used, in the kernel's ticks."""
    return sum(map(int, _stat(process)[11:15]))  # utime, stime, cutime, cstime: fields 14 to 17


def peak_bytes(process: int) -> int:
    """Return the largest resident size that a process has had, 0 if it has ended."""
    try:
        return status_number(process, "VmHWM")
    except OSError:
        return 0


def _stat(process: int) -> list[str]:
    """Return what the kernel says of a process after its name, nothing if it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []

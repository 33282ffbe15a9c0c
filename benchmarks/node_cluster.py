"""A cluster of emulated machines: its tasks started, the coordinator told when to train, all measured from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from checkout import ROOT
from jobs import Job
from node_network import Loopback, Network
from node_quotas import Quotas

COORDINATOR = "coordinator"
_START_SECONDS = 300.0  # that all tasks may take to import TensorFlow
_STOP_SECONDS = 10.0
_LAST_LINES = 8  # of what a failed process printed


class NodeError(Exception):
    """A machine's process did not do what it was to; says which and how it ended."""


class NodeCluster:
    """Machines with a task each, and one for the coordinator; `cores` is what each is limited to while training."""

    def __init__(
        self, network: Network | Loopback, quotas: Quotas | None, cores: dict[str, float | None], folder: Path
    ) -> None:
        self._network = network
        self._quotas = quotas
        self._cores = cores
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._cluster: dict[str, list[str]] = {"ps": [], "worker": []}
        for job, name in self._tasks():
            self._cluster[job].append(network.address(name))

    def _tasks(self) -> list[tuple[str, str]]:
        """Return each task's job and machine."""
        return [(name.rstrip("0123456789"), name) for name in self._cores if name != COORDINATOR]

    def start(self) -> None:
        """Start all tasks and return when they are ready."""
        file = self._folder / "cluster.json"
        file.write_text(json.dumps(self._cluster))
        for _, name in self._tasks():
            self.begin_task(name)
        deadline = time.monotonic() + _START_SECONDS
        for name, process in self._processes.items():
            while " is ready " not in self._log(name).read_text(errors="replace"):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise self._failure(name)
                time.sleep(0.1)

    def begin_task(self, name: str, is_again: bool = False) -> None:
        """Start a task, at first or again after its end, and do not wait for it."""
        job = name.rstrip("0123456789")
        task = ["--job", job, "--task", name[len(job) :], "--cluster", str(self._folder / "cluster.json")]
        command = ["-m", "gensim_tfw2v", "server", *task, "--with-parent", str(os.getpid()), "--allow-network"]
        self._begin(name, command, is_again=is_again)

    def train(self, job: Job, batch_words: int | None) -> dict[str, Any]:
        """Return what the coordinator says of the training, with processor seconds and bytes of every machine.

        Machines are limited when the coordinator has warmed them up, and measured from there until training has ended.
        """
        process = self._begin(COORDINATOR, [str(ROOT / "benchmarks" / "node_run.py")], has_pipes=True)
        self._tell({"cluster": self._cluster, "job": asdict(job), "batch_words": batch_words})
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
        self._tell("score")
        result: dict[str, Any] = self._hear()
        process.wait()
        return result | {
            "cpu_seconds": cpu_seconds,
            "sent_bytes": sent_bytes or None,
            "received_bytes": received_bytes or None,
        }

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

    def _begin(
        self, name: str, arguments: list[str], has_pipes: bool = False, is_again: bool = False
    ) -> subprocess.Popen[str]:
        with self._log(name).open("a" if is_again else "w") as log:
            process = subprocess.Popen(
                [*self._network.inside(name), sys.executable, *arguments],
                stdin=subprocess.PIPE if has_pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if has_pipes else log,
                stderr=log,
                text=True,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
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
        return {name: cpu_ticks(process.pid) / ticks for name, process in self._processes.items()}


def cpu_ticks(process: int) -> int:
    """Return the processor time that a process and its finished children have used, in the kernel's ticks."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[11:15]))  # utime, stime, cutime, cstime: fields 14 to 17

"""The processes of one cell of `cores.py`: prepared side by side, then told to train at the same moment."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import IO, Any

from measuring.checkout import BENCHMARKS
from measuring.python_lock import LockWatch

_SECONDS_BETWEEN_LOOKS = 0.0005
_PATIENCE = 180.0  # seconds that preparing, training or scoring may take
_LAST_LINES = 8  # of what a failed process printed


class CoreProcessError(Exception):
    """A process of a cell ended too early; says how."""


class CoreProcess:
    """A process that trains when it is told to."""

    def __init__(self, request: dict[str, Any]) -> None:
        command = [sys.executable, "-m", "machines.core_training"]
        self._messages: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
            text=True,
            env={**os.environ, "PYTHONPATH": str(BENCHMARKS)},
        )
        self.watch: LockWatch | None = None
        self.tell(json.dumps(request))

    def tell(self, line: str) -> None:
        """Send a line."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # `hear` says how the process ended
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """Return the next message; raise CoreProcessError if there is none in time."""
        killer = threading.Timer(_PATIENCE, self._process.kill)
        killer.start()
        try:
            line = self.output.readline()
        finally:
            killer.cancel()
        if not line:
            self._process.kill()
            status = self._process.wait()
            self._messages.seek(0)
            said = self._messages.read().strip().splitlines()[-_LAST_LINES:]
            raise CoreProcessError(f"a process ended with status {status}: " + "\n".join(said))
        message: dict[str, Any] = json.loads(line)
        return message

    def prepare_watch(self) -> None:
        """Wait until the process is prepared, and find its Python lock."""
        address = self.hear()["lock"]
        if address is not None:
            with contextlib.suppress(OSError):  # the system does not let processes look at others
                self.watch = LockWatch(self._process.pid, address)

    @property
    def output(self) -> IO[str]:
        """What the process says."""
        assert self._process.stdout is not None
        return self._process.stdout

    def end(self) -> None:
        """End the process."""
        if self.watch is not None:
            self.watch.close()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.output.close()
        self._messages.close()


def train_at_once(processes: Sequence[CoreProcess]) -> list[dict[str, Any]]:
    """Return what each process says of a training that all begin now, with the looks at its lock meanwhile."""
    before = [(one.watch.looks, one.watch.times_held) if one.watch else (0, 0) for one in processes]
    for one in processes:
        one.tell("train")
    training = {one.output.fileno(): one for one in processes}
    while training:
        answered, _, _ = select.select(list(training), [], [], _SECONDS_BETWEEN_LOOKS)
        for number in answered:
            del training[number]
        for one in training.values():
            if one.watch is not None:
                one.watch.look()
    results = []
    for one, (looks, held) in zip(processes, before, strict=True):
        result = one.hear()
        if one.watch is not None:
            result |= {"looks": one.watch.looks - looks, "times_held": one.watch.times_held - held}
        results.append(result)
    return results

"""A cluster whose processes are killed, stopped and cut off, and mended some time later."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from machines.cluster import NodeCluster
from machines.networks import Loopback, Network
from machines.processes import COORDINATOR, NodeError

from fault_injection.cells import KILL, LINK, STOP, Cell

_SECONDS_BETWEEN_LOOKS = 0.2
_DUMP_SECONDS = 2.0  # that a hung process has to print its stacks


class FaultCluster(NodeCluster):
    """Tasks that are started again when they were killed, and the coordinator of one training after the other."""

    def __init__(self, network: Network | Loopback, servers: int, workers: int, folder: Path) -> None:
        names = machines(servers, workers)
        super().__init__(network, None, dict.fromkeys(names), folder)
        self._names = names
        self._request = folder / "request.json"
        self._progress, self._result = folder / "progress.json", folder / "result.json"

    @property
    def addresses(self) -> dict[str, list[str]]:
        """Return the tasks' addresses by job."""
        return self._cluster

    def begin_training(self, request: dict[str, Any]) -> None:
        """Start a coordinator."""
        for file in (self._progress, self._result):
            file.unlink(missing_ok=True)
        files = {"progress": str(self._progress), "result": str(self._result)}
        self._request.write_text(json.dumps({**request, "cluster": self._cluster, **files}))
        self._begin_coordinator()

    def _begin_coordinator(self, is_again: bool = False) -> None:
        command = [sys.executable, "-m", "fault_injection.training", str(self._request)]
        self._begin(COORDINATOR, command, is_again=is_again)

    def wait_for_words(self, words: float, deadline: float) -> None:
        """Return when training has come to so many words; raise NodeError if it ends or is late."""
        while self._words() < words:
            self._check_coordinator(deadline)
            if self._processes[COORDINATOR].poll() is not None:
                raise NodeError(f"training ended before {words:,.0f} words")
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def wait_for_end(self, deadline: float) -> dict[str, Any]:
        """Return what the coordinator has found, with seconds and words trained again."""
        while self._processes[COORDINATOR].poll() is None:
            self._check_coordinator(deadline)
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        self._check_coordinator(deadline)
        result: dict[str, Any] = json.loads(self._result.read_text())
        lines = self._lines()
        report = result["report"]  # none from a coordinator that finds a finished training
        return result | {
            "seconds": result["trained_at"] - lines[0]["at"],
            "words_again": _words_again(lines),
            "raw_words": lines[-1]["words"],
            "recoveries": report["recoveries"]["count"] if report else 0,
        }

    def victims(self, cell: Cell, choice: int) -> list[str]:
        """Return the names of the machines that a cell harms; `choice` is a number that picks one of several."""
        if cell.victim == "all":
            return self._names
        job = {"server": "ps"}.get(cell.victim, cell.victim)
        found = [name for name in self._names if name.startswith(job)]
        return [found[choice % len(found)]]

    def harm(self, fault: str, names: list[str]) -> None:
        """Kill or stop processes, or take their links down."""
        for name in names:
            if fault == LINK:
                self._set_link(name, is_up=False)
            else:
                self._processes[name].send_signal({KILL: signal.SIGKILL, STOP: signal.SIGSTOP}[fault])

    def mend(self, fault: str, names: list[str]) -> None:
        """Start killed processes again, let stopped ones continue, take links up."""
        for name in names:
            if fault == LINK:
                self._set_link(name, is_up=True)
            elif fault == STOP:
                self._processes[name].send_signal(signal.SIGCONT)
            else:
                self._processes[name].wait()
                self._begin_coordinator(is_again=True) if name == COORDINATOR else self.begin_task(name, is_again=True)

    def end_training(self) -> str:
        """End a coordinator that is still there, and return the last lines that it printed."""
        process = self._processes[COORDINATOR]
        if process.poll() is None:
            process.send_signal(signal.SIGUSR1)  # it prints the stacks of its threads
            time.sleep(_DUMP_SECONDS)
            process.kill()
            process.wait()
        return self._log(COORDINATOR).read_text(errors="replace")

    def _set_link(self, name: str, is_up: bool) -> None:
        assert isinstance(self._network, Network)
        self._network.set_link(name, is_up)

    def _check_coordinator(self, deadline: float) -> None:
        process = self._processes[COORDINATOR]
        if process.poll() or (process.poll() == 0 and not self._result.exists()):
            raise self._failure(COORDINATOR)
        if time.monotonic() > deadline:
            raise NodeError(f"training hangs after {self._words():,.0f} words")

    def _words(self) -> float:
        lines = self._lines()
        return lines[-1]["words"] if lines else -1

    def _lines(self) -> list[dict[str, Any]]:
        """Return what coordinators have written of their progress, without a line that was cut off."""
        found = []
        for line in self._progress.read_text().splitlines() if self._progress.exists() else ():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found

    def stop(self) -> None:
        """End all processes, stopped ones too."""
        for process in self._processes.values():
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
        super().stop()


def machines(servers: int, workers: int) -> list[str]:
    """Return the names of all machines."""
    return [
        *(f"ps{number}" for number in range(servers)),
        *(f"worker{number}" for number in range(workers)),
        COORDINATOR,
    ]


def _words_again(lines: list[dict[str, Any]]) -> float:
    """Return how many words were trained and lost, given what coordinators have written."""
    again, before = 0.0, 0.0
    for line in lines:
        if line["is_start"]:
            again += max(0.0, before - line["words"])
        before = line["words"]
    return again

"""A cluster that schedules disturb: its tasks, a worker that joins, and its coordinators."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from machines.cluster import NodeCluster
from machines.networks import Loopback, Network
from machines.processes import COORDINATOR
from measuring.memory import status_number

from fault_injection.cluster import machines
from fault_injection.schedules import APART, CUT, GUEST, OTHER, SLOW, Event

_SLOW_RATE = "4mbit"
OPERATOR = "operator"  # the machine from which workers are asked to leave
COORDINATORS = (COORDINATOR, OTHER)


class ScheduledCluster(NodeCluster):
    """Tasks on machines of their own, two machines for coordinators, and one for a worker that joins."""

    def __init__(self, network: Network | Loopback, servers: int, workers: int, folder: Path) -> None:
        super().__init__(network, None, dict.fromkeys(machines(servers, workers)), folder)
        self.tasks = self._tasks()
        self._said: dict[str, int] = {}  # bytes of a task's log when it was last started
        self._closed: Counter[tuple[str, str]] = Counter()  # paths from a machine to another one
        self.sessions: set[int] = set()  # of processes that end with a schedule

    @property
    def addresses(self) -> dict[str, list[str]]:
        """Return the tasks' addresses by job."""
        return self._cluster

    # -- processes -----------------------------------------------------------------------------------------------------

    def begin_task(self, name: str, is_again: bool = False) -> None:
        log = self.log(name)
        self._said[name] = log.stat().st_size if is_again and log.exists() else 0
        super().begin_task(name, is_again)

    def begin_coordinator(self, machine: str, request: Path, name: str, is_again: bool = False) -> None:
        """Start a coordinator of this name on a machine, for the first time in a schedule or again."""
        command = [sys.executable, "-m", "fault_injection.scheduled_training", str(request), name]
        self.sessions.add(self._begin(machine, command, is_again=is_again).pid)

    def begin_guest(self) -> None:
        """Start the worker that joins."""
        own, server = self._network.address(GUEST), self._cluster["ps"][0]
        place = ["--join", server, "--address", own, "--cores", "1", "--allow-network"]
        self.sessions.add(self._begin(GUEST, [sys.executable, "-m", "gensim_tfw2v", "server", *place]).pid)

    def drain(self, name: str) -> None:
        """Have a worker leave after its block, and do not wait for it."""
        command = [sys.executable, "-m", "gensim_tfw2v", "cluster", "drain", self._network.address(name)]
        self.sessions.add(self._begin(OPERATOR, [*command, "--allow-network"]).pid)

    def process(self, name: str) -> subprocess.Popen[str] | None:
        """Return the process that was started last on a machine, None if none was."""
        return self._processes.get(name)

    def runs(self, name: str) -> bool:
        """Return whether a machine's process runs, or is stopped."""
        process = self._processes.get(name)
        return process is not None and process.poll() is None

    def is_ready(self, name: str) -> bool:
        """Return whether a task has said that it is ready since it was last started."""
        return " is ready " in self.log(name).read_bytes()[self._said[name] :].decode(errors="replace")

    def send(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a machine's process, if it has one."""
        if self.runs(name):
            self._processes[name].send_signal(number)

    def log(self, name: str) -> Path:
        """Return the file that a machine's processes print to."""
        return self._log(name)

    def kept(self) -> dict[str, dict[str, int]]:
        """Return the process, the threads and the descriptors of each task."""
        found = {}
        for name in self.tasks:
            process = self._processes[name].pid
            descriptors = len(os.listdir(f"/proc/{process}/fd"))
            found[name] = {"process": process, "threads": status_number(process, "Threads"), "descriptors": descriptors}
        return found

    def stop(self) -> None:
        """End all processes, stopped ones too."""
        for name in self._processes:
            self.send(name, signal.SIGCONT)
        super().stop()

    # -- links ---------------------------------------------------------------------------------------------------------

    def set_links(self, event: Event, is_harmed: bool) -> None:
        """Harm the links that an event names, or mend them."""
        network = self._network
        assert isinstance(network, Network)
        if event.action == CUT:
            network.set_link(event.victim, not is_harmed)
        elif event.action == SLOW:
            network.set_rate(event.victim, _SLOW_RATE if is_harmed else None)
        else:
            for path in _paths(event, network.addresses):
                self._closed[path] += 1 if is_harmed else -1
                if self._closed[path] == int(is_harmed):  # other events may have closed it as well
                    network.set_path(*path, is_open=not is_harmed)


def machines_of(servers: int, workers: int) -> list[str]:
    """Return the names of all machines that a schedule may need."""
    return [*machines(servers, workers), OTHER, GUEST, OPERATOR]


def _paths(event: Event, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return which machines do not reach which other ones."""
    if event.action == APART:
        return [(event.victim, event.peer), (event.peer, event.victim)]
    return [(event.victim, name) for name in names if name != event.victim]


def write_request(path: Path, request: dict[str, Any]) -> Path:
    """Write what a coordinator is to do to a file, and return the file."""
    path.write_text(json.dumps(request))
    return path

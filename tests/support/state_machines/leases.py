"""Coordinators that make tables on a server, lose it, freeze, crash, and free what others have left behind."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gensim_tfw2v.cluster import leases
from gensim_tfw2v.cluster.task import OPEN_LEASE, RENEW_LEASE, Task, key_of
from gensim_tfw2v.placement.remote import left_tables, tables
from gensim_tfw2v.placement.remote.tables import RemoteTables
from support.clock import Clock

SERVER = ("ps", 0)
PROCESSES = st.integers(0, 2)
PLACES = st.integers(0, 9)
EXPIRY_SECONDS = left_tables._LEASE_SECONDS


class Process:
    """A coordinator, and what its modules keep."""

    def __init__(self, machine: str, number: int, token: str) -> None:
        self.machine, self.number, self.token = machine, number, token
        self.lease_numbers = iter(range(1000))
        self.free_numbers: list[int] = []
        self.to_be_freed: set[str] = set()
        self.own: list[RemoteTables] = []
        self.given_up: list[RemoteTables] = []  # which a thread may still free


class Leases(RuleBasedStateMachine):
    """Compares the server's tables with those that living coordinators use.

    Two coordinators are on one machine, and one is on another.
    """

    def __init__(self) -> None:
        super().__init__()
        self.patched, self.clock = pytest.MonkeyPatch(), Clock()
        self.server = Task(clock=self.clock.monotonic)
        self.variables: dict[str, RemoteTables] = {}  # on the server, by name
        self.renewed: dict[RemoteTables, float] = {}
        self.tokens = iter(range(1000))
        self.processes = [self._started(number) for number in range(3)]
        self.running = {process.number for process in self.processes}
        patch = self.patched.setattr
        patch(tables, "call_task", self._call)
        patch(tables, "free_lease", self._free_on_server)
        patch(left_tables, "free_lease", self._free_on_server)

    def _started(self, place: int) -> Process:
        return Process("other" if place == 2 else "here", 100 + next(self.tokens), f"token{next(self.tokens)}")

    def teardown(self) -> None:
        """Undo what was changed."""
        self.patched.undo()

    # -- the server ----------------------------------------------------------------------------------------------------

    def _call(self, task: Any, function: str, *arguments: Any, output: Any = None) -> None:
        if function == OPEN_LEASE:
            name, names = arguments
            self.server.open_lease(name.encode(), names.encode())
        else:
            assert function == RENEW_LEASE
            self.server.renew_lease(arguments[0])

    def _free_on_server(self, tasks: Sequence[Any], lease: str, names: list[str]) -> None:
        for name in names:
            self.variables.pop(f"{lease}/{name}", None)
        self.server.end_lease(lease.encode())

    def _described(self, *_: Any) -> Any:
        return json.loads(self.server.describe())

    # -- coordinators --------------------------------------------------------------------------------------------------

    def _as(self, process: Process, function: Callable[[], Any]) -> Any:
        """Return what a function returns in a process."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(leases, "machine_name", lambda: process.machine)
            patched.setattr(leases, "os", SimpleNamespace(getpid=lambda: process.number))
            patched.setattr(leases, "_token", lambda _: process.token)
            patched.setattr(leases, "is_running", lambda number: number in self.running)
            patched.setattr(left_tables, "_to_be_freed", process.to_be_freed)
            patched.setattr(tables, "_lease_numbers", process.lease_numbers)
            patched.setattr(tables, "_free_numbers", process.free_numbers)
            patched.setattr(platform, "node", lambda: process.machine)
            return function()

    @rule(place=PROCESSES)
    def make(self, place: int) -> None:
        """Have a coordinator make tables, which frees those that nobody needs."""
        process = self.processes[place]
        connection: Any = SimpleNamespace(strategy=None, describe=self._described)

        def make() -> RemoteTables:
            made = RemoteTables(connection, 1, [SERVER])
            made._record(["inputs/0"])
            return made

        made = self._as(process, make)
        assert all(made.name != other.name for one in self.processes for other in one.own), "two tables have one name"
        assert f"{made.name}/inputs/0" not in self.variables, "new tables have the name of tables that are there"
        self.variables[f"{made.name}/inputs/0"] = made
        process.own.append(made)
        self.renewed[made] = self.clock.now
        left = {f"{name}/inputs/0" for name in process.to_be_freed}
        assert not left & self.variables.keys(), "tables stay that were to be freed"

    @rule(place=PROCESSES, number=PLACES)
    def free(self, place: int, number: int) -> None:
        """Have a coordinator free its tables."""
        process = self.processes[place]
        if process.own:
            own = process.own.pop(number % len(process.own))
            self._as(process, own.free)

    @rule(place=PROCESSES, number=PLACES)
    def free_later(self, place: int, number: int) -> None:
        """Have a coordinator leave its tables to the next ones: the server does not answer now."""
        process = self.processes[place]
        if process.own:
            own = process.own.pop(number % len(process.own))
            self._as(process, own.free_later)
            process.given_up.append(own)

    @rule(place=PROCESSES, number=PLACES)
    def free_late(self, place: int, number: int) -> None:
        """Have the thread continue that has waited for the server with a coordinator's call."""
        process = self.processes[place]
        if process.given_up:
            self._as(process, process.given_up[number % len(process.given_up)].free)

    def renew(self, place: int) -> None:
        """Have a coordinator renew its leases."""
        for own in self.processes[place].own:
            self.server.renew_lease(key_of(own.name))
            if self.variables.get(f"{own.name}/inputs/0") is own:  # else others have freed them
                self.renewed[own] = self.clock.now

    @rule(place=PROCESSES)
    def crash(self, place: int) -> None:
        """End a coordinator at once, and start another one in its place."""
        self.running.discard(self.processes[place].number)
        self.processes[place] = self._started(place)
        self.running.add(self.processes[place].number)

    @rule(seconds=st.sampled_from([60.0, EXPIRY_SECONDS / 2, EXPIRY_SECONDS + 1]), frozen=st.none() | PROCESSES)
    def wait(self, seconds: float, frozen: int | None) -> None:
        """Let time pass, in which all coordinators renew their leases, unless one of them is frozen."""
        for _ in range(2):
            self.clock.now += seconds / 2
            for place in {0, 1, 2} - {frozen}:
                self.renew(place)

    # -- what always holds ---------------------------------------------------------------------------------------------

    @invariant()
    def tables_in_use_are_there(self) -> None:
        """Tables of a coordinator that runs and renews its leases are on the server, and are its own."""
        for process in self.processes:
            for own in process.own:
                is_sure = self.clock.now - self.renewed[own] <= EXPIRY_SECONDS
                holder = self.variables.get(f"{own.name}/inputs/0")
                assert holder is own or (holder is None and not is_sure), "tables in use were freed"

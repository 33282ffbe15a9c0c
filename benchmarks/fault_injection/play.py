"""Plays a schedule: starts its training, has its events happen in time, and starts again what has ended."""

from __future__ import annotations

import heapq
import itertools
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from machines.processes import COORDINATOR

from fault_injection import disks
from fault_injection.progress_file import ProgressFile
from fault_injection.scheduled_cluster import COORDINATORS, ScheduledCluster
from fault_injection.scheduled_training import ERROR_STATUS
from fault_injection.schedules import (
    FULL,
    GUEST,
    JOIN,
    KILL,
    LEAVE,
    LINKS,
    OTHER,
    SECOND,
    STOP,
    TAKE_OVER,
    Event,
    Schedule,
)

_LOOK_SECONDS = 0.01
_PAUSE_SECONDS = 2.0  # until a coordinator that has ended with an error is started again
_MOST_STARTS = 12  # of a coordinator
_DUMP_SECONDS = 2.0  # that a hung process has to print its stacks
_START_SECONDS = 30.0  # for which a task that is started again may not answer yet


@dataclass
class Trouble:
    """For how long a machine, or all of them (""), were disturbed, by time.time()."""

    machine: str
    action: str
    begin: float
    end: float = float("inf")


@dataclass
class Played:
    """What has happened in a schedule."""

    happened: list[float | None]  # seconds from the beginning to each event; None: its moment did not come
    seconds: float = 0.0
    errors: list[dict[str, Any]] = field(default_factory=list)  # with which coordinators ended
    troubles: list[Trouble] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    is_hung: bool = False


class Play:
    """One training with its events.

    Parameters
    ----------
    request : Path
        File that says to coordinators what to train.
    place : Path
        Folder on the file system of the checkpoints, which can be filled.
    timeout : float
        The training's `cluster_timeout`, of which the events' lengths are multiples.
    bound : float
        Seconds after which the training counts as hung.
    """

    def __init__(
        self, cluster: ScheduledCluster, schedule: Schedule, request: Path, place: Path, progress: ProgressFile,
        timeout: float, bound: float,
    ) -> None:  # fmt: skip
        self._cluster, self._schedule, self._request, self._place = cluster, schedule, request, place
        self._progress, self._timeout, self._bound = progress, timeout, bound
        self._due: dict[int, float] = {}  # events that are about to happen
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._expected: set[str] = set()  # machines whose process may have ended
        self._watched: dict[str, int] = {}  # process of each coordinator whose end is not known yet
        self._starts, self._has_result = 0, False
        self.played = Played([None] * len(schedule.events))

    def run(self) -> Played:
        """Return what has happened once all coordinators have ended and everything is mended."""
        began = time.monotonic()
        self._began = began
        self._begin(COORDINATOR)
        while self._is_going_on():
            self._note_moments()
            for number in [number for number, due in self._due.items() if due <= time.monotonic()]:
                del self._due[number]
                self._do(number)
            self._do_what_is_due()
            self._look_after_coordinators()
            self._look_after_tasks()
            if time.monotonic() - began > self._bound:
                self._give_up()
                break
            time.sleep(_LOOK_SECONDS)
        self.played.seconds = time.monotonic() - began
        while self._later:
            heapq.heappop(self._later)[2]()
        self._note_moments()
        return self.played

    def _is_going_on(self) -> bool:
        return bool(self._watched) or not self._has_result

    def _note_moments(self) -> None:
        for line in self._progress.new_lines():
            for number, event in enumerate(self._schedule.events):
                is_new = self.played.happened[number] is None and number not in self._due
                if is_new and line["stage"] == event.moment.stage and line["share"] >= event.moment.after:
                    self._due[number] = time.monotonic() + event.moment.delay

    def _do_what_is_due(self) -> None:
        while self._later and self._later[0][0] <= time.monotonic():
            heapq.heappop(self._later)[2]()

    def _in(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._order), action))

    # -- events --------------------------------------------------------------------------------------------------------

    def _do(self, number: int) -> None:
        """Have an event happen, and be mended after its length."""
        event = self._schedule.events[number]
        victim = self._owner() if event.victim == COORDINATOR and event.action in (KILL, STOP) else event.victim
        mend = self._harm(event, victim)
        if mend is None:
            return
        self.played.happened[number] = time.monotonic() - self._began
        rest = _START_SECONDS if event.action in (KILL, LEAVE) else self._timeout
        troubles = [Trouble(name, event.action, time.time()) for name in {victim, event.peer or victim}]
        self.played.troubles += troubles

        def end() -> None:
            if event.action in (SECOND, TAKE_OVER) and self._second_begins():
                self._in(_LOOK_SECONDS, end)
                return
            for trouble in troubles:
                trouble.end = time.time() + rest
            mend()

        self._in(event.length * self._timeout, end)

    def _harm(self, event: Event, victim: str) -> Callable[[], None] | None:
        """Harm a machine; return what mends it, None if it cannot be harmed now."""
        cluster = self._cluster
        if event.action in LINKS:
            if any(one.action == event.action and one.machine == victim for one in self._open_troubles()):
                return None
            cluster.set_links(event, is_harmed=True)
            return lambda: cluster.set_links(event, is_harmed=False)
        if event.action == FULL:
            disks.fill(self._place)
            return lambda: disks.empty(self._place)
        if event.action == JOIN:
            if cluster.runs(GUEST):
                return None
            cluster.begin_guest()
            return lambda: cluster.send(GUEST, signal.SIGTERM)
        if not cluster.runs(victim):
            return None
        return self._harm_process(event.action, victim)

    def _harm_process(self, action: str, victim: str) -> Callable[[], None] | None:
        cluster = self._cluster
        if action == STOP:
            cluster.send(victim, signal.SIGSTOP)
            return lambda: cluster.send(victim, signal.SIGCONT)
        if action == KILL:
            self._expected.add(victim)
            self._watched.pop(victim, None)
            cluster.send(victim, signal.SIGKILL)
            return lambda: self._begin(victim)
        if action == LEAVE:
            self._expected.add(victim)
            cluster.drain(victim)
            return lambda: self._begin_after_leaving(victim)
        if cluster.process(OTHER) is not None and OTHER in self._expected:  # there is one second coordinator
            return None
        cluster.send(victim, signal.SIGSTOP)
        if action == TAKE_OVER:
            disks.release_lock(self._place / "checkpoints" / ".lock")
        assert action in (SECOND, TAKE_OVER)
        self._begin(OTHER)
        return lambda: cluster.send(victim, signal.SIGCONT)

    def _second_begins(self) -> bool:
        """Return whether the second coordinator runs and has not trained yet."""
        process = self._watched.get(OTHER)
        has_trained = any((line["stage"], line["process"]) == ("call", process) for line in self._progress.lines)
        return process is not None and not has_trained

    def _open_troubles(self) -> list[Trouble]:
        return [trouble for trouble in self.played.troubles if trouble.end == float("inf")]

    def _owner(self) -> str:
        """Return which coordinator trains."""
        return OTHER if self._cluster.runs(OTHER) and OTHER in self._watched else COORDINATOR

    # -- processes that have ended -------------------------------------------------------------------------------------

    def _begin(self, name: str) -> None:
        """Start a task or a coordinator, for the first time or again."""
        process = self._cluster.process(name)
        if name not in COORDINATORS:
            if process is not None:
                process.wait()
            self._cluster.begin_task(name, is_again=True)
            self._expected.discard(name)
            return
        if self._has_result:  # another coordinator has trained to the end
            return
        is_again = name in self._expected
        self._expected.add(name)
        self._starts += 1
        self._cluster.begin_coordinator(name, self._request, name, is_again=is_again)
        found = self._cluster.process(name)
        assert found is not None
        self._watched[name] = found.pid

    def _begin_after_leaving(self, name: str) -> None:
        """Start a worker again that was asked to leave, once it has left."""
        if self._cluster.runs(name):
            self._in(_LOOK_SECONDS, lambda: self._begin_after_leaving(name)) if self._is_going_on() else None
            return
        self._begin(name)

    def _look_after_coordinators(self) -> None:
        for name, number in list(self._watched.items()):
            process = self._cluster.process(name)
            assert process is not None
            status = process.poll()
            if status is None:
                continue
            del self._watched[name]
            self._note_moments()
            if status == 0:
                self._has_result = True
            elif status == ERROR_STATUS:
                self.played.errors.append(self._progress.error_of(number))
            else:
                self.played.violations.append(f"{name} has ended with status {status}")
        if not self._watched and not self._has_result and not self._later_begins():
            self._begin_again()

    def _later_begins(self) -> bool:
        """Return whether a coordinator was killed and is to be started again."""
        return any(trouble.action == KILL and trouble.machine in COORDINATORS for trouble in self._open_troubles())

    def _begin_again(self) -> None:
        if self._starts >= _MOST_STARTS:
            self.played.violations.append(f"training has not ended well in {self._starts} starts of a coordinator")
            self._has_result = True
            return
        trouble = Trouble(COORDINATOR, KILL, time.time())
        self.played.troubles.append(trouble)

        def begin() -> None:
            trouble.end = time.time()
            self._begin(COORDINATOR)

        self._in(_PAUSE_SECONDS, begin)

    def _look_after_tasks(self) -> None:
        """Start tasks again that have ended, as a service manager does."""
        for name in self._cluster.tasks:
            process = self._cluster.process(name)
            assert process is not None
            if name not in self._expected and process.poll() is not None:
                self.played.violations.append(f"{name} has ended by itself with status {process.poll()}")
                self._begin(name)

    def _give_up(self) -> None:
        """Print the stacks of coordinators that hang, and end them."""
        self.played.is_hung = True
        self.played.violations.append(f"training has not ended after {self._bound:.0f} s")
        for name in COORDINATORS:
            self._cluster.send(name, signal.SIGCONT)
            self._cluster.send(name, signal.SIGUSR1)
        time.sleep(_DUMP_SECONDS)
        for name in COORDINATORS:
            self._cluster.send(name, signal.SIGKILL)
        self._watched.clear()

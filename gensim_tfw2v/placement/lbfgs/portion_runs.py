"""Portions on workers: when none is left to begin, idle workers get copies of the slowest, and the first result counts.

Every run of a portion has a place of its own on the servers, so that a run that comes late spoils nothing.
"""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from gensim_tfw2v.placement.calls.dispatch import Dispatcher
    from gensim_tfw2v.placement.calls.work import Finished, Job
    from gensim_tfw2v.placement.tasks.assignment import Request


class Found(NamedTuple):
    """The first result of a portion."""

    finished: Finished
    place: int  # the place that has its gradient


@dataclass(eq=False)
class _Running:
    """A portion without a result yet."""

    request: Request
    runs: list[Job] = field(default_factory=list)
    result: Future[Found] = field(default_factory=Future)

    def is_waiting(self) -> bool:
        """Return whether no worker has it."""
        return not any(run.result.running() or run.result.done() for run in self.runs)

    def is_slow(self) -> bool:
        """Return whether one worker has it, and no second one has been requested."""
        return len(self.runs) == 1 and self.runs[0].result.running()


class PortionRuns:
    """Has workers run portions; safe to use from several threads.

    Parameters
    ----------
    places : int
        Number of places: enough for all portions without a result, all results that are not freed, and two runs on each
        worker.
    """

    def __init__(self, dispatcher: Dispatcher, places: int) -> None:
        self._dispatcher = dispatcher
        self._free: SimpleQueue[int] = SimpleQueue()
        for place in range(places):
            self._free.put(place)
        self._lock = threading.Lock()  # guards the next four
        self._running: list[_Running] = []  # those that have run longest first
        self._are_all_begun = False
        self._copies = self._copies_first = 0

    def begin(self) -> None:
        """Begin an evaluation."""
        with self._lock:
            self._are_all_begun = False

    def run(self, request: Request, is_last: bool) -> Found:
        """Return the first result of a portion; `is_last` says that no further portion comes."""
        running = _Running(request)
        with self._lock:
            self._running.append(running)
        try:
            self._start(running, self._free.get())
            with self._lock:
                self._are_all_begun |= is_last
            self._dispatcher.wait([running])
        finally:
            with self._lock:
                self._running.remove(running)
        self._copy_slowest()
        return running.result.result()

    def free(self, place: int) -> None:
        """Let a place be used again."""
        self._free.put(place)

    def report(self) -> dict[str, int]:
        """Return how many copies were begun, and how many of them came first."""
        with self._lock:
            return {"copies": self._copies, "copies_first": self._copies_first}

    def _start(self, running: _Running, place: int) -> None:
        job = self._dispatcher.start(running.request, place)
        running.runs.append(job)
        job.result.add_done_callback(partial(self._end, running, job, place))

    def _copy_slowest(self) -> None:
        """Have the idle worker also run the portion that has been running longest."""
        with self._lock:
            waiting = any(running.is_waiting() for running in self._running)
            slow = next((running for running in self._running if running.is_slow()), None)
            if not self._are_all_begun or waiting or slow is None:
                return
            try:
                place = self._free.get_nowait()
            except Empty:
                return
            self._copies += 1
        self._start(slow, place)

    def _end(self, running: _Running, job: Job, place: int, result: Future[Any]) -> None:
        """Take the result of a run; only the first of a portion counts."""
        if result.cancelled():
            self.free(place)
        elif (error := result.exception()) is not None:
            self.free(place)
            with contextlib.suppress(InvalidStateError):
                running.result.set_exception(error)
        else:
            try:
                running.result.set_result(Found(result.result(), place))
            except InvalidStateError:
                self.free(place)
                return
            with self._lock:
                self._copies_first += job is not running.runs[0]
            for other in running.runs:
                other.result.cancel()  # unless a worker has begun it

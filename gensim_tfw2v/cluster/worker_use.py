"""Which workers are in use: one call at a time on each, and those that leave end once nobody uses them."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Collection, Iterator


class WorkerLocks:
    """Locks on the workers of a cluster, for all trainings of this process.

    TensorFlow's servers can hang if two functions that involve several tasks run on one worker at the same time. The
    call of an interrupted training may outlast it; the next caller must wait for its end. No call may run on any worker
    while restarted tasks are connected again.

    Attributes
    ----------
    abandoned : set of int
        Workers whose last call was cancelled while they hung, and that have not answered since.
    """

    def __init__(self) -> None:
        self.abandoned: set[int] = set()
        self._busy: set[int] = set()  # workers, and a number below 0 for each call of servers alone
        self._server_calls = itertools.count(-1, -1)
        self._closed = False
        self._changed = threading.Condition()

    def is_busy(self, worker: int) -> bool:
        """Return whether a call runs on this worker."""
        return worker in self.busy()

    def busy(self) -> list[int]:
        """Return the workers on which calls run."""
        with self._changed:
            return sorted(worker for worker in self._busy if worker >= 0)

    @contextlib.contextmanager
    def hold(self, worker: int) -> Iterator[None]:
        """Hold the lock of a worker, once it is free."""
        with self._changed:
            self._changed.wait_for(lambda: worker not in self._busy and not self._closed)
            self._busy.add(worker)
        try:
            yield
        finally:
            with self._changed:
                self._busy.remove(worker)
                self._changed.notify_all()

    def hold_servers(self) -> contextlib.AbstractContextManager[None]:
        """Hold a lock that only `hold_all` waits for, for a graph that runs on servers alone."""
        return self.hold(next(self._server_calls))

    @contextlib.contextmanager
    def hold_all(self, seconds: float) -> Iterator[bool]:
        """Hold the locks of all workers; yields False if running calls do not end in time."""
        with self._changed:
            is_held = not self._closed
            if is_held:
                self._closed = True
                is_held = self._changed.wait_for(lambda: not self._busy, seconds)
                self._closed = is_held
                self._changed.notify_all()
        try:
            yield is_held
        finally:
            if is_held:
                with self._changed:
                    self._closed = False
                    self._changed.notify_all()


class LeavingWorkers:
    """Workers by their number in job "worker" that leave the cluster; safe to use from several threads.

    A worker is *leaving* from the moment at which it asks to leave until its process has ended. Afterwards its number
    is free for another worker, until one gets that number, or is used under it again.
    """

    def __init__(self) -> None:
        self._users: dict[int, set[object]] = {}
        self._leaving: frozenset[int] = frozenset()
        self._left: frozenset[int] = frozenset()
        self._lock = threading.Lock()

    def is_leaving(self, worker: int) -> bool:
        """Return whether a worker is to get no more work."""
        return worker in self._leaving

    def has_left(self, worker: int) -> bool:
        """Return whether a worker has left, and no worker has been used under its number since."""
        return worker in self._left

    def is_away(self, worker: int) -> bool:
        """Return whether a worker is leaving or has left."""
        return self.is_leaving(worker) or self.has_left(worker)

    def begin_use(self, worker: int, user: object) -> bool:
        """Record that a user may call a worker from now on; return False, and do not, if the worker is leaving."""
        with self._lock:
            if worker in self._leaving:
                return False
            self._left -= {worker}
            self._users.setdefault(worker, set()).add(user)
            return True

    def end_use(self, worker: int, user: object) -> None:
        """Record that a user no longer calls a worker."""
        with self._lock:
            self._users.get(worker, set()).discard(user)

    def give(self, worker: int) -> None:
        """Record that a worker that joins has this number, so that no other one gets it."""
        with self._lock:
            self._leaving -= {worker}
            self._left -= {worker}

    def set_leaving(self, workers: Collection[int]) -> set[int]:
        """Set which workers are leaving; return those of them that nobody uses, which may end."""
        with self._lock:
            self._leaving = frozenset(workers)
            unused = {worker for worker in workers if not self._users.get(worker)}
            self._left |= unused
            return unused

"""Locks on workers: one call at a time on each, and none on any while restarted tasks are connected again."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class WorkerLocks:
    """Locks on the workers of a cluster, for all trainings of this process.

    TensorFlow's servers can hang if two functions that involve several tasks run on one worker at the same time. The
    call of an interrupted training may outlast it; the next caller must wait for its end.

    Attributes
    ----------
    abandoned : set of int
        Workers whose last call was cancelled while they hung, and that have not answered since.
    """

    def __init__(self) -> None:
        self.abandoned: set[int] = set()
        self._busy: set[int] = set()
        self._server_calls = 0
        self._closed = False
        self._changed = threading.Condition()

    def is_busy(self, worker: int) -> bool:
        """Return whether a call runs on this worker."""
        with self._changed:
            return worker in self._busy

    def busy(self) -> list[int]:
        """Return the workers on which calls run."""
        with self._changed:
            return sorted(self._busy)

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

    @contextlib.contextmanager
    def hold_servers(self) -> Iterator[None]:
        """Hold a lock that only `hold_all` waits for, for a graph that runs on servers alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._server_calls += 1
        try:
            yield
        finally:
            with self._changed:
                self._server_calls -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def hold_all(self, seconds: float) -> Iterator[bool]:
        """Hold the locks of all workers; yields False if running calls do not end in time."""
        with self._changed:
            is_held = not self._closed
            if is_held:
                self._closed = True
                is_held = self._changed.wait_for(lambda: not self._busy and not self._server_calls, seconds)
                self._closed = is_held
                self._changed.notify_all()
        try:
            yield is_held
        finally:
            if is_held:
                with self._changed:
                    self._closed = False
                    self._changed.notify_all()

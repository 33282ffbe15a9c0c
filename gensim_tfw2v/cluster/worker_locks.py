"""Who may call a worker: one call at a time on each, and none on any while restarted tasks are taken back."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class WorkerLocks:
    """Locks on the workers of a cluster, for all trainings of this process.

    TensorFlow's servers can hang when two calls of functions that reach over several tasks run on one worker. A call
    on a worker that is stopped may outlast its training; who comes next has to wait for its end.
    """

    def __init__(self) -> None:
        self._busy: set[int] = set()
        self._closed = False
        self._changed = threading.Condition()

    def is_busy(self, worker: int) -> bool:
        """Return whether somebody calls this worker."""
        with self._changed:
            return worker in self._busy

    def busy(self) -> list[int]:
        """Return which workers somebody calls."""
        with self._changed:
            return sorted(self._busy)

    @contextlib.contextmanager
    def hold(self, worker: int) -> Iterator[None]:
        """Have a worker to oneself, once that is possible."""
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
    def hold_all(self, seconds: float) -> Iterator[bool]:
        """Have all workers to oneself; yields False if the calls that run do not end in time."""
        with self._changed:
            mine = not self._closed
            if mine:
                self._closed = True
                mine = self._changed.wait_for(lambda: not self._busy, seconds)
                self._closed = mine
                self._changed.notify_all()
        try:
            yield mine
        finally:
            if mine:
                with self._changed:
                    self._closed = False
                    self._changed.notify_all()

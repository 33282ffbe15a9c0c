"""Which workers of a cluster leave it, and which of them are still used: a worker ends once nobody uses it."""

from __future__ import annotations

import threading
from collections.abc import Collection


class Attendance:
    """Workers by their number in job "worker"; safe to use from several threads.

    A worker is *leaving* from the moment at which it asks to leave until its process has ended. Afterwards its number
    is free for another worker, until a worker is used under that number again.
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

    def set_leaving(self, workers: Collection[int]) -> set[int]:
        """Set which workers are leaving; return those of them that nobody uses, which may end."""
        with self._lock:
            self._leaving = frozenset(workers)
            unused = {worker for worker in workers if not self._users.get(worker)}
            self._left |= unused
            return unused

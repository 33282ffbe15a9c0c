"""How long a call on a worker may take before its block goes to another worker."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

import numpy as np

_FLOOR_SECONDS = 5.0
_COLD_SECONDS = 20.0  # least limit of a worker's first call, in which it prepares its graphs
_TIMES_AS_LONG = 4.0  # limit for a worker that does not answer, in multiples of its usual time
_TIMES_AS_LONG_ANSWERING = 8.0  # the same for a worker that answers: it may only be slow
_CALLS_KEPT = 16


class Patience:
    """Limits for each worker, from the seconds that its own calls have taken; safe to use from several threads.

    A worker that answers may be slow or have a slow link, so it gets more time than one that does not answer. A
    worker's own history counts, so a worker that is slower than the others keeps its blocks.

    Parameters
    ----------
    longest : float
        The longest limit in seconds, `cluster_timeout`. A worker that answers and is known to need longer gets twice
        its usual time: otherwise, if all blocks took longer than the limit, all of them would be dropped.
    """

    def __init__(self, workers: int, longest: float) -> None:
        self._longest = longest
        self._calls: list[deque[float]] = [deque(maxlen=_CALLS_KEPT) for _ in range(workers)]
        self._lock = threading.Lock()

    def record(self, worker: int, seconds: float) -> None:
        """Record the seconds of a call that has trained a block, even if it ended after its limit."""
        with self._lock:
            self._calls[worker].append(seconds)

    def usual(self, worker: int) -> float:
        """Return the usual seconds of a worker's calls: the last one's or the median, whichever is longer."""
        with self._lock:
            return _usual(self._calls[worker])

    def limit(self, worker: int, is_answering: bool) -> float:
        """Return after how many seconds of a call its block goes to another worker."""
        with self._lock:
            usual = _usual(self._calls[worker])
            if usual:
                times = _TIMES_AS_LONG_ANSWERING if is_answering else _TIMES_AS_LONG
                floor = 2 * _FLOOR_SECONDS if is_answering else _FLOOR_SECONDS
                longest = max(self._longest, 2 * usual) if is_answering else self._longest
            else:  # the other workers' calls show how long a block takes
                times = _TIMES_AS_LONG
                usual = max(map(_usual, self._calls))
                # A worker that answers is probably preparing its graphs, which would take another worker as long.
                longest = 2 * self._longest if is_answering else self._longest
                floor = longest if is_answering else _COLD_SECONDS
        return min(longest, max(floor, times * usual))


def _usual(calls: Iterable[float]) -> float:
    """Return the median or the last of these seconds, whichever is longer; 0 if there was no call yet."""
    seconds = list(calls)
    return max(float(np.median(seconds)), seconds[-1]) if seconds else 0.0

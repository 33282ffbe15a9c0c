"""How long a call on a worker may take before its block goes to another worker."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

import numpy as np

_FLOOR_SECONDS = 5.0
_COLD_SECONDS = 20.0  # for a first call, in which a worker makes its graphs ready
_TIMES_AS_LONG = 4.0  # as usual, of a worker that does not answer
_TIMES_AS_LONG_ANSWERING = 8.0  # of one that does: it may be slow only
_CALLS_KEPT = 16


class Patience:
    """Limits for each worker, from the seconds that its own calls have taken; safe to use from several threads.

    A worker that answers may be slow, or its link, and gets more time than one that does not. A worker's own history
    counts: one that is slower than the others keeps its blocks.

    Parameters
    ----------
    longest : float
        Seconds of the longest limit, `cluster_timeout`. A worker that answers, and is known to need longer, gets twice
        its usual time: if all blocks took longer than the limit, all of them would be dropped.
    """

    def __init__(self, workers: int, longest: float) -> None:
        self._longest = longest
        self._calls: list[deque[float]] = [deque(maxlen=_CALLS_KEPT) for _ in range(workers)]
        self._lock = threading.Lock()

    def record(self, worker: int, seconds: float) -> None:
        """Take notice of a call that has trained a block, also of one that ended after its limit."""
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
            else:  # the others know how long a block takes
                times = _TIMES_AS_LONG
                usual = max(map(_usual, self._calls))
                # One that answers is likely to make its graphs ready, which would take another one as long.
                longest = 2 * self._longest if is_answering else self._longest
                floor = longest if is_answering else _COLD_SECONDS
        return min(longest, max(floor, times * usual))


def _usual(calls: Iterable[float]) -> float:
    """Return 0 if there was no call yet."""
    seconds = list(calls)
    return max(float(np.median(seconds)), seconds[-1]) if seconds else 0.0

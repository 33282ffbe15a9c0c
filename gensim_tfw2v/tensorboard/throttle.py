"""Limits how often an action is done, and the share of time that it takes."""

from __future__ import annotations

import time


class Throttle:
    """Allows an action every `seconds`, or less often if it would take more than `share` of the time."""

    def __init__(self, seconds: float, share: float) -> None:
        self._seconds, self._share = seconds, share
        self._began = 0.0
        self._next = time.perf_counter() + seconds

    def is_due(self) -> bool:
        """Return whether the action is due. Do it inside `with` this throttle, which measures how long it takes."""
        return time.perf_counter() >= self._next

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        ended = time.perf_counter()
        self._next = ended + max(self._seconds, (ended - self._began) / self._share)

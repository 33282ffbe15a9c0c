"""When a copy of vectors that may be lost is worth its time, if reading them takes long."""

from __future__ import annotations

import time

_LEAST_SECONDS = 30.0  # of training that a loss may cost, besides an epoch
_COPIES = 20  # or as long as so many copies take, so that they take a twentieth of the time


class BackupCadence:
    """Decides when a copy is due, from how long the last one took."""

    def __init__(self) -> None:
        self._copied = time.monotonic()  # when the model had the current vectors
        self._seconds = 0.0  # that the last copy took

    def record_equal(self) -> None:
        """Record that the model and the placement have the same vectors now."""
        self._copied = time.monotonic()

    def record_copy(self, began: float) -> None:
        """Record that a copy which began at this time, on the monotonic clock, has ended."""
        self._copied = time.monotonic()
        self._seconds = self._copied - began

    def is_due(self) -> bool:
        """Return whether a copy is due."""
        return time.monotonic() - self._copied >= max(_LEAST_SECONDS, _COPIES * self._seconds)

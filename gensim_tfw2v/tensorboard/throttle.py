"""How often to do what costs time."""

from __future__ import annotations

import time


class Throttle:
    """Says when to do again what should happen every `seconds`, yet take no more than `share` of the time."""

    def __init__(self, seconds: float, share: float) -> None:
        self._seconds, self._share = seconds, share
        self._began = 0.0
        self._next = time.perf_counter() + seconds

    def is_due(self) -> bool:
        """Return whether it is time to do it again; what is then done belongs in a `with` statement of this."""
        return time.perf_counter() >= self._next

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        ended = time.perf_counter()
        self._next = ended + max(self._seconds, (ended - self._began) / self._share)

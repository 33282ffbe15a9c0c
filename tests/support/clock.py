"""A clock that tests set."""

from __future__ import annotations


class Clock:
    """Stands for the module `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """Return what the test has set."""
        return self.now

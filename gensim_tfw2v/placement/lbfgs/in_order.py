"""Adds the results of portions in the order of the portions, whichever of them is done first."""

from __future__ import annotations

import threading
from collections.abc import Callable


class InOrder:
    """Runs one action for each portion, by portion number from 0 on; safe to use from several threads.

    Parameters
    ----------
    most_ahead : int
        Portions that may begin before the action of the first of them has run. Results that wait take memory.
    """

    def __init__(self, most_ahead: int) -> None:
        self._most_ahead = most_ahead
        self._changed = threading.Condition()  # guards the next three
        self._next = 0
        self._ready: dict[int, Callable[[], None]] = {}
        self._has_failed = False
        self._adding = threading.Lock()  # held while actions run

    def begin(self) -> None:
        """Begin with number 0."""
        with self._changed:
            self._next, self._has_failed = 0, False
            self._ready.clear()

    def admit(self, number: int) -> None:
        """Wait until the portion of this number may begin."""
        with self._changed:
            self._changed.wait_for(lambda: number < self._next + self._most_ahead or self._has_failed)

    def add(self, number: int, action: Callable[[], None]) -> None:
        """Run the action once those of all earlier portions have run; another thread's call may do so later."""
        with self._changed:
            self._ready[number] = action
        with self._adding:
            while (following := self._take()) is not None:
                following()
                with self._changed:
                    self._next += 1
                    self._changed.notify_all()

    def _take(self) -> Callable[[], None] | None:
        with self._changed:
            return self._ready.pop(self._next, None)

    def fail(self) -> None:
        """End all waits, because a portion is missing."""
        with self._changed:
            self._has_failed = True
            self._changed.notify_all()

"""When validation measures within epochs: after every so many trained words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from gensim_tfw2v.training.progress import EpochPosition


class MeasuringCadence:
    """Calls a function at the first end of a chunk after every so many raw words, over all epochs.

    The thread that trained the chunk calls it. With one chunk at a time, training pauses meanwhile. With several, the
    other threads train on, and no second call begins before the first has ended.

    Parameters
    ----------
    every : int
        Raw words between two calls.
    measure : callable
        Takes the position of the epoch that is trained.
    """

    def __init__(self, every: int, measure: Callable[[EpochPosition], None]) -> None:
        self._every, self._measure = every, measure
        self._lock = threading.Lock()  # guards the next three
        self._words, self._due = 0, every  # trained so far, and when the next call is due
        self._is_measuring = False

    def continue_from(self, positions: Sequence[EpochPosition]) -> None:
        """Count from these positions of all epochs on."""
        with self._lock:
            self._words = sum(position.counts.raw_words for position in positions)
            self._due = self._next_due()

    def after_chunk(self, raw_words: int, positions: Callable[[], list[EpochPosition]]) -> None:
        """Count the words of a trained chunk, and measure if that is due."""
        with self._lock:
            self._words += raw_words
            if self._is_measuring or self._words < self._due:
                return
            self._due = self._next_due()
            self._is_measuring = True
        try:
            self._measure(positions()[-1])
        finally:
            with self._lock:
                self._is_measuring = False

    def _next_due(self) -> int:
        return (self._words // self._every + 1) * self._every

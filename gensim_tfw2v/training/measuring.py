"""When validation measures: after each epoch, and within epochs after every so many trained words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from gensim_tfw2v.training.progress import EpochPosition, ValidationPoint
from gensim_tfw2v.training.table_sync import TableSync
from gensim_tfw2v.training.validation import Validation


class Measuring:
    """Lets validation measure the vectors in training.

    Within epochs it measures at the first end of a chunk after every so many raw words, over all epochs. The thread
    that trained the chunk measures. With one chunk at a time, training pauses meanwhile. With several, the other
    threads train on, and no second measurement begins before the first has ended.

    Parameters
    ----------
    validation : Validation
        What measures, and after how many words.
    sync : TableSync
        Has the vectors in training.
    """

    def __init__(self, validation: Validation, sync: TableSync) -> None:
        self._validation, self._sync = validation, sync
        self._lock = threading.Lock()  # guards all attributes below
        self._words = self._due = 0  # trained so far, and when the next measurement within epochs is due
        self._is_measuring = False
        self._new_points: list[ValidationPoint] = []  # that `new_points` has not returned yet

    def continue_from(self, positions: Sequence[EpochPosition]) -> None:
        """Continue from these positions of all epochs, and forget what was measured within epochs after them."""
        self._validation.continue_from(positions)
        with self._lock:
            self._words = sum(position.counts.raw_words for position in positions)
            self._due = self._next_due()

    def after_chunk(self, raw_words: int, positions: Callable[[], list[EpochPosition]]) -> None:
        """Count the words of a trained chunk, and measure if that is due."""
        if self._validation.every is None:
            return
        with self._lock:
            self._words += raw_words
            if self._is_measuring or self._words < self._due:
                return
            self._due = self._next_due()
            self._is_measuring = True
        try:
            point = self._validation.measure_within(self._sync, positions()[-1])
            with self._lock:
                self._new_points.append(point)
        finally:
            with self._lock:
                self._is_measuring = False

    def after_epoch(self, epoch: int) -> Mapping[str, float]:
        """Return what is measured after an epoch, by name."""
        return self._validation.measure(self._sync, epoch)

    def new_points(self) -> Sequence[ValidationPoint]:
        """Return what was measured within epochs since this was called last."""
        with self._lock:
            found, self._new_points = self._new_points, []
        return found

    def _next_due(self) -> int:
        every = self._validation.every
        return 0 if every is None else (self._words // every + 1) * every

"""How many blocks may be in flight: few at the start of a training, when every change is large, then more and more."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from gensim_tfw2v import tuning


def all_present() -> float:
    """Return the share of workers that are there if none may join or leave."""
    return 1.0


class RampUp:
    """Allows one block in flight at first, and one more after every few finished blocks, up to a limit.

    Blocks in flight are trained without each other's changes. Sixteen blocks that begin with the same random vectors
    learn hardly more than one.

    Parameters
    ----------
    most : int
        Blocks in flight after the ramp-up.
    total_blocks : float
        Approximate number of blocks of the whole training; 0 if not known.
    block_words : int
        Raw words of a block; 0 if not known. A few large blocks teach as much as eight small ones.
    blocks_for_one_more : float, optional
        After so many finished blocks, one more may be in flight. Default: a share of the training, and few enough words
        or blocks. If it is 0, `most` blocks may be in flight from the beginning.
    share_present : callable, optional
        Returns which share of the workers for which `most` was chosen is there. Fewer workers have fewer blocks in
        flight, but one at least. Default: all of them are always there.
    """

    def __init__(
        self,
        most: int,
        total_blocks: float = 0.0,
        block_words: int = 0,
        blocks_for_one_more: float | None = None,
        share_present: Callable[[], float] = all_present,
    ) -> None:
        self._most, self._share_present = most, share_present
        if blocks_for_one_more is None:
            least_blocks = float(tuning.LEAST_BLOCKS_PER_RAMP_UP_PART)
            if block_words:
                least_blocks = min(least_blocks, tuning.LEAST_WORDS_PER_RAMP_UP_PART / block_words)
            blocks_for_one_more = max(least_blocks, total_blocks / tuning.RAMP_UP_PARTS)
        self._blocks_for_one_more = blocks_for_one_more
        self.done = 0
        """Blocks that have been trained."""
        self._in_flight = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def block(self) -> Iterator[int]:
        """Wait until another block may be in flight, and yield how many may be."""
        with self._changed:
            self._changed.wait_for(lambda: self._in_flight < self.limit())
            self._in_flight += 1
            limit = self.limit()
        try:
            yield limit
        finally:
            with self._changed:
                self._in_flight -= 1
                self.done += 1
                self._changed.notify_all()

    def count(self, blocks: int) -> None:
        """Count blocks that were trained side by side."""
        with self._changed:
            self.done += blocks
            self._changed.notify_all()

    def limit(self) -> int:
        """Return how many blocks may be in flight now."""
        with self._changed:
            most = max(1, round(self._most * self._share_present()))
            return min(most, 1 + int(self.done / self._blocks_for_one_more)) if self._blocks_for_one_more else most

"""How many blocks may be in flight: few while the vectors are young and every change is large, then more and more.

Blocks that share common rows while they are trained tell each other what is learnt first, and begin together.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from gensim_tfw2v import tuning


class RampUp:
    """Lets one block be in flight, another one for every few that are done, and in the end as many as there may be.

    What is in flight was computed without what is in flight beside it. At first nearly all that can be learnt is in
    those blocks: sixteen that begin with the same random vectors learn hardly more than one.

    Parameters
    ----------
    most : int
        Blocks in flight in the end.
    blocks_in_all : float
        Blocks of the whole training, about; 0 if not known.
    parts : float, optional
        One more block may be in flight after each such part of the training; chosen if not given.
    share_rows : bool
        Whether blocks share common rows while they are trained; then as many may be in flight from the first on.
    """

    def __init__(
        self, most: int, blocks_in_all: float = 0.0, parts: float | None = None, share_rows: bool = False
    ) -> None:
        self._most = most
        self._first = most if share_rows else 1
        least_blocks = float(tuning.LEAST_BLOCKS_PER_RAMP_UP_PART)
        self._blocks_before_another = max(least_blocks, blocks_in_all / (parts or tuning.RAMP_UP_PARTS))
        self._done = 0
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
                self._done += 1
                self._changed.notify_all()

    def limit(self) -> int:
        """Return how many blocks may be in flight now."""
        with self._changed:
            return min(self._most, self._first + int(self._done / self._blocks_before_another))

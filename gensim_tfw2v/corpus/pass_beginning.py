"""Pieces of sentences that a pass over a corpus yields → its beginning, which shows whether another pass has others."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.chunks import Pieces


@dataclass
class PassBeginning:
    """The first sentences of a pass as checksums of their ids and lengths. Two are equal if the sentences are."""

    words_missing: int = field(default_factory=lambda: tuning.COMPARED_WORDS)
    pieces_missing: int = field(default_factory=lambda: tuning.COMPARED_PIECES)
    checksums: tuple[int, ...] = (0, 0, 0)

    @property
    def is_whole(self) -> bool:
        """Whether no further sentence counts."""
        return self.words_missing <= 0 or self.pieces_missing <= 0

    def add(self, pieces: Pieces) -> None:
        """Add the next pieces of the pass, as many as are missing."""
        if self.is_whole:
            return
        ends = np.cumsum(pieces.lengths, dtype=np.int64)
        count = min(self.pieces_missing, int(np.searchsorted(ends, self.words_missing)) + 1, ends.size)
        words = int(ends[count - 1]) if count else 0
        arrays = pieces.ids[:words], pieces.lengths[:count], pieces.begun[:count]
        self.checksums = tuple(
            zlib.crc32(array.tobytes(), sum_) for array, sum_ in zip(arrays, self.checksums, strict=True)
        )
        self.words_missing -= words
        self.pieces_missing -= count

    def noted(self, pieces: Iterable[Pieces]) -> Generator[Pieces, None, None]:
        """Yield the pieces of a pass, and add its first ones."""
        for some in pieces:
            self.add(some)
            yield some

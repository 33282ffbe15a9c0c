"""Whole sentences as word ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Int32Array

MAX_SENTENCE_WORDS = 10_000
"""gensim's limit: a longer sentence is split into pieces of this many words."""


@dataclass(frozen=True)
class Sentences:
    """Some whole sentences: their ids in one run, and the number of ids of each sentence."""

    ids: Int32Array
    lengths: Int32Array

    @property
    def nbytes(self) -> int:
        """Bytes that the two arrays take."""
        return self.ids.nbytes + self.lengths.nbytes


NO_SENTENCES = Sentences(np.zeros(0, np.int32), np.zeros(0, np.int32))


def piece_lengths(lengths: npt.NDArray[Any]) -> Int32Array:
    """Lengths of the pieces of at most ``MAX_SENTENCE_WORDS`` words; an empty sentence has no piece."""
    lengths = lengths[lengths > 0]
    if not lengths.size or lengths.max() <= MAX_SENTENCE_WORDS:
        return lengths.astype(np.int32)
    pieces = -(-lengths // MAX_SENTENCE_WORDS)
    split = np.full(int(pieces.sum()), MAX_SENTENCE_WORDS, dtype=np.int32)
    split[np.cumsum(pieces) - 1] = lengths - (pieces - 1) * MAX_SENTENCE_WORDS
    return split


def known_words(ids: Int32Array, lengths: Int32Array) -> Sentences:
    """Return sentences without their unknown words, which are -1, and without those that hold no other."""
    known = ids >= 0
    ends = np.cumsum(lengths, dtype=np.int64)
    known_before = np.concatenate([[0], np.cumsum(known, dtype=np.int64)])
    known_lengths = known_before[ends] - known_before[ends - lengths]
    return Sentences(ids[known], known_lengths[known_lengths > 0].astype(np.int32))

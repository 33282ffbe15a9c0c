"""Checks of arrays, and what functions return for arrays that they refuse: all as in arrays.h."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Int32Array

NO_MEMORY, WRONG_SIZES, WRONG_LENGTHS, NO_WORD, NO_PATH, NOT_UTF8 = -1, -2, -3, -4, -5, -6
LONGEST, LARGEST = 1 << 30, (1 << 31) - 1


def are_below(end: int, values: npt.NDArray[Any]) -> bool:
    """Return whether values are at least 0 and less than `end`."""
    return not values.size or (int(values.min()) >= 0 and int(values.max()) < end)


def are_lengths(words: int, lengths: Int32Array) -> bool:
    """Return whether these are the lengths of sentences with so many words in all."""
    return not (lengths < 0).any() and int(lengths.sum(dtype=np.int64)) == words

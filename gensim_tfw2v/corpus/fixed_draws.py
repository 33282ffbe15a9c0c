"""Random numbers that follow from a key and a whole number: the same whenever they are drawn, and in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Float64Array, Int64Array

# SplitMix64: the state's step, and the rounds (shift, factor) that scramble it.
_STEP = 0x9E3779B97F4A7C15
_ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def key_of(entropy: Sequence[int], purpose: int) -> int:
    """Return the key of one purpose's random numbers that follows from a training's entropy."""
    (key,) = np.random.SeedSequence([*entropy, purpose]).generate_state(1, np.uint64).tolist()
    return int(key)


def fractions(key: int, numbers: npt.NDArray[np.integer]) -> Float64Array:
    """Return a random number from 0 to below 1 for each whole number; equal numbers and keys give equal fractions."""
    state = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(_STEP) + np.uint64(key)
    for shift, factor in _ROUNDS:
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    state ^= state >> np.uint64(31)
    found: Float64Array = (state >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found


def drawn_evenly(every: int, most: int, key: int) -> Int64Array:
    """Return the numbers of all items, or of at most so many: one from each of equal parts of them."""
    if every <= most:
        return np.arange(every, dtype=np.int64)
    parts = np.arange(most, dtype=np.int64)
    return np.minimum((parts + fractions(key, parts)) * (every / most), every - 1).astype(np.int64)

"""Seeds → the vectors with which gensim begins to infer documents: `pseudorandom_weak_vector` for all at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Float32Array, pieces

_UInt32s = npt.NDArray[np.uint32]
_UInt64s = npt.NDArray[np.uint64]

# The constants of NumPy's `SeedSequence`, and the rounds in which its `SFC64` mixes a seed.
_POOL = 4
_MIX_START, _MIX_FACTOR = 0x43B0D7E5, 0x931E8875
_DRAW_START, _DRAW_FACTOR = 0x8B51F9DD, 0x58F38DED
_LEFT, _RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
_ROUNDS = 12


def first_vectors(seeds: Iterable[int], size: int) -> Float32Array:
    """Return a row for each seed: what ``Generator(SFC64(seed))`` draws, shifted and scaled as gensim does.

    Parameters
    ----------
    seeds : iterable of int
        Hashes of the documents' words, of which the last 32 bits count.
    size : int
        Numbers in a row.
    """
    numbers = np.fromiter((seed & 0xFFFFFFFF for seed in seeds), np.uint32)
    rows = np.empty((len(numbers), size), np.float32)
    for some in pieces(rows):
        rows[some] = _drawn(numbers[some], size).T
    rows -= 0.5
    rows /= size
    return rows


def _drawn(seeds: _UInt32s, size: int) -> Float32Array:
    """Return numbers from 0 to 1, a column for each seed."""
    states = _seeded(seeds)
    for _ in range(_ROUNDS):
        _next(states)
    drawn = np.empty((size, len(seeds)), np.float32)
    for number in range(size):
        drawn[number] = (_next(states) >> 11) * 2.0**-53
    return drawn


def _next(states: list[_UInt64s]) -> _UInt64s:
    """Return the next 64 bits of each generator of the kind SFC64."""
    a, b, c, count = states
    drawn = a + b + count
    states[:] = [b ^ b >> np.uint64(11), c + (c << 3), (c << 24 | c >> 40) + drawn, count + 1]
    return drawn


def _seeded(seeds: _UInt32s) -> list[_UInt64s]:
    """Return the states of generators with these seeds, before the rounds that mix them."""
    words = _SeedWords(seeds).draw(6)
    low, high = (np.array(words[half::2], np.uint64) for half in (0, 1))
    return [*(low | high << 32), np.ones(len(seeds), np.uint64)]


class _SeedWords:
    """NumPy's ``SeedSequence`` of each of many seeds of 32 bits."""

    def __init__(self, seeds: _UInt32s) -> None:
        self._constant = _MIX_START
        zeros = np.zeros_like(seeds)
        self._pool = [self._hashed(words, _MIX_FACTOR) for words in (seeds, *[zeros] * (_POOL - 1))]
        for source in range(_POOL):
            for target in range(_POOL):
                if source != target:
                    mixed = _LEFT * self._pool[target] - _RIGHT * self._hashed(self._pool[source], _MIX_FACTOR)
                    self._pool[target] = mixed ^ (mixed >> 16)

    def draw(self, count: int) -> list[_UInt32s]:
        """Return so many words of 32 bits for each seed."""
        self._constant = _DRAW_START
        return [self._hashed(self._pool[number % _POOL], _DRAW_FACTOR) for number in range(count)]

    def _hashed(self, words: _UInt32s, factor: int) -> _UInt32s:
        """Return hashes of words; each call has another constant."""
        words = words ^ np.uint32(self._constant)
        self._constant = self._constant * factor & 0xFFFFFFFF
        words = words * np.uint32(self._constant)
        hashed: _UInt32s = words ^ words >> np.uint32(16)
        return hashed

"""Which sentences of a corpus are held out of training: a share of them, by their numbers and the seed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import BoolArray, Float64Array
from gensim_tfw2v.corpus.chunks import Pieces
from gensim_tfw2v.corpus.sentences import Sentences

# SplitMix64: the state's step, and the rounds (shift, factor) that scramble it.
_STEP = 0x9E3779B97F4A7C15
_ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))

Take = Callable[[Pieces], None]
"""Receives pieces of sentences that are held out."""


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


@dataclass(frozen=True)
class HoldOut:
    """Holds each sentence out with the probability `share`. The key and the sentence's number decide."""

    share: float
    key: int

    def chosen(self, numbers: npt.NDArray[np.integer]) -> BoolArray:
        """Return for each sentence, by its number in the corpus from 0, whether it is held out."""
        return np.asarray(fractions(self.key, numbers) < self.share)

    def without(self, pieces: Iterable[Pieces], take: Take | None = None) -> Generator[Pieces, None, None]:
        """Yield the pieces of the sentences that are trained, and give the others to `take`."""
        begun = 0  # sentences
        for some in pieces:
            numbers = begun - 1 + np.cumsum(some.begun, dtype=np.int64)
            begun += int(some.begun.sum())
            is_out = self.chosen(numbers)
            if is_out.any():
                if take is not None:
                    take(_chosen_of(some, is_out))
                yield _chosen_of(some, ~is_out)
            else:
                yield some


def _chosen_of(pieces: Pieces, chosen: BoolArray) -> Pieces:
    found = Sentences(pieces.ids, pieces.lengths).whole(chosen)
    return Pieces(found.ids, found.lengths, pieces.begun[chosen])

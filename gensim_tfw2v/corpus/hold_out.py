"""Which sentences of a corpus are held out of training: a share of them, by their numbers and the seed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import BoolArray
from gensim_tfw2v.corpus.chunks import Pieces
from gensim_tfw2v.corpus.fixed_draws import fractions

Take = Callable[[Pieces], None]
"""Receives pieces of sentences that are held out."""


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
    found = pieces.sentences().whole(chosen)
    return Pieces(found.ids, found.lengths, pieces.begun[chosen], found.weights, found.documents)

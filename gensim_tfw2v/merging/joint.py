"""Sub-models → the concatenation of their vectors, for some words at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Float64Array, Int64Array
from gensim_tfw2v.merging.submodel import SubModel

_PIECE_NUMBERS = 2**22  # float64 numbers in a piece of rows: 32 MiB


class JointWords:
    """The vectors of all sub-models side by side, of equal mean square.

    Each sub-model's vectors are multiplied by one factor, so that the words that all sub-models have get the same mean
    square everywhere: that of the mean length. If such words are fewer than the largest size, all words of each count.

    Attributes
    ----------
    presence : Int64Array
        [words]: how many sub-models have each word.
    columns : list of slice
        The columns of each sub-model in the concatenation.
    width : int
        Columns of the concatenation.
    factors : Float64Array
        [sub-models]: what the vectors are multiplied by.
    """

    def __init__(self, submodels: Sequence[SubModel]) -> None:
        _check(submodels)
        self.submodels = submodels
        self.presence = np.zeros(len(submodels[0].rows), np.int64)
        for submodel in submodels:
            self.presence += submodel.rows >= 0
        if missing := int(np.count_nonzero(self.presence == 0)):
            raise ValueError(f"{missing:,} of {len(self.presence):,} words are in no sub-model; leave them out")
        self.sizes = [submodel.vectors.shape[1] for submodel in submodels]
        self.width = sum(self.sizes)
        ends = np.cumsum(self.sizes).tolist()
        self.columns = [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]
        self.factors = np.ones(len(submodels))
        self.factors = self._equal_lengths()

    def __len__(self) -> int:
        return len(self.presence)

    @property
    def common(self) -> int:
        """Number of words that every sub-model has."""
        return int(np.count_nonzero(self.presence == len(self.submodels)))

    def pieces(self) -> Iterator[slice]:
        """Yield the words in pieces whose concatenation takes few megabytes."""
        step = max(64, _PIECE_NUMBERS // self.width)
        for first in range(0, len(self), step):
            yield slice(first, min(first + step, len(self)))

    def has(self, words: slice) -> BoolArray:
        """Return which sub-models have the words: [words, sub-models]."""
        return np.stack([submodel.rows[words] >= 0 for submodel in self.submodels], axis=1)

    def concatenation(self, words: slice) -> Float64Array:
        """Return the concatenation of some words' vectors, [words, width], with zeros where a word is missing."""
        rows = np.zeros((words.stop - words.start, self.width))
        for submodel, columns, factor in zip(self.submodels, self.columns, self.factors, strict=True):
            places = submodel.rows[words]
            present = places >= 0
            rows[present, columns] = submodel.vectors[places[present]] * factor
        return rows

    def shared_words(self) -> Int64Array:
        """Return how many words each pair of sub-models shares: [sub-models, sub-models]."""
        shared = np.zeros((len(self.submodels), len(self.submodels)), np.int64)
        for words in self.pieces():
            has = self.has(words).astype(np.int64)
            shared += has.T @ has
        return shared

    def _equal_lengths(self) -> Float64Array:
        squares, count = np.zeros(len(self.submodels)), np.zeros(len(self.submodels))
        least = len(self.submodels) if self.common >= max(self.sizes) else 0
        for words in self.pieces():
            chosen = self.presence[words] >= least
            rows = self.concatenation(words)
            for number, columns in enumerate(self.columns):
                if not np.isfinite(rows[:, columns]).all():
                    raise ValueError(f"sub-model {number} has vectors that are not finite")
                squares[number] += np.square(rows[chosen, columns]).sum()
            count += self.has(words)[chosen].sum(axis=0)
        lengths = np.sqrt(squares / np.maximum(count, 1))
        if not lengths.any():
            return np.ones(len(lengths))
        return np.divide(lengths[lengths > 0].mean(), lengths, where=lengths > 0, out=np.ones(len(lengths)))


def _check(submodels: Sequence[SubModel]) -> None:
    if not submodels:
        raise ValueError("there are no sub-models to merge")
    words = len(submodels[0].rows)
    for number, submodel in enumerate(submodels):
        if submodel.vectors.ndim != 2 or not submodel.vectors.shape[1]:
            raise ValueError(f"sub-model {number} has vectors of shape {submodel.vectors.shape}, not [rows, size]")
        if len(submodel.rows) != words:
            raise ValueError(f"sub-model {number} has rows for {len(submodel.rows)} words, the first one for {words}")
        if words and not -1 <= submodel.rows.min() <= submodel.rows.max() < len(submodel.vectors):
            raise ValueError(
                f"sub-model {number} has {len(submodel.vectors)} vectors, but rows from {submodel.rows.min()} to "
                f"{submodel.rows.max()}"
            )

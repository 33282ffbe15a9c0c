"""Sub-models → the concatenation of their vectors, for some words at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Float32Array, Float64Array, Int64Array

_PIECE_NUMBERS = 2**22  # float64 numbers in a piece of rows: 32 MiB


@dataclass(frozen=True)
class SubModel:
    """Vectors of some words of a joint vocabulary.

    Attributes
    ----------
    vectors : Float32Array
        [rows, size]; may be a memory map.
    rows : Int64Array
        [words]: for each word of the joint vocabulary its row in `vectors`, or -1 if the sub-model lacks the word or
        never trained it.
    """

    vectors: Float32Array
    rows: Int64Array


class JointWords:
    """The vectors of all sub-models side by side, of equal mean square.

    Each sub-model's vectors are multiplied by one factor, so that the words that all sub-models have get the same mean
    square everywhere: that of the mean length. If there are fewer such words than the largest vector size, all words of
    each sub-model count.

    A sub-model without words is left out.

    Attributes
    ----------
    names : list of str
        Names of the sub-models in errors.
    presence : Int64Array
        [words]: how many sub-models have each word.
    columns : list of slice
        The columns of each sub-model in the concatenation.
    width : int
        Columns of the concatenation.
    factors : Float64Array
        [sub-models]: the factors that vectors are multiplied by.
    """

    def __init__(self, submodels: Sequence[SubModel]) -> None:
        _check(submodels)
        named = [
            (f"sub-model {number} of {len(submodels)}", submodel)
            for number, submodel in enumerate(submodels, start=1)
            if (submodel.rows >= 0).any()
        ]
        self.names = [name for name, _ in named]
        self.submodels = [submodel for _, submodel in named] or submodels
        self.presence = np.zeros(len(submodels[0].rows), np.int64)
        for submodel in self.submodels:
            self.presence += submodel.rows >= 0
        if missing := int(np.count_nonzero(self.presence == 0)):
            raise ValueError(f"{missing:,} of {len(self.presence):,} words are in no sub-model; leave them out")
        self.sizes = [submodel.vectors.shape[1] for submodel in self.submodels]
        self.width = sum(self.sizes)
        ends = np.cumsum(self.sizes).tolist()
        self.columns = [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]
        self.factors = np.ones(len(self.submodels))
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
        """Return the factors. Each sub-model's vectors are read in the order in which they are stored."""
        chosen = self.presence >= (len(self.submodels) if self.common >= max(self.sizes) else 0)
        lengths = np.zeros(len(self.submodels))
        for number, submodel in enumerate(self.submodels):
            words = np.argsort(submodel.rows)[np.count_nonzero(submodel.rows < 0) :]
            squares, step = np.empty(len(words)), max(64, _PIECE_NUMBERS // self.sizes[number])
            for first in range(0, len(words), step):
                part = submodel.vectors[submodel.rows[words[first : first + step]]].astype(np.float64)
                squares[first : first + step] = np.einsum("ij,ij->i", part, part)
            if not np.isfinite(squares).all():
                raise ValueError(f"{self.names[number]} has vectors that are not finite")
            lengths[number] = np.sqrt(squares[chosen[words]].mean()) if len(words) else 0
        factors = np.ones(len(lengths))
        if lengths.any():
            np.divide(lengths[lengths > 0].mean(), lengths, where=lengths > 0, out=factors)
        return factors


def _check(submodels: Sequence[SubModel]) -> None:
    if not submodels:
        raise ValueError("there are no sub-models to merge")
    words = len(submodels[0].rows)
    for number, submodel in enumerate(submodels, start=1):
        name, shape, rows = f"sub-model {number} of {len(submodels)}", submodel.vectors.shape, submodel.rows
        if len(shape) != 2 or not shape[1]:
            raise ValueError(f"{name} has vectors of shape {shape}, not [rows, size]")
        if len(rows) != words:
            raise ValueError(f"{name} has rows for {len(rows)} words, the first one for {words}")
        if words and not -1 <= rows.min() <= rows.max() < shape[0]:
            raise ValueError(f"{name} has {shape[0]} vectors, but rows from {rows.min()} to {rows.max()}")

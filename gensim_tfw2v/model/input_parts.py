"""The matrices of a model whose trained rows, one after the other, are its input table: words', then others'.

The others are those of n-grams or of documents' tags.

A model with one such matrix has its table there. For a model with several, the table is `JoinedRows`, whose rows stay
in their matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gensim.models import Doc2Vec, FastText, Word2Vec

from gensim_tfw2v.arrays import Float32Array, Int64Array
from gensim_tfw2v.files.mapped_rows import as_table
from gensim_tfw2v.model.subwords import ngrams_of


@dataclass(frozen=True)
class InputPart:
    """One matrix, and where a model keeps it."""

    owner: str  # an attribute of the model
    matrix: str  # the owner's attribute
    locks: str  # the owner's attribute with the factors of the rows' steps
    rows: int  # as many as the vocabulary needs
    used: Int64Array | None = None  # the rows that are trained; None: all

    @property
    def name(self) -> str:
        """The matrix as a user names it."""
        return f"{self.owner}.{self.matrix}"

    @property
    def size(self) -> int:
        """How many rows are trained."""
        return self.rows if self.used is None else len(self.used)

    def get(self, model: Word2Vec) -> Any:
        """Return the matrix, None if the model has none."""
        return getattr(getattr(model, self.owner), self.matrix, None)

    def set(self, model: Word2Vec, matrix: Any) -> None:
        """Set the matrix."""
        setattr(getattr(model, self.owner), self.matrix, matrix)

    def factors(self, model: Word2Vec) -> Float32Array:
        """Return the factors, made 1 if there are none, as after ``reset_from()``."""
        owner = getattr(model, self.owner)
        if getattr(owner, self.locks, None) is None:
            setattr(owner, self.locks, np.ones(1, np.float32))
        return np.asarray(getattr(owner, self.locks), np.float32)


def input_parts(model: Word2Vec) -> tuple[InputPart, ...]:
    """Return the parts of a model's input table, in the order of their rows."""
    words = len(model.wv)
    if isinstance(model, FastText):
        bucket = model.wv.bucket
        return (
            InputPart("wv", "vectors_vocab", "vectors_vocab_lockf", words),
            InputPart("wv", "vectors_ngrams", "vectors_ngrams_lockf", bucket, ngrams_of(model.wv).used),
        )
    if isinstance(model, Doc2Vec):
        # Without vectors of words, one stands for them: the operation reads a row for each context, if only of padding.
        used = None if model.dm or model.dbow_words else np.zeros(1, np.int64)
        return (
            InputPart("wv", "vectors", "vectors_lockf", words, used),
            InputPart("dv", "vectors", "vectors_lockf", len(model.dv)),
        )
    return (InputPart("wv", "vectors", "vectors_lockf", words),)


class JoinedRows:
    """The trained rows of all parts, one after the other, put together when they are read: large tables need no copy.

    A slice is of the same rows, so what is written there is written to the arrays.

    Parameters
    ----------
    arrays : sequence of ndarray
        Each has all rows of its part.
    numbers : ndarray of int, optional
        Those of the rows that are meant, ascending. Default: all.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, parts: Sequence[InputPart], arrays: Sequence[Any], numbers: Int64Array | None = None) -> None:
        self._parts, self._arrays = parts, arrays
        self._numbers = np.arange(sum(part.size for part in parts)) if numbers is None else numbers
        self.shape = len(self._numbers), *arrays[0].shape[1:]

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, rows: slice) -> JoinedRows:
        return JoinedRows(self._parts, self._arrays, self._numbers[rows])

    def __setitem__(self, rows: slice, values: Any) -> None:
        for places, array, numbers in self[rows]._places():
            array[numbers] = values[places]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Float32Array:
        found: Float32Array = np.empty(self.shape, np.float32)
        for places, array, numbers in self._places():
            found[places] = array[numbers]
        return found if dtype is None else found.astype(dtype, copy=False)

    def any(self) -> bool:
        """Return whether a number is not 0."""
        return any(np.any(array[numbers]) for _, array, numbers in self._places())

    def _places(self) -> Iterator[tuple[slice, Any, Int64Array]]:
        """Yield which of these rows are in each part, its array, and their numbers there."""
        end = 0
        for part, array in zip(self._parts, self._arrays, strict=True):
            first, end = end, end + part.size
            places = slice(*np.searchsorted(self._numbers, [first, end]).tolist())
            numbers = self._numbers[places] - first
            yield places, array, numbers if part.used is None else part.used[numbers]


def inputs_of(model: Word2Vec) -> Any:
    """Return a model's input table, whose matrices are made writable float32 in place if they are not."""
    parts = input_parts(model)
    for part in parts:
        part.set(model, as_table(part.get(model)))
    matrices = [part.get(model) for part in parts]
    return matrices[0] if len(parts) == 1 else JoinedRows(parts, matrices)


def set_inputs(model: Word2Vec, inputs: Any) -> None:
    """Set a model's input table; rows of several matrices are written there, others of these stay as they are."""
    parts = input_parts(model)
    if len(parts) == 1:
        parts[0].set(model, inputs)
    else:
        inputs_of(model)[:] = inputs


def lock_factors_of(model: Word2Vec) -> Float32Array:
    """Return the factors of the steps of input rows: row r has number r modulo their number."""
    parts = input_parts(model)
    factors = [part.factors(model) for part in parts]
    if len(parts) == 1 or all(len(each) == 1 and each[0] == factors[0][0] for each in factors):
        return factors[0]
    whole = [np.resize(each, part.rows) for each, part in zip(factors, parts, strict=True)]
    return np.asarray(JoinedRows(parts, whole))


def set_lock_factors(model: Word2Vec, factors: Float32Array) -> None:
    """Set the factors that `lock_factors_of` has returned; rows that are not trained get 1."""
    parts = input_parts(model)
    is_one_each = len(parts) == 1 or len(factors) == 1
    each = [factors.copy() if is_one_each else np.ones(part.rows, np.float32) for part in parts]
    if not is_one_each:
        JoinedRows(parts, each)[:] = factors
    for part, of_part in zip(parts, each, strict=True):
        setattr(getattr(model, part.owner), part.locks, of_part)

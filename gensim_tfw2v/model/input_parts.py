"""The matrices of a model whose trained rows, one after the other, are its input table: words', then n-grams'.

A model with one such matrix has its table there. For a model with several, the table is a copy of the rows that its
words use, which `set_inputs` writes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gensim.models import FastText, Word2Vec

from gensim_tfw2v.arrays import Float32Array, Int64Array
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

    def of_used(self, values: Any) -> Any:
        """Return those of the values that belong to trained rows."""
        return values if self.used is None else values[self.used]

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
    return (InputPart("wv", "vectors", "vectors_lockf", words),)


def joined(parts: Sequence[InputPart], values: Sequence[Any]) -> Float32Array:
    """Return the values of all trained rows; `values` has those of all rows of each part."""
    used = [part.of_used(each) for part, each in zip(parts, values, strict=True)]
    return np.concatenate([np.asarray(each, np.float32) for each in used])


def write_back(parts: Sequence[InputPart], values: Float32Array, targets: Sequence[Any]) -> None:
    """Write the values of all trained rows into arrays of all rows of each part."""
    ends = np.cumsum([part.size for part in parts])[:-1]
    for part, of_part, target in zip(parts, np.split(values, ends), targets, strict=True):
        target[slice(None) if part.used is None else part.used] = of_part


def joined_inputs(model: Word2Vec) -> Float32Array:
    """Return a model's input table: its only matrix, made writable float32 in place if it is not, or a copy."""
    parts = input_parts(model)
    if len(parts) > 1:
        return joined(parts, [part.get(model) for part in parts])
    inputs = np.require(parts[0].get(model), np.float32, ["C", "W"])
    parts[0].set(model, inputs)
    return inputs


def set_inputs(model: Word2Vec, inputs: Any) -> None:
    """Set a model's input table; rows of several matrices are written there, others of these stay as they are."""
    parts = input_parts(model)
    if len(parts) == 1:
        parts[0].set(model, inputs)
        return
    for part in parts:
        part.set(model, np.require(part.get(model), np.float32, ["C", "W"]))
    write_back(parts, inputs, [part.get(model) for part in parts])


def lock_factors_of(model: Word2Vec) -> Float32Array:
    """Return the factors of the steps of input rows: row r has number r modulo their number."""
    parts = input_parts(model)
    factors = [part.factors(model) for part in parts]
    if len(parts) == 1 or all(len(each) == 1 and each[0] == factors[0][0] for each in factors):
        return factors[0]
    return joined(parts, [np.resize(each, part.rows) for each, part in zip(factors, parts, strict=True)])


def set_lock_factors(model: Word2Vec, factors: Float32Array) -> None:
    """Set the factors that `lock_factors_of` has returned; rows that are not trained get 1."""
    parts = input_parts(model)
    is_one_each = len(parts) == 1 or len(factors) == 1
    each = [factors.copy() if is_one_each else np.ones(part.rows, np.float32) for part in parts]
    if not is_one_each:
        write_back(parts, factors, each)
    for part, of_part in zip(parts, each, strict=True):
        setattr(getattr(model, part.owner), part.locks, of_part)

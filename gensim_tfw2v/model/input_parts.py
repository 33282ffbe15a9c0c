"""The matrices of a model whose rows, one after the other, are its input vectors: of words, then of n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gensim.models import Doc2Vec, FastText, Word2Vec

from gensim_tfw2v.arrays import Float32Array, address_of


@dataclass(frozen=True)
class InputPart:
    """One matrix, and where a model keeps it."""

    owner: str  # an attribute of the model
    matrix: str  # the owner's attribute
    locks: str  # the owner's attribute with the factors of the rows' steps
    rows: int  # as many as the vocabulary needs

    @property
    def name(self) -> str:
        """The matrix as a user names it."""
        return f"{self.owner}.{self.matrix}"

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
    """Return the parts of a model's input vectors, in the order of their rows."""
    words = len(model.wv)
    if isinstance(model, FastText):
        return (
            InputPart("wv", "vectors_vocab", "vectors_vocab_lockf", words),
            InputPart("wv", "vectors_ngrams", "vectors_ngrams_lockf", model.wv.bucket),
        )
    of_words = InputPart("wv", "vectors", "vectors_lockf", words)
    return (of_words, InputPart("dv", "vectors", "vectors_lockf", len(model.dv))) if isinstance(model, Doc2Vec) else (of_words,)


def joined(parts: Sequence[Any]) -> tuple[Float32Array, list[Float32Array]]:
    """Return a writable array with the rows of all arrays, and these as views of it.

    If they are consecutive views of such an array already, nothing is copied.
    """
    if len(parts) == 1:
        one = np.require(parts[0], np.float32, ["C", "W"])
        return one, [one]
    whole = parts[0].base
    if _can_be_whole(whole, parts):
        views = split(whole, list(map(len, parts)))
        if all(address_of(view) == address_of(part) or not len(part) for view, part in zip(views, parts, strict=True)):
            return whole, views
    whole = np.concatenate([np.asarray(part, np.float32) for part in parts])
    return whole, split(whole, list(map(len, parts)))


def _can_be_whole(whole: Any, parts: Sequence[Any]) -> bool:
    return (
        isinstance(whole, np.ndarray)
        and whole.dtype == np.float32
        and whole.flags.carray
        and whole.shape == (sum(map(len, parts)), *parts[0].shape[1:])
        and all(part.dtype == np.float32 and part.flags.c_contiguous for part in parts)
    )


def split(whole: Float32Array, rows: Sequence[int]) -> list[Float32Array]:
    """Return consecutive views of an array with these numbers of rows."""
    return np.split(whole, np.cumsum(rows)[:-1])


def joined_inputs(model: Word2Vec) -> Float32Array:
    """Return a model's input vectors as one matrix, of which the model's own matrices are views."""
    parts = input_parts(model)
    whole, views = joined([part.get(model) for part in parts])
    for part, view in zip(parts, views, strict=True):
        if part.get(model) is not view:
            part.set(model, view)
    return whole


def lock_factors_of(model: Word2Vec) -> Float32Array:
    """Return the factors of the steps of input rows: row r has number r modulo their number."""
    parts = input_parts(model)
    factors = [part.factors(model) for part in parts]
    if len(parts) == 1 or all(len(each) == 1 and each[0] == factors[0][0] for each in factors):
        return factors[0]
    return np.concatenate([np.resize(each, part.rows) for each, part in zip(factors, parts, strict=True)])


def set_lock_factors(model: Word2Vec, factors: Float32Array) -> None:
    """Set the factors that `lock_factors_of` has returned."""
    parts = input_parts(model)
    is_one_each = len(parts) == 1 or len(factors) == 1
    each = [factors] * len(parts) if is_one_each else split(factors, [part.rows for part in parts])
    for part, of_part in zip(parts, each, strict=True):
        setattr(getattr(model, part.owner), part.locks, of_part.copy())

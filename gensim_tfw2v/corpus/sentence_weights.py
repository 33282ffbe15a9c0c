"""Weights of sentences, as a user gives them → an array, and the weight of each piece of a corpus that is read."""

from __future__ import annotations

import numbers
from collections.abc import Generator, Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Float32Array
from gensim_tfw2v.corpus.chunks import Pieces

_ITEMS_AT_ONCE = 2**16  # of an iterable, to convert


def sentence_weights(given: Any) -> Float32Array | None:
    """Return a user's weights as an array, None if there are none.

    Raise TypeError if they are no series of numbers, or ValueError naming the first weight that is negative, not a
    number or not finite.

    Parameters
    ----------
    given : iterable of float, or None
        One weight for each sentence; it is read once.
    """
    if given is None:
        return None
    if isinstance(given, str | bytes | dict) or not hasattr(given, "__iter__"):
        raise TypeError(f"weights must be numbers, one for each sentence, got {_brief(given)}")
    if isinstance(given, np.ndarray):
        if given.ndim != 1 or given.dtype.kind not in "fiub":
            raise TypeError(
                f"weights must be numbers, one for each sentence, got an array of {given.dtype} in the shape "
                f"{given.shape}"
            )
        return _checked(given.astype(np.float64), 0)
    items, parts, count = iter(given), [np.empty(0, np.float32)], 0
    while some := list(islice(items, _ITEMS_AT_ONCE)):
        parts.append(_checked(_converted(some, count), count))
        count += len(some)
    return np.concatenate(parts)


def with_weights(pieces: Iterable[Pieces], weights: Float32Array) -> Generator[Pieces, None, None]:
    """Yield the pieces of a corpus with the weights of their sentences.

    Raise ValueError if there are more or fewer sentences than weights; the corpus may be half trained by then.
    """
    begun = 0  # sentences
    for some in pieces:
        of_pieces = begun - 1 + np.cumsum(some.begun, dtype=np.int64)
        begun += int(some.begun.sum())
        if begun > len(weights):
            raise wrong_number_of_weights(len(weights), "the corpus has more sentences")
        yield Pieces(replace(some.sentences, weights=weights[of_pieces]), some.begun)
    if begun < len(weights):
        raise wrong_number_of_weights(len(weights), f"the corpus has {begun} sentences")


def wrong_number_of_weights(count: int, found: str) -> ValueError:
    """Return the error of so many weights for a corpus in which something else was `found`."""
    return ValueError(f"weights has {count} numbers, and {found}; give one weight for each sentence")


def _converted(items: list[Any], before: int) -> np.ndarray:
    """Return numbers as an array; raise TypeError naming the first item that is none, and its place."""
    for place, item in enumerate(items, before):
        if not isinstance(item, numbers.Real | np.bool_):
            raise TypeError(f"weights must be numbers, and number {place} (from 0) is {_brief(item)}")
    return np.array(items, np.float64)


def _checked(values: np.ndarray, before: int) -> Float32Array:
    """Return weights as float32; raise ValueError naming the first one that cannot be used, and its place."""
    with np.errstate(over="ignore"):
        found = values.astype(np.float32)
    is_wrong: BoolArray = ~((found >= 0) & np.isfinite(found))
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        raise ValueError(
            f"weights must be finite and at least 0, and number {before + place} (from 0) is {float(values[place])!r}"
        )
    return found


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 40 else f"a {type(value).__name__}"

"""Sentences of whole numbers, such as numbers of nodes or items → one array, and the ids of its numbers."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.corpus.sentence_errors import Places, not_a_number, number_too_large

_UNSEEN = -2  # ids below 0 are of unknown words
_INT64 = np.dtype(np.int64)
_LARGEST = np.iinfo(np.int64).max


def is_number(word: Any) -> bool:
    """Return whether a word is a whole number; a bool is none."""
    return type(word) is int or isinstance(word, np.integer)


def numbers_of(words: list[Any], places: Places) -> Int64Array:
    """Return words as numbers; raise an error that names the first one that is no whole number, or too large."""
    try:
        numbers = np.frombuffer(array.array("q", words), _INT64)
    except (TypeError, OverflowError):
        place, word = next((place, word) for place, word in enumerate(words) if not _fits(word))
        if is_number(word):
            raise number_too_large(int(word), places.sentence_at(place)) from None
        raise not_a_number(word, places.sentence_at(place)) from None
    for place in np.flatnonzero((numbers == 0) | (numbers == 1)).tolist():
        if not is_number(words[place]):  # it is a bool
            raise not_a_number(words[place], places.sentence_at(place))
    return numbers


def _fits(word: Any) -> bool:
    return is_number(word) and -_LARGEST <= int(word) <= _LARGEST


class NumberBuffer:
    """Copies of arrays of whole numbers, one after the other, in the type that all of them have so far.

    Attributes
    ----------
    count : int
        How many numbers there are.
    """

    def __init__(self) -> None:
        self.count = 0
        self._data = bytearray()
        self._dtype = _INT64

    def extend(self, numbers: npt.NDArray[Any], position: int) -> int:
        """Add the numbers of the sentence at a position, and return how many these are."""
        if numbers.dtype != self._dtype:
            numbers = self._of_one_type(numbers, position)
        # This copies an array's bytes, in a tenth of the time of a call of NumPy.
        self._data.extend(numbers if numbers.flags.c_contiguous else numbers.copy())
        count = len(numbers)
        self.count += count
        return count

    def _of_one_type(self, numbers: npt.NDArray[Any], position: int) -> npt.NDArray[Any]:
        """Return numbers of another type in the type that the buffer has from now on."""
        if numbers.dtype == np.uint64:
            if numbers.max(initial=0) > _LARGEST:
                raise number_too_large(int(numbers.max()), position)
        elif not self._data:
            self._dtype = numbers.dtype
            return numbers
        self._data = bytearray(self.numbers().tobytes())
        self._dtype = _INT64
        return numbers.astype(_INT64)

    def numbers(self) -> Int64Array:
        """Return a copy of all numbers."""
        return np.frombuffer(self._data, self._dtype).astype(_INT64)

    def clear(self) -> None:
        """Drop all numbers."""
        self.count = 0
        self._data.clear()


class NumberTable:
    """Ids of whole numbers, each of which is looked up once: the id of number n is in place n of an array.

    Numbers that are too large for an array, such as identifiers of users, are looked up every time.

    Parameters
    ----------
    look_up : callable
        Returns the ids of numbers in a list.
    """

    def __init__(self, look_up: Callable[[list[Any]], Int32Array]) -> None:
        self._look_up = look_up
        self._ids: Int32Array = np.empty(0, np.int32)

    def ids(self, numbers: Int64Array) -> Int32Array:
        """Return the ids of numbers, none of which is below 0. New ones are looked up in their order."""
        largest = int(numbers.max(initial=-1))
        if largest >= tuning.MOST_TABLE_NUMBERS:
            return self._look_up(numbers.tolist())
        if largest >= len(self._ids):
            grown = np.full(max(largest + 1, 2 * len(self._ids)), _UNSEEN, np.int32)
            grown[: len(self._ids)] = self._ids
            self._ids = grown
        ids: Int32Array = self._ids[numbers]
        is_new = ids == _UNSEEN
        if is_new.any():
            first = np.sort(np.unique(numbers[is_new], return_index=True)[1])
            new = numbers[is_new][first]
            self._ids[new] = self._look_up(new.tolist())
            ids = self._ids[numbers]
        return ids

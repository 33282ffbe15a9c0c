"""Sentences of whole numbers, such as numbers of nodes or items → one array, and the ids of its numbers."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array, Int64Array

LARGEST_NUMBER = np.iinfo(np.int64).max  # in an array of words
_UNSEEN = -2  # ids below 0 are of unknown words
_INT64 = np.dtype(np.int64)


def is_word_number(word: Any) -> bool:
    """Return whether a word is a whole number that may be beside arrays of them; a bool is none."""
    return (type(word) is int or isinstance(word, np.integer)) and 0 <= int(word) <= LARGEST_NUMBER


def number_too_large(number: int, sentence: int) -> ValueError:
    """Return the error for a word in an array, or beside arrays, that does not fit 64 bits."""
    return ValueError(
        f"sentence number {sentence} holds the word {number}; whole numbers beside arrays of them must be below 2**63: "
        "number the items anew, or give them as str"
    )


def numbers_in(words: list[Any]) -> Int64Array | None:
    """Return words as an array, None if one of them is no whole number from 0 on that fits it."""
    found = array.array("Q")  # of unsigned numbers, which Python converts in a quarter of the time of signed ones
    try:
        found.fromlist(words)
    except (TypeError, OverflowError):
        return None
    numbers = np.frombuffer(found, _INT64)
    if numbers.min(initial=0) < 0:  # it is 2**63 or more
        return None
    may_be_bools = np.flatnonzero(numbers <= 1).tolist()
    return numbers if all(is_word_number(words[place]) for place in may_be_bools) else None


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
            if numbers.max(initial=0) > LARGEST_NUMBER:
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

    def ids(self, numbers: npt.NDArray[np.integer]) -> Int32Array:
        """Return the ids of numbers, none of which is below 0. New ones are looked up in their order."""
        largest = int(numbers.max(initial=-1))
        if largest >= tuning.MOST_TABLE_NUMBERS:
            return self._look_up(numbers.tolist())
        if largest >= len(self._ids):
            grown = np.full(max(largest + 1, 2 * len(self._ids)), _UNSEEN, np.int32)
            grown[: len(self._ids)] = self._ids
            self._ids = grown
        ids: Int32Array = self._ids.take(numbers, mode="clip")  # which skips the check for others
        is_new = ids == _UNSEEN
        if is_new.any():
            first = np.sort(np.unique(numbers[is_new], return_index=True)[1])
            new = numbers[is_new][first]
            self._ids[new] = self._look_up(new.tolist())
            ids = self._ids.take(numbers, mode="clip")
        return ids

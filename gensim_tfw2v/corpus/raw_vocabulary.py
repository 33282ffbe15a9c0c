"""The words of a corpus as they are found, with their numbers and counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.corpus.tokenizer import Part
from gensim_tfw2v.native.functions import call


class RawVocabulary:
    """Distinct words in the order of their first appearance, their counts, and totals."""

    def __init__(self) -> None:
        self.total_words = 0
        self.sentence_count = 0
        self._numbers: defaultdict[Any, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._last: list[Any] = []  # words that `_numbers` does not have yet, in order
        self._counts: Int64Array = np.empty(0, dtype=np.int64)
        self._first_numbering = False  # of a reader: all of its words are new

    def __len__(self) -> int:
        return len(self._numbers) + len(self._last)

    @property
    def number(self) -> Callable[[Any], int]:
        """A function that returns a word's number; a new word gets the next one. Valid until `append` is called."""
        for word in self._last:
            self._numbers[word]
        self._last.clear()
        return self._numbers.__getitem__

    def append(self, words: list[Any]) -> Int32Array:
        """Give words that are all new the next numbers, and return these. This looks no word up."""
        first = len(self)
        self._last += words
        return np.arange(first, len(self), dtype=np.int32)

    def numbers(self, words: list[Any]) -> Int32Array:
        """Return the numbers of words; new words get the next ones."""
        return np.fromiter(map(self.number, words), dtype=np.int32, count=len(words))

    def numbers_of_part(self, part: Part) -> Int32Array:
        """Return the numbers of a part's new words."""
        if part.new_numbering:
            self._first_numbering = not len(self)
        return (self.append if self._first_numbering else self.numbers)(part.new_words)

    def count(self, numbers: Int32Array) -> None:
        """Count occurrences of words, given by their numbers."""
        self._counts = lengthened(self._counts, len(self))
        call("count_words", numbers, self._counts)

    def words_and_counts(self) -> tuple[list[Any], Int64Array]:
        """Return the distinct words and how often each appeared."""
        return [*self._numbers, *self._last], lengthened(self._counts, len(self))[: len(self)].copy()


def renumbered(ids: Int32Array, numbers: Int32Array) -> Int32Array:
    """Return the number that a table has for each id."""
    found = np.empty(ids.size, np.int32)
    call("renumber", ids, numbers, found)
    return found


def lengthened(counts: Int64Array, size: int) -> Int64Array:
    """Return `counts`, followed by zeros if there are fewer than `size` of them."""
    if size <= counts.size:
        return counts
    grown = np.zeros(max(size, 2 * counts.size), dtype=np.int64)
    grown[: counts.size] = counts
    return grown

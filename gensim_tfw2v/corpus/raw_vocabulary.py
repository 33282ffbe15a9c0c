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

    def add(self, numbers: Int32Array, counts: Int64Array) -> None:
        """Add the counts of words, given by their numbers. Each number may appear only once."""
        self._counts = lengthened(self._counts, len(self))
        self._counts[numbers] += counts

    def words_and_counts(self) -> tuple[list[Any], Int64Array]:
        """Return the distinct words and how often each appeared."""
        return [*self._numbers, *self._last], lengthened(self._counts, len(self))[: len(self)].copy()


class NumbersOfParts:
    """Returns the numbers of each part's new words. Words of the first numbering are all new to the vocabulary."""

    def __init__(self, vocabulary: RawVocabulary) -> None:
        self._vocabulary = vocabulary
        self._are_new = False

    def __call__(self, part: Part) -> Int32Array:
        if part.new_numbering:
            self._are_new = not len(self._vocabulary)
        return (self._vocabulary.append if self._are_new else self._vocabulary.numbers)(part.new_words)


class Tally:
    """Counts of words by one reader's numbers, so that the vocabulary is looked up only once for each word."""

    def __init__(self) -> None:
        self._numbers: Int32Array = np.empty(0, dtype=np.int32)
        self._counts: Int64Array = np.empty(0, dtype=np.int64)

    def add(self, numbers: Int32Array, ids: Int32Array) -> None:
        """Count the words of one part. `numbers` starts with the numbers of the parts before it."""
        self._numbers = numbers
        self._counts = lengthened(self._counts, numbers.size)
        call("count_words", ids, self._counts)

    def add_to(self, vocabulary: RawVocabulary) -> None:
        """Add all counts to a vocabulary."""
        vocabulary.add(self._numbers, self._counts[: self._numbers.size])


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

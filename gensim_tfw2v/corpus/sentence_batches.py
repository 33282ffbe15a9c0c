"""Sentences of an iterable → many sentences' words or whole numbers, whose ids are looked up at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.corpus.number_sentences import NumberBuffer, numbers_in
from gensim_tfw2v.corpus.sentence_errors import (
    Places,
    WrongWordError,
    array_among_words,
    not_a_sentence,
    unhashable_word,
    word_among_numbers,
    words_of_array,
)
from gensim_tfw2v.corpus.sentences import MAX_SENTENCE_WORDS


class SentenceBatch(NamedTuple):
    """Pieces of sentences; the lists are emptied when the next batch is taken."""

    words: list[Hashable]  # of all pieces
    lengths: list[int]  # of the pieces
    begun: list[int]  # 1 for a piece that begins a sentence, 0 for another one
    position: int  # of the last sentence; -1 if there is none

    def ids(self, looked_up: Iterable[int]) -> Int32Array:
        """Return the ids of all words, which this iterable looks up; raise TypeError naming a word without a hash."""
        try:
            return np.fromiter(looked_up, dtype=np.int32, count=len(self.words))
        except TypeError:
            raise unhashable_word(self.words, Places(*self[1:])) from None


class NumberBatch(NamedTuple):
    """Pieces of sentences whose words are whole numbers from 0 on; the lists are emptied as those of words are."""

    numbers: Int64Array  # of all pieces
    lengths: list[int]
    begun: list[int]
    position: int


def sentence_batches(
    sentences: Iterable[Iterable[Hashable]],
    most_words: int,
    most_pieces: int,
    before_each: Callable[[], None] | None = None,
) -> Generator[SentenceBatch | NumberBatch, None, None]:
    """Yield all sentences, many at a time, in pieces of at most `MAX_SENTENCE_WORDS` words.

    The words of a sentence are copied before the next sentence is taken, which may be the same list with other words.
    Sentences that are lists may have any words. Once one has been an array of whole numbers, all words must be such.

    Parameters
    ----------
    most_words, most_pieces : int
        A batch ends with the piece that brings it to so many words or pieces.
    before_each : callable, optional
        Called before each sentence is used; an error that it raises ends the pass.
    """
    pending = _Pending()
    words, numbers, lengths, begun = pending.words, pending.numbers, pending.lengths, pending.begun
    position, are_arrays = -1, False
    sentence: Any
    for position, sentence in enumerate(sentences):
        if before_each is not None:
            before_each()
        is_array = isinstance(sentence, np.ndarray)
        if is_array:
            sentence = words_of_array(sentence, position)
            is_array = isinstance(sentence, np.ndarray)
        if is_array is not are_arrays:  # a batch has either words or the numbers of arrays
            if lengths:
                yield pending.batch(position - 1)
                pending.clear()
            are_arrays = is_array
        begin = 1
        try:
            # A sentence within the limit is one piece and is copied whole.
            is_short = len(sentence) <= MAX_SENTENCE_WORDS
            for piece in (sentence,) if is_short else _cut_overlong(sentence):
                if is_array:
                    lengths.append(numbers.extend(piece, position))
                else:
                    start = len(words)
                    words.extend(piece)
                    lengths.append(len(words) - start)  # a sentence need not have as many words as its len() says
                begun.append(begin)
                begin = 0
                count = numbers.count if is_array else len(words)
                if count >= most_words or len(lengths) >= most_pieces:
                    yield pending.batch(position)
                    pending.clear()
        except WrongWordError:
            raise
        except TypeError:
            raise not_a_sentence(sentence, position) from None
    yield pending.batch(position)


class _Pending:
    """Pieces of sentences that wait for others: words, or the numbers of arrays."""

    def __init__(self) -> None:
        self.words: list[Hashable] = []
        self.numbers = NumberBuffer()
        self.lengths: list[int] = []
        self.begun: list[int] = []
        self._has_words = False  # that are no whole numbers
        self._has_arrays = False  # of whole numbers

    def batch(self, position: int) -> SentenceBatch | NumberBatch:
        """Return the pieces, of which the last is of the sentence at this position."""
        places = Places(self.lengths, self.begun, position)
        if self.numbers.count:
            return NumberBatch(self._numbers_of_arrays(places), *places)
        numbers = None if self._has_words else numbers_in(self.words)
        if numbers is not None:
            return NumberBatch(numbers, *places)
        if self._has_arrays:
            raise word_among_numbers(self.words, places)
        self._has_words = True
        return SentenceBatch(self.words, *places)

    def _numbers_of_arrays(self, places: Places) -> Int64Array:
        numbers = self.numbers.numbers()
        if self._has_words:
            raise array_among_words(numbers[0], places)
        if numbers.min() < 0:
            raise word_among_numbers(numbers.tolist(), places)
        self._has_arrays = True
        return numbers

    def clear(self) -> None:
        """Drop the pieces."""
        for pending in (self.words, self.numbers, self.lengths, self.begun):
            pending.clear()


def _cut_overlong(sentence: Any) -> Iterator[Any]:
    """Yield the pieces of a sentence, at least one."""
    if isinstance(sentence, np.ndarray):
        yield from np.split(sentence, range(MAX_SENTENCE_WORDS, len(sentence), MAX_SENTENCE_WORDS))
        return
    words = iter(sentence)
    yield list(islice(words, MAX_SENTENCE_WORDS))
    while piece := list(islice(words, MAX_SENTENCE_WORDS)):
        yield piece

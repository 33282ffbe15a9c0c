"""Sentences of an iterable → many sentences' words or whole numbers, whose ids are looked up at once.

An item that is no sentence, or a word that may not be in it, is an error that names the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.corpus.number_sentences import NumberBuffer, is_word_number, number_too_large, numbers_in
from gensim_tfw2v.corpus.sentences import MAX_SENTENCE_WORDS


class WrongWordError(TypeError):
    """A word that the others of its corpus exclude."""


class SentenceBatch(NamedTuple):
    """Pieces of sentences; the lists are emptied when the next batch is taken."""

    words: list[Any]  # of all pieces; none if these have whole numbers
    lengths: list[int]  # of the pieces
    begun: list[int]  # 1 for a piece that begins a sentence, 0 for another one
    position: int  # of the last sentence; -1 if there is none
    numbers: Int64Array | None = None  # if all words are whole numbers from 0 on

    def ids(self, looked_up: Iterable[int]) -> Int32Array:
        """Return the ids of all words, which this iterable looks up; raise TypeError naming a word without a hash."""
        try:
            return np.fromiter(looked_up, dtype=np.int32, count=len(self.words))
        except TypeError:
            raise self._unhashable_word() from None

    def sentence_at(self, place: int) -> int:
        """Return the number of the sentence that a word of the batch, given by its place, is in."""
        piece = int(np.searchsorted(np.cumsum(self.lengths), place, side="right"))
        return self.position - sum(self.begun[piece + 1 :])

    def _unhashable_word(self) -> TypeError:
        for place, word in enumerate(self.words):
            try:
                hash(word)
            except TypeError:
                return TypeError(
                    f"sentence number {self.sentence_at(place)} holds the word {shown(word)}; a sentence must be a "
                    "flat sequence of str or other hashable values"
                )
        return TypeError("the vocabulary could not look up the words of a sentence")


def checked_sentences(sentences: Iterable[Any]) -> Iterator[Any]:
    """Yield `sentences`; raise TypeError naming the first that is not a sequence of words."""
    for position, sentence in enumerate(sentences):
        # Python iterates over anything that has indices from 0 on.
        can_be_iterated = hasattr(sentence, "__iter__") or hasattr(sentence, "__getitem__")
        if not (hasattr(sentence, "__len__") and can_be_iterated):
            raise _not_a_sentence(sentence, position)
        if isinstance(sentence, np.ndarray):
            words = _words_of_array(sentence, position)
            yield words.tolist() if isinstance(words, np.ndarray) else words
        else:
            yield sentence


def sentence_batches(
    sentences: Iterable[Iterable[Hashable]],
    most_words: int,
    most_pieces: int,
    before_each: Callable[[], None] | None = None,
    are_cut: bool = True,
) -> Generator[SentenceBatch, None, None]:
    """Yield all sentences, many at a time, in pieces of at most `MAX_SENTENCE_WORDS` words.

    The words of a sentence are copied before the next sentence is taken, which may be the same list with other words.
    Sentences that are lists may have any words. Once one has been an array of whole numbers, all words must be such.

    Parameters
    ----------
    most_words, most_pieces : int
        A batch ends with the piece that brings it to so many words or pieces.
    before_each : callable, optional
        Called before each sentence is used; an error that it raises ends the pass.
    are_cut : bool
        If not, each sentence is one piece, however many words it has.
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
            sentence = _words_of_array(sentence, position)
            is_array = isinstance(sentence, np.ndarray)
        if is_array is not are_arrays:  # a batch has either words or the numbers of arrays
            if lengths:
                yield pending.batch(position - 1)
                pending.clear()
            are_arrays = is_array
        begin = 1
        try:
            # A sentence within the limit is one piece and is copied whole.
            is_short = len(sentence) <= MAX_SENTENCE_WORDS or not are_cut
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
            raise _not_a_sentence(sentence, position) from None
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

    def batch(self, position: int) -> SentenceBatch:
        """Return the pieces, of which the last is of the sentence at this position."""
        batch = SentenceBatch(self.words, self.lengths, self.begun, position)
        if self.numbers.count:
            return batch._replace(numbers=self._numbers_of_arrays(batch))
        numbers = None if self._has_words else numbers_in(self.words)
        if numbers is not None:
            return batch._replace(numbers=numbers)
        if self._has_arrays:
            raise _word_among_numbers(self.words, batch)
        self._has_words = True
        return batch

    def _numbers_of_arrays(self, batch: SentenceBatch) -> Int64Array:
        numbers = self.numbers.numbers()
        if self._has_words:
            raise _array_among_words(numbers[0], batch)
        if numbers.min() < 0:
            raise _word_among_numbers(numbers.tolist(), batch)
        self._has_arrays = True
        return numbers

    def clear(self) -> None:
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


def _words_of_array(sentence: npt.NDArray[Any], position: int) -> Any:
    """Return an array of whole numbers as it is, and another array's words as a list of Python's objects.

    Raise TypeError if its words are neither whole numbers nor text nor objects.
    """
    if sentence.ndim != 1:
        raise _not_a_sentence(sentence, position)
    if sentence.dtype.kind in "iu" and sentence.size:
        return sentence
    if sentence.size and sentence.dtype.kind not in "OUST":
        raise WrongWordError(
            f"sentence number {position} holds {shown(sentence[0].item())} in an array of {sentence.dtype}; the words "
            "of an array must be whole numbers or str: convert it, for example with astype(int)"
        )
    return sentence.tolist()


def _not_a_sentence(sentence: Any, position: int) -> TypeError:
    return TypeError(
        f"sentence number {position} is {shown(sentence)}; each sentence must be a sequence of words, "
        "such as a list of str"
    )


def _word_among_numbers(words: list[Any], batch: SentenceBatch) -> Exception:
    """Return the error for the first word that may not be beside arrays of whole numbers."""
    place, word = next((place, word) for place, word in enumerate(words) if not is_word_number(word))
    sentence = batch.sentence_at(place)
    if type(word) is not int and not isinstance(word, np.integer):
        return WrongWordError(
            f"sentence number {sentence} holds the word {shown(word)}, and others are arrays of integers; then all "
            "words must be whole numbers"
        )
    if word > 0:
        return number_too_large(int(word), sentence)
    return ValueError(
        f"sentence number {sentence} holds the word {word}; whole numbers beside arrays of them must be at least 0: "
        "leave out padding, or give all words as str"
    )


def _array_among_words(number: Any, batch: SentenceBatch) -> TypeError:
    """Return the error for an array of whole numbers, the first of a batch, in a corpus that has had other words."""
    return WrongWordError(
        f"sentence number {batch.sentence_at(0)} holds the word {number} in an array of integers, and an earlier one "
        "holds words that are no whole numbers; give all words as str, or all as whole numbers"
    )


def shown(value: object) -> str:
    """Return how an error shows a value: at most 60 letters of it, and its type."""
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:60] + '...'} of type {type(value).__name__}"

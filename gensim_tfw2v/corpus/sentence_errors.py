"""Checks that items are sentences, and the errors that name those that are not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

LARGEST_NUMBER = np.iinfo(np.int64).max  # in an array of words


def checked_sentences(sentences: Iterable[Any]) -> Iterator[Any]:
    """Yield `sentences`; raise TypeError naming the first that is not a sequence of words."""
    for position, sentence in enumerate(sentences):
        # Python iterates over anything that has indices from 0 on.
        can_be_iterated = hasattr(sentence, "__iter__") or hasattr(sentence, "__getitem__")
        if not (hasattr(sentence, "__len__") and can_be_iterated):
            raise not_a_sentence(sentence, position)
        if isinstance(sentence, np.ndarray):
            words = words_of_array(sentence, position)
            yield words.tolist() if isinstance(words, np.ndarray) else words
        else:
            yield sentence


def not_a_sentence(sentence: Any, position: int) -> TypeError:
    """Return the error for an item that is no sequence of words."""
    return TypeError(
        f"sentence number {position} is {_shown(sentence)}; each sentence must be a sequence of words, "
        "such as a list of str"
    )


class WrongWordError(TypeError):
    """A word that the others of its corpus exclude."""


class Places(NamedTuple):
    """The sentences of a batch, by which the sentence of a word is found."""

    lengths: list[int]  # of their pieces
    begun: list[int]  # 1 for a piece that begins a sentence, 0 for another one
    position: int  # of the last sentence

    def sentence_at(self, place: int) -> int:
        """Return the number of the sentence that a word of the batch, given by its place, is in."""
        piece = int(np.searchsorted(np.cumsum(self.lengths), place, side="right"))
        return self.position - sum(self.begun[piece + 1 :])


def unhashable_word(words: list[Hashable], places: Places) -> TypeError:
    """Return the error for a word that no vocabulary can hold."""
    for place, word in enumerate(words):
        try:
            hash(word)
        except TypeError:
            return TypeError(
                f"sentence number {places.sentence_at(place)} holds the word {_shown(word)}; a sentence must be a flat "
                "sequence of str or other hashable values"
            )
    return TypeError("the vocabulary could not look up the words of a sentence")


def words_of_array(sentence: npt.NDArray[Any], position: int) -> Any:
    """Return an array of whole numbers as it is, and another array's words as a list of Python's objects.

    Raise TypeError if its words are neither whole numbers nor text nor objects.
    """
    if sentence.ndim != 1:
        raise not_a_sentence(sentence, position)
    if sentence.dtype.kind in "iu" and sentence.size:
        return sentence
    if sentence.size and sentence.dtype.kind not in "OUST":
        raise WrongWordError(
            f"sentence number {position} holds {_shown(sentence[0].item())} in an array of {sentence.dtype}; the words "
            "of an array must be whole numbers or str: convert it, for example with astype(int)"
        )
    return sentence.tolist()


def is_word_number(word: Any) -> bool:
    """Return whether a word is a whole number that may be beside arrays of them; a bool is none."""
    return (type(word) is int or isinstance(word, np.integer)) and 0 <= int(word) <= LARGEST_NUMBER


def word_among_numbers(words: list[Any], places: Places) -> Exception:
    """Return the error for the first word that may not be beside arrays of whole numbers."""
    place, word = next((place, word) for place, word in enumerate(words) if not is_word_number(word))
    sentence = places.sentence_at(place)
    if type(word) is not int and not isinstance(word, np.integer):
        return WrongWordError(
            f"sentence number {sentence} holds the word {_shown(word)}, and others are arrays of integers; then all "
            "words must be whole numbers"
        )
    if word > 0:
        return number_too_large(int(word), sentence)
    return ValueError(
        f"sentence number {sentence} holds the word {word}; whole numbers beside arrays of them must be at least 0: "
        "leave out padding, or give all words as str"
    )


def array_among_words(number: Any, places: Places) -> TypeError:
    """Return the error for an array of whole numbers, the first of a batch, in a corpus that has had other words."""
    return WrongWordError(
        f"sentence number {places.sentence_at(0)} holds the word {number} in an array of integers, and an earlier one "
        "holds words that are no whole numbers; give all words as str, or all as whole numbers"
    )


def number_too_large(number: int, sentence: int) -> ValueError:
    """Return the error for a word in an array, or beside arrays, that does not fit 64 bits."""
    return ValueError(
        f"sentence number {sentence} holds the word {number}; whole numbers beside arrays of them must be below 2**63: "
        "number the items anew, or give them as str"
    )


def _shown(value: object) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:60] + '...'} of type {type(value).__name__}"

"""Checks that items are sentences, and the errors that name those that are not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np


def checked_sentences(sentences: Iterable[Any]) -> Iterator[Any]:
    """Yield `sentences`; raise TypeError naming the first that is not a sequence of words."""
    for position, sentence in enumerate(sentences):
        # Python iterates over anything that has indices from 0 on.
        can_be_iterated = hasattr(sentence, "__iter__") or hasattr(sentence, "__getitem__")
        if not (hasattr(sentence, "__len__") and can_be_iterated):
            raise not_a_sentence(sentence, position)
        yield sentence


def not_a_sentence(sentence: Any, position: int) -> TypeError:
    """Return the error for an item that is no sequence of words."""
    return TypeError(
        f"sentence number {position} is {_shown(sentence)}; each sentence must be a sequence of words, "
        "such as a list of str"
    )


def unhashable_word(words: list[Hashable], lengths: list[int], begun: list[int], position: int) -> TypeError:
    """Return the error for a word that no vocabulary can hold. The last sentence is the one at `position`."""
    for place, word in enumerate(words):
        try:
            hash(word)
        except TypeError:
            piece = int(np.searchsorted(np.cumsum(lengths), place, side="right"))
            number = position - sum(begun[piece + 1 :])
            return TypeError(
                f"sentence number {number} holds the word {_shown(word)}; a sentence must be a flat sequence "
                "of str or other hashable values"
            )
    return TypeError("the vocabulary could not look up the words of a sentence")


def _shown(value: object) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:60] + '...'} of type {type(value).__name__}"

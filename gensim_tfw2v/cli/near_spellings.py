"""A word that a vocabulary lacks → the words in it that are spelt most like it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_FREQUENT_WORDS = 50_000  # any word among this many at the beginning of the vocabulary may be near
_PREFIX_LETTERS = 2  # a rarer word must begin with this many letters of the word
_MOST_EXTRA_LETTERS = 2  # one of two near words may have this many letters more than the other
_LEAST_LIKENESS = 0.65  # twice the letters that two words share in order, in proportion to all letters of both


def near_spellings(word: str, vocabulary: Sequence[object], most: int = 3) -> list[str]:
    """Return the words that are spelt most like `word`, upper and lower case being the same; the nearest first.

    The more frequent of two equally near words comes first.

    Parameters
    ----------
    vocabulary : sequence
        All words by falling count. Keys that are not strings are left out.
    """
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(word.casefold())  # the matcher stores the letters of its second word
    found: list[tuple[float, int, str]] = []
    for place, candidate in enumerate(_candidates(word, vocabulary)):
        matcher.set_seq1(candidate.casefold())
        # From the fastest ratio to the slowest: each is at least as large as the next.
        if matcher.real_quick_ratio() >= _LEAST_LIKENESS and matcher.quick_ratio() >= _LEAST_LIKENESS:
            found.append((-matcher.ratio(), place, candidate))
    return [candidate for likeness, _, candidate in sorted(found)[:most] if -likeness >= _LEAST_LIKENESS]


def _candidates(word: str, vocabulary: Sequence[object]) -> Iterator[str]:
    """Yield the frequent words of about the same length, and rarer ones that begin with the same letters as well."""
    least, most = len(word) - _MOST_EXTRA_LETTERS, len(word) + _MOST_EXTRA_LETTERS
    prefix = word[:_PREFIX_LETTERS].casefold()
    frequent = itertools.islice(vocabulary, _FREQUENT_WORDS)
    rarer = itertools.islice(vocabulary, _FREQUENT_WORDS, None)
    for key in frequent:
        if isinstance(key, str) and least <= len(key) <= most:
            yield key
    for key in rarer:
        if isinstance(key, str) and least <= len(key) <= most and key[:_PREFIX_LETTERS].casefold() == prefix:
            yield key

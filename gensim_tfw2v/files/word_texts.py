"""Words of a vocabulary, which may be whole numbers → texts, where a file can hold only texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def as_texts(
    words: Iterable[Any],
    doubled: str = "the vocabulary has a number both as an int and as a text; give all words as text",
) -> list[str]:
    """Return words as texts; raise ValueError with `doubled` if two have the same text, as 7 and "7" have."""
    texts = [str(word) for word in words]
    if len(set(texts)) < len(texts):
        raise ValueError(doubled)
    return texts


def check_undivided(texts: Iterable[str], divided: str) -> None:
    """Raise ValueError with `divided`, where {!r} stands for the word, if a text is divided at white space or empty."""
    for text in texts:
        if text.split() != [text]:
            raise ValueError(divided.format(text))

"""Words of a corpus → lines that the vocabulary of an encoded corpus can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gensim_tfw2v.files.word_texts import as_texts, check_undivided

NUMBERS_AND_TEXTS = "some tables hold whole numbers and others the same numbers as text; encode them apart"


def as_lines(words: Sequence[Any]) -> list[str]:
    """Return words as texts that the vocabulary can have; raise ValueError naming a word of a table that it cannot."""
    texts = as_texts(words, NUMBERS_AND_TEXTS)
    check_undivided(
        texts,
        "the column holds the word {!r}, and words of an encoded corpus have no white space and are not empty; train "
        "from the table itself, or replace these words",
    )
    return texts

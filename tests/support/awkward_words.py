"""Words that are hard to show, and vectors of given words."""

from __future__ import annotations

import numpy as np
from gensim.models import KeyedVectors

AWKWARD = [
    "plain", "tab\there", "line\nbreak", "carriage\rreturn", '"', "'quoted'", '"comma, quoted"', "🦊", "👩‍🚀", "", " ",
    "\u200b", "\u00a0", "\u2028", "שלום", "\u202eright-to-left", "مرحبا", "back\\slash", "\\t", "\\", "\x00",
    "\x1b[31m", "<b>bold</b>", "a b", " a", "a ", "#comment", "=1+1", "\ufeff", "\udc80", "é", "e\u0301", "\\(empty)",
]  # fmt: skip


def keyed_vectors(words: list[str], size: int = 5, counts: list[int] | None = None) -> KeyedVectors:
    """Return random vectors of these words."""
    vectors = KeyedVectors(size)
    vectors.add_vectors(words, np.random.default_rng(0).normal(size=(len(words), size)).astype(np.float32))
    for word, count in zip(words, counts or range(len(words), 0, -1), strict=True):
        vectors.set_vecattr(word, "count", count)
    return vectors

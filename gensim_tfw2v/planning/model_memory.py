"""The size of a model → the bytes of its vocabulary and its tables."""

from __future__ import annotations

import logging

logger = logging.getLogger(__name__)

NUMBER_BYTES = 4  # of float32
_WORD_BYTES, _TREE_WORD_BYTES = 500, 700  # of a word and its counts while a vocabulary is built; gensim's figures


def model_bytes(words: int, vector_size: int, tree: bool, negatives: bool) -> dict[str, int]:
    """Return the bytes of each part of a model of `words` words, by the names of gensim's `estimate_memory`.

    Parameters
    ----------
    tree, negatives : bool
        Whether hierarchical softmax, and negative sampling, are trained.
    """
    table = words * vector_size * NUMBER_BYTES
    parts = {"vocab": words * (_TREE_WORD_BYTES if tree else _WORD_BYTES), "vectors": table}
    if tree:
        parts["syn1"] = table
    if negatives:
        parts["syn1neg"] = table
    return parts


def estimated_memory(
    words: int, vector_size: int, tree: bool, negatives: bool, report: dict[str, int] | None = None
) -> dict[str, int]:
    """Return what gensim's `estimate_memory` returns: these bytes beside those of a report, and the total."""
    found = (report or {}) | model_bytes(words, vector_size, tree, negatives)
    found["total"] = sum(found.values())
    logger.info(
        "estimated required memory for %i words and %i dimensions: %i bytes", words, vector_size, found["total"]
    )
    return found


def table_bytes(parts: dict[str, int]) -> int:
    """Return the bytes of all tables of a model, given `model_bytes`."""
    return sum(size for name, size in parts.items() if name != "vocab")

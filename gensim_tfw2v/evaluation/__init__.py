"""Word vectors → scores: gensim's evaluation, which answers many analogies at a time."""

from __future__ import annotations

from gensim_tfw2v.evaluation.scoring import (
    RESTRICT_VOCABULARY,
    bundled_analogies,
    bundled_pairs,
    check_analogies,
    check_pairs,
    score_vectors,
)

__all__ = [
    "RESTRICT_VOCABULARY",
    "bundled_analogies",
    "bundled_pairs",
    "check_analogies",
    "check_pairs",
    "score_vectors",
]

"""Word vectors → scores: gensim's evaluation, which answers many analogies at a time."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "RESTRICT_VOCABULARY",
    "bundled_analogies",
    "bundled_pairs",
    "check_analogies",
    "check_pairs",
    "score_vectors",
]

if TYPE_CHECKING:
    from gensim_tfw2v.evaluation.scoring import (
        RESTRICT_VOCABULARY,
        bundled_analogies,
        bundled_pairs,
        check_analogies,
        check_pairs,
        score_vectors,
    )


def __getattr__(name: str) -> Any:
    """Return a name of `scoring`, which imports NumPy, when it is first used, so that help is quick."""
    if name in __all__:
        return getattr(importlib.import_module("gensim_tfw2v.evaluation.scoring"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""What trained vectors score, and whether they are numbers at all."""

from __future__ import annotations

from typing import Any

from measuring.checkout import use_checkout


def is_finite(keyed_vectors: Any) -> bool:
    """Return whether every number in the vectors is finite."""
    import numpy as np

    return bool(np.isfinite(keyed_vectors.vectors).all())


def scores_of(keyed_vectors: Any) -> dict[str, float | None]:
    """Return every score in percent (Spearman's correlation, or accuracy) and their mean; None where undefined."""
    use_checkout()
    from gensim_tfw2v.evaluation import score_vectors

    scores = score_vectors(keyed_vectors)
    named = {score.name: score.spearman for score in scores.pairs}
    named["analogies"] = scores.analogies[0].accuracy
    return {name: None if value is None else 100 * value for name, value in named.items()} | {"mean": scores.mean}

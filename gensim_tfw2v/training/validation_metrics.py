"""The names of what validation measures, and which values are better."""

from __future__ import annotations

from collections.abc import Sequence

RANKS = 10  # length of the list of words that a model expects
LOSS, HITS, NDCG = "loss", f"hits@{RANKS}", f"ndcg@{RANKS}"
METRICS = (LOSS, HITS, NDCG)


def to_lower(metric: str, values: Sequence[float]) -> list[float]:
    """Return the values of a metric as numbers that are lower where the metric is better."""
    return list(values) if metric == LOSS else [-value for value in values]

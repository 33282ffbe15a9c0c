"""Compares models by the words that they hold similar, for corpora too small for evaluation scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

FREQUENT_WORDS = 200
NEIGHBOURS = 10


class Agreement(NamedTuple):
    """Means over pairs of models."""

    correlation: float  # rank correlation of the similarities of all pairs of the most frequent words
    shared: float  # share of the most frequent words' nearest neighbours that both models have


class Likeness(NamedTuple):
    """The similarities and nearest neighbours in one model."""

    similarities: np.ndarray
    neighbours: list[set[int]]


def likeness_of(vectors: Any) -> Likeness:
    """Return the similarities and nearest neighbours in gensim's KeyedVectors."""
    unit = vectors.get_normed_vectors()
    similarity = unit[:FREQUENT_WORDS] @ unit.T
    frequent = len(similarity)
    of_pairs = similarity[:, :frequent][np.triu_indices(frequent, 1)]
    np.fill_diagonal(similarity, -2)
    nearest = np.argsort(-similarity, axis=1)[:, :NEIGHBOURS]
    return Likeness(of_pairs, [set(row) for row in nearest.tolist()])


def agreement(pairs: Iterable[tuple[Likeness, Likeness]]) -> Agreement:
    """Return the mean agreement of the two models of each pair."""
    pairs = list(pairs)
    correlations = [spearmanr(first.similarities, second.similarities).statistic for first, second in pairs]
    shared = [
        len(a & b) / NEIGHBOURS
        for first, second in pairs
        for a, b in zip(first.neighbours, second.neighbours, strict=True)
    ]
    return Agreement(float(np.mean(correlations)), float(np.mean(shared)))

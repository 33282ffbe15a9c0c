"""How far models agree on what is similar: for corpora too small for scores of word similarity and analogies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

FREQUENT_WORDS = 200
NEIGHBOURS = 10


class Agreement(NamedTuple):
    """Means over pairs of models."""

    correlation: float  # rank correlation of the similarities of every two of the most frequent words
    shared: float  # share of the nearest neighbours of the most frequent words that both models name


class Likeness(NamedTuple):
    """What one model holds for similar."""

    similarities: np.ndarray
    neighbours: list[set[int]]


def likeness_of(vectors: Any) -> Likeness:
    """Return what gensim's KeyedVectors hold for similar."""
    unit = vectors.get_normed_vectors()
    similarity = unit[:FREQUENT_WORDS] @ unit.T
    frequent = len(similarity)
    of_pairs = similarity[:, :frequent][np.triu_indices(frequent, 1)]
    np.fill_diagonal(similarity, -2)
    nearest = np.argsort(-similarity, axis=1)[:, :NEIGHBOURS]
    return Likeness(of_pairs, [set(row) for row in nearest.tolist()])


def agreement(pairs: Iterable[tuple[Likeness, Likeness]]) -> Agreement:
    """Return how far the models of each pair agree, on average."""
    pairs = list(pairs)
    correlations = [spearmanr(first.similarities, second.similarities).statistic for first, second in pairs]
    shared = [
        len(a & b) / NEIGHBOURS
        for first, second in pairs
        for a, b in zip(first.neighbours, second.neighbours, strict=True)
    ]
    return Agreement(float(np.mean(correlations)), float(np.mean(shared)))

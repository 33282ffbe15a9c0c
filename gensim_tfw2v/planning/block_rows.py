"""A training and the words of a block → how many rows of each table the block trains."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.planning.workload import Workload


class RowCounts(NamedTuple):
    """Distinct rows of each table that a block is expected to train."""

    inputs: float
    outputs: float
    nodes: float

    @property
    def all(self) -> float:
        """Rows of all tables."""
        return sum(self)


def rows_of_block(workload: Workload, block_words: float, pool: int | None) -> RowCounts:
    """Return the distinct rows of a block of so many raw words.

    Parameters
    ----------
    pool : int, optional
        Draws from which the block's negatives come, if they are more and the vocabulary is larger; None: each of them
        is a draw of its own.
    """
    frequencies = workload.frequencies
    kept = frequencies.kept_shares(workload.sample)
    independent = frequencies.repetition * block_words
    absent = _chance_of_absence(kept, independent)
    inputs = float(frequencies.words @ (1 - absent))
    if workload.tree:
        nodes, trained = workload.trained_nodes
        return RowCounts(inputs, 0.0, float(nodes @ (1 - _chance_of_absence(trained, independent))))
    draws = _negatives_of_block(workload, block_words, pool)
    not_drawn = np.maximum(1 - frequencies.drawn_shares(workload.ns_exponent) * draws, 0)  # draws are stratified
    return RowCounts(inputs, float(frequencies.words @ (1 - absent * not_drawn)), 0.0)


def _chance_of_absence(shares: Float64Array, words: float) -> Float64Array:
    """Return how likely something that is drawn by its share is not among so many words."""
    with np.errstate(divide="ignore"):  # something that is always drawn
        absent: Float64Array = np.exp(words * np.log1p(-np.minimum(shares, 1.0)))
    return absent


def _negatives_of_block(workload: Workload, block_words: float, pool: int | None) -> float:
    """Return how many different draws a block's negatives are."""
    shape = workload.shape
    draws = workload.kept_share * block_words / shape.run_tokens * shape.shared_negatives
    if pool is None or workload.vocabulary <= pool or draws <= pool:
        return draws
    return pool * (1 - math.exp(-draws / pool))  # each is one of the pool's draws, at random

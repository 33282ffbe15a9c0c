"""Word counts → how likely subsampling keeps each word, and how likely each is drawn as a negative.

Everything but the draws is computed once, when training starts, from gensim's ``KeyedVectors``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Counts, Float32Array, Float64Array, Int32Array, Int64Array, aligned_empty
from gensim_tfw2v.native.functions import call
from gensim_tfw2v.native.random_numbers import RandomNumbers

_SAMPLE_INT_RANGE = 2.0**32  # gensim keeps a word if its `sample_int` is at least a random 32-bit integer


def word_counts(keyed_vectors: Any) -> Counts:
    """Return the count of every word, in the order of ids; frequencies that are not whole numbers stay as they are."""
    counts = np.asarray(keyed_vectors.expandos.get("count", [])[: len(keyed_vectors)])
    return counts.astype(np.float64 if counts.dtype.kind == "f" else np.int64)


def ids_by_count(counts: Counts) -> Int64Array:
    """Return the ids of all words, the most frequent first."""
    return np.argsort(-counts, kind="stable")


def cumulative_table(counts: Counts, exponent: float, domain: int) -> npt.NDArray[np.uint32]:
    """Return the cumulative sums of ``counts ** exponent``, scaled to end with `domain`: exactly gensim's table."""
    cumulative = np.cumsum([count**exponent for count in counts])
    table: npt.NDArray[np.uint32] = np.rint(cumulative / cumulative[-1:] * domain).astype(np.uint32)
    return table


def keep_probabilities(keyed_vectors: Any, sample: float) -> Float32Array | None:
    """Return the probability that subsampling keeps each word, or None if it keeps all."""
    thresholds = keyed_vectors.expandos.get("sample_int")
    if not sample or thresholds is None:
        return None
    probabilities = (thresholds[: len(keyed_vectors)].astype(np.float64) + 1.0) / _SAMPLE_INT_RANGE
    return None if np.all(probabilities >= 1.0) else probabilities.astype(np.float32)


def kept_counts(counts: Counts, keep: Float32Array | None) -> Float64Array:
    """Return how often subsampling is expected to keep each word."""
    occurrences = counts.astype(np.float64)
    return occurrences if keep is None else occurrences * keep


@dataclass(frozen=True)
class NegativeSampler:
    """Draws word ids from the distribution of gensim's ``cum_table``: counts to the power of ``ns_exponent``."""

    cumulative: npt.NDArray[np.uint32]

    def shares(self) -> Float64Array:
        """Return the probability of each word."""
        return np.diff(self.cumulative.astype(np.float64), prepend=0.0) / float(self.cumulative[-1])

    def draw(self, random: RandomNumbers, size: int, pool: int | None = None) -> Int32Array:
        """Return `size` ids in random order.

        The draws are stratified: one uniform number from each of `size` equal slices of the distribution. Each draw
        still has the wanted distribution, the counts of words are closer to their expected values, and the look-up of
        sorted numbers stays in the cache.

        Parameters
        ----------
        pool : int, optional
            If set, and below `size`: the ids come from a pool of so many draws.
        """
        drawn = aligned_empty(size, np.int32)
        call("draw_negatives", self.cumulative, size if pool is None else pool, random, drawn)
        return drawn

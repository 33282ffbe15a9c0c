"""Word counts → how likely subsampling keeps each word, and how likely each is drawn as a negative.

Everything here is NumPy, and reads gensim's ``KeyedVectors`` once, when training starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Counts, Float32Array, Float64Array, Int32Array, Int64Array

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

    def draw(self, rng: np.random.Generator, size: int) -> Int32Array:
        """Return `size` ids in random order.

        The draws are stratified: one uniform number from each of `size` equal slices of the distribution. Each draw
        still has the wanted distribution, the counts of words are closer to their expected values, and the look-up of
        sorted numbers stays in the cache.
        """
        uniform = (np.arange(size) + rng.random(size)) * (float(self.cumulative[-1]) / size)
        drawn = self._look_up(uniform.astype(np.uint32))
        rng.shuffle(drawn)
        return drawn

    def _look_up(self, ascending: npt.NDArray[np.uint32]) -> Int32Array:
        """Return the word at each of these places in the table."""
        words = len(self.cumulative)
        if len(ascending) < words:
            return np.searchsorted(self.cumulative, ascending, side="left").astype(np.int32)
        # With fewer words than draws it is faster to look up where each word ends.
        ends = np.searchsorted(ascending, self.cumulative, side="right")
        return np.repeat(np.arange(words, dtype=np.int32), np.diff(ends, prepend=0))

"""Words as ids: how often each is kept, how often each is drawn as a negative, and its path in the Huffman tree.

Everything here is NumPy, read once from gensim's ``KeyedVectors`` when training starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Int32Array = npt.NDArray[np.int32]
Float32Array = npt.NDArray[np.float32]

_SAMPLE_INT_RANGE = 2.0**32  # gensim keeps a word when its `sample_int` is not below a random 32-bit integer


def word_counts(keyed_vectors: Any) -> npt.NDArray[np.int64]:
    """Return the count of every word, in id order."""
    return np.asarray(keyed_vectors.expandos["count"][: len(keyed_vectors)], dtype=np.int64)


def keep_probabilities(keyed_vectors: Any, sample: float) -> Float32Array | None:
    """Return the chance of each word to survive subsampling, or None if every word is kept."""
    thresholds = keyed_vectors.expandos.get("sample_int")
    if not sample or thresholds is None:
        return None
    probabilities = (thresholds[: len(keyed_vectors)].astype(np.float64) + 1.0) / _SAMPLE_INT_RANGE
    return None if np.all(probabilities >= 1.0) else probabilities.astype(np.float32)


def kept_shares(counts: npt.NDArray[np.int64], keep: Float32Array | None) -> npt.NDArray[np.float64]:
    """Return the share of each word among the tokens that training sees after subsampling."""
    kept = counts.astype(np.float64) if keep is None else counts * keep.astype(np.float64)
    return np.asarray(kept / max(kept.sum(), 1.0))


@dataclass(frozen=True)
class NegativeSampler:
    """Draws word ids from the unigram^ns_exponent distribution that gensim's ``cum_table`` describes."""

    cumulative: npt.NDArray[np.uint32]

    def shares(self) -> npt.NDArray[np.float64]:
        """Return the chance of each word to be drawn."""
        return np.diff(self.cumulative.astype(np.float64), prepend=0.0) / float(self.cumulative[-1])

    def draw(self, rng: np.random.Generator, size: int) -> Int32Array:
        """Return `size` ids in random order.

        The draws are stratified: one uniform number from each of `size` equal slices of the distribution. Every
        draw has the distribution wanted, rare and frequent words turn up closer to their expected number of times,
        and the sorted look-up stays in the cache.
        """
        uniform = (np.arange(size) + rng.random(size)) * (float(self.cumulative[-1]) / size)
        drawn = np.searchsorted(self.cumulative, uniform.astype(np.uint32), side="left").astype(np.int32)
        rng.shuffle(drawn)
        return drawn


@dataclass(frozen=True)
class HuffmanPaths:
    """The inner nodes between the root and each word, and the branch taken at each.

    Word `w` passes ``nodes[offsets[w]:offsets[w + 1]]``; the sign is +1 where its code is 0 (gensim's label 1) and
    -1 where its code is 1.
    """

    nodes: Int32Array
    signs: npt.NDArray[np.int8]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, keyed_vectors: Any) -> HuffmanPaths:
        """Return the paths that gensim's ``create_binary_tree`` stored as ``point`` and ``code``."""
        # A vocabulary of one word, and words added without rebuilding the tree, have no path.
        size = len(keyed_vectors)
        points = [_as_path(point) for point in keyed_vectors.expandos.get("point", [None] * size)[:size]]
        codes = [_as_path(code) for code in keyed_vectors.expandos.get("code", [None] * size)[:size]]
        lengths = np.array([len(code) for code in codes], dtype=np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        nodes = np.concatenate([*points, np.zeros(0)]).astype(np.int32)
        signs = (1 - 2 * np.concatenate([*codes, np.zeros(0)]).astype(np.int64)).astype(np.int8)
        return cls(nodes=nodes, signs=signs, offsets=offsets)

    def lengths(self) -> npt.NDArray[np.int64]:
        """Return the code length of every word."""
        return np.diff(self.offsets)


def _as_path(values: Any) -> npt.NDArray[np.int64]:
    """Return a stored code or path as an array; unset ones (None, or gensim's 0 for new words) are empty."""
    if values is None or np.isscalar(values):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(values, dtype=np.int64)

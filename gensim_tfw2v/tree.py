"""gensim's Huffman tree as arrays: the way from the root to each word, and the words as leaves from left to right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.segments import starts_of

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class HuffmanTree:
    """The inner nodes between the root and each word.

    Word `w` passes ``nodes[offsets[w]:offsets[w + 1]]``, the root first, and takes the branches `codes` there.
    """

    nodes: Int32Array  # [sum of path lengths]
    codes: UInt8Array  # [sum of path lengths], 0 (gensim's label 1) to the left, 1 to the right
    offsets: Int32Array  # [V + 1]
    leaf: Int32Array  # [V], -1 for words without a path
    first: Int32Array  # [V], the first leaf below each node

    @classmethod
    def of(cls, keyed_vectors: Any) -> HuffmanTree:
        """Return the tree that gensim's ``create_binary_tree`` stored as ``point`` and ``code`` of each word."""
        # A vocabulary of one word, and words added without rebuilding the tree, have no path.
        size = len(keyed_vectors)
        points = [_as_path(point) for point in keyed_vectors.expandos.get("point", [None] * size)[:size]]
        codes = np.concatenate(
            [np.zeros(0, np.int64), *map(_as_path, keyed_vectors.expandos.get("code", [None] * size)[:size])]
        )
        lengths = np.array([len(point) for point in points], dtype=np.int64)
        offsets = starts_of(lengths)
        nodes = np.concatenate([np.zeros(0, np.int64), *points]).astype(np.int32)
        below_left = np.bincount(nodes[codes == 0], minlength=size)
        # Each turn to the right passes all leaves on the left of it.
        passed = np.where(codes == 1, below_left[nodes], 0)
        passed_before = starts_of(passed)
        first = np.zeros(size, dtype=np.int64)
        first[nodes] = passed_before[:-1] - np.repeat(passed_before[offsets[:-1]], lengths)
        leaf = np.where(lengths > 0, passed_before[offsets[1:]] - passed_before[offsets[:-1]], -1)
        return cls(nodes, codes.astype(np.uint8), *(array.astype(np.int32) for array in (offsets, leaf, first)))

    def path_lengths(self) -> Int32Array:
        """Return the code length of every word."""
        return np.diff(self.offsets)

    def count_shared(self, words: Int32Array, leaves: Int32Array) -> Int32Array:
        """Return how many nodes of each word's path are also on the path of a leaf to the left of it (-1: none)."""
        low, high = self.offsets[words], self.offsets[words + 1]
        starts = low
        # Going down a path, the leaves below a node begin further right: search for the first that begins too far.
        for _ in range(int((high - low).max(initial=0)).bit_length()):
            middle = (low + high) >> 1
            shared = (middle < high) & (self.first[self.nodes[np.minimum(middle, high - 1)]] <= leaves)
            low, high = np.where(shared, middle + 1, low), np.where(shared, high, middle)
        return low - starts


def _as_path(values: Any) -> Int64Array:
    """Return a stored code or path as an array; unset ones (None, or gensim's 0 for new words) are empty."""
    if values is None or np.isscalar(values):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(values, dtype=np.int64)

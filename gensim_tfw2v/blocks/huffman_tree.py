"""gensim's Huffman tree as arrays: the way from the root to each word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int32Array, Int64Array, UInt8Array


@dataclass(frozen=True)
class HuffmanTree:
    """The inner nodes between the root and each word.

    Word `w` passes ``nodes[offsets[w]:offsets[w + 1]]``, the root first, and takes the branches `codes` there.
    """

    nodes: Int32Array  # [sum of path lengths]
    codes: UInt8Array  # [sum of path lengths], 0 (gensim's label 1) to the left, 1 to the right
    offsets: Int32Array  # [V + 1]

    @classmethod
    def of(cls, keyed_vectors: Any) -> HuffmanTree:
        """Return the tree that gensim's ``create_binary_tree`` stored as ``point`` and ``code`` of each word."""
        # A vocabulary of one word, and words added without rebuilding the tree, have no path.
        points, codes = (_paths(keyed_vectors, name) for name in ("point", "code"))
        none = np.zeros(0, np.int64)
        return cls(
            nodes=np.concatenate([none, *points]).astype(np.int32),
            codes=np.concatenate([none, *codes]).astype(np.uint8),
            offsets=np.cumsum([0, *map(len, points)], dtype=np.int32),
        )

    def path_lengths(self) -> Int32Array:
        """Return the code length of every word."""
        return np.diff(self.offsets)


def _paths(keyed_vectors: Any, attribute: str) -> list[Int64Array]:
    """Return what each word has of this attribute."""
    stored = list(keyed_vectors.expandos.get(attribute, ()))[: len(keyed_vectors)]
    return [_as_path(path) for path in stored + [None] * (len(keyed_vectors) - len(stored))]


def _as_path(values: Any) -> Int64Array:
    """Return a stored code or path as an array; unset ones (None, or gensim's 0 for new words) are empty."""
    if values is None or np.isscalar(values):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(values, dtype=np.int64)

"""gensim's Huffman tree as arrays: the way from the root to each word, and the words as leaves from left to right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.segments import starts_of

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]

_TURNS = 53  # in one number, which float64 then holds exactly


@dataclass(frozen=True)
class HuffmanTree:
    """The inner nodes between the root and each word.

    Word `w` passes ``nodes[offsets[w]:offsets[w + 1]]``, the root first, and takes the branches `codes` there.
    """

    nodes: Int32Array  # [sum of path lengths]
    codes: UInt8Array  # [sum of path lengths], 0 (gensim's label 1) to the left, 1 to the right
    offsets: Int32Array  # [V + 1]
    ways: Int64Array  # [K, V], each word's codes as numbers, 53 in one, the first in the highest bit
    leaf: Int32Array  # [V], -1 for words without a path

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
        ways = _as_numbers(codes, lengths)
        with_path = np.flatnonzero(lengths)
        leaf = np.full(size, -1, dtype=np.int32)
        leaf[with_path[np.lexsort(ways[::-1, with_path])]] = np.arange(len(with_path))
        return cls(nodes, codes.astype(np.uint8), offsets.astype(np.int32), ways, leaf)

    def path_lengths(self) -> Int32Array:
        """Return the code length of every word."""
        return np.diff(self.offsets)

    def count_shared(self, words: Int32Array, others: Int32Array) -> Int32Array:
        """Return how many nodes of each word's path are also on the path of another word."""
        alike = np.zeros(len(words), dtype=np.int32)
        so_far = np.ones(len(words), dtype=bool)
        for ways in self.ways:
            _, differing = np.frexp((ways[words] ^ ways[others]).astype(np.float64))  # bits from the first that differs
            alike += (_TURNS - differing) * so_far
            so_far &= differing == 0
        # Who turns alike at a node passes the next one, too.
        shared: Int32Array = np.minimum(alike + np.int32(1), self.offsets[words + 1] - self.offsets[words])
        return shared


def _as_numbers(codes: Int64Array, lengths: Int64Array) -> Int64Array:
    """Return the codes of each word as `HuffmanTree.ways`."""
    depth = np.arange(len(codes)) - np.repeat(starts_of(lengths)[:-1], lengths)
    number, turn = np.divmod(depth, _TURNS)
    size = len(lengths)
    numbers = max(1, math.ceil(np.max(lengths, initial=0) / _TURNS))
    word = np.repeat(np.arange(size), lengths)
    ways = np.bincount(number * size + word, codes * np.exp2(_TURNS - 1 - turn), minlength=numbers * size)
    return ways.astype(np.int64).reshape(numbers, size)


def _as_path(values: Any) -> Int64Array:
    """Return a stored code or path as an array; unset ones (None, or gensim's 0 for new words) are empty."""
    if values is None or np.isscalar(values):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(values, dtype=np.int64)

"""Word counts, or gensim's attributes of words → the Huffman tree as arrays.

gensim gives words with equal counts neighbouring places in the tree, in the order of the vocabulary, which is the order
of the corpus. Rare words of one passage then share nearly all of their nodes. In a random order they share them with
words from anywhere, and the vectors of a large vocabulary score higher
(`docs/contributing/decisions.md`, "Maths of a batch").
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Counts, Int32Array, Int64Array, UInt8Array


@dataclass(frozen=True)
class HuffmanTree:
    """The Huffman path of each word.

    The path of word `w` has the nodes ``nodes[offsets[w]:offsets[w + 1]]``, the root first, and takes the branches
    `codes` there.
    """

    nodes: Int32Array  # [sum of path lengths]
    codes: UInt8Array  # [sum of path lengths], 0 (gensim's label 1) to the left, 1 to the right
    offsets: Int32Array  # [V + 1]

    @classmethod
    def of(cls, keyed_vectors: Any) -> HuffmanTree:
        """Return the tree that is stored as ``point`` and ``code`` of each word.

        Raise RuntimeError if they are no paths through the inner nodes of a tree of all words.
        """
        # A vocabulary of one word, and words added without rebuilding the tree, have no path.
        points, codes = (_stored_arrays(keyed_vectors, name) for name in ("point", "code"))
        ends, code_ends = (np.cumsum([0, *map(len, arrays)], dtype=np.int64) for arrays in (points, codes))
        if not np.array_equal(ends, code_ends):
            word = int(np.argmax(ends != code_ends)) - 1
            raise _no_path(keyed_vectors, word, f"{len(points[word])} nodes and {len(codes[word])} codes")
        none = np.zeros(0, np.int64)
        nodes, branches = np.concatenate([none, *points]), np.concatenate([none, *codes])
        is_wrong = (nodes < 0) | (nodes >= len(keyed_vectors) - 1) | (branches < 0) | (branches > 1)
        if is_wrong.any():
            step = int(np.argmax(is_wrong))
            word = int(np.searchsorted(ends, step, side="right")) - 1
            raise _no_path(keyed_vectors, word, f"the node {nodes[step]} with the code {branches[step]}")
        return cls(nodes.astype(np.int32), branches.astype(np.uint8), ends.astype(np.int32))

    def store(self, keyed_vectors: Any) -> None:
        """Set ``point`` and ``code`` of each word, in the types that gensim's ``create_binary_tree`` gives them."""
        for name, values in (("code", self.codes), ("point", self.nodes.astype(np.uint32))):
            keyed_vectors.allocate_vecattrs(attrs=[name], types=[object])
            for word, (start, stop) in enumerate(pairwise(self.offsets.tolist())):
                keyed_vectors.expandos[name][word] = values[start:stop]

    def path_lengths(self) -> Int32Array:
        """Return the number of nodes on the path of every word."""
        return np.diff(self.offsets)


def build_huffman_tree(counts: Counts, order: Int64Array) -> HuffmanTree:
    """Return the tree that gensim builds from words with these counts in this order."""
    parent, branch = _join_rarest(counts.tolist(), order.tolist())
    root = len(parent) - 1
    node = words = np.arange(len(counts) if root > 0 else 0)
    levels = []  # from the leaves up: the words whose paths are that long, the node above, the branch taken there
    while words.size:
        levels.append((words, parent[node], branch[node]))
        below_root = parent[node] < root
        words, node = words[below_root], parent[node][below_root]

    lengths = np.zeros(len(counts), dtype=np.int64)
    for words, _, _ in levels:
        lengths[words] += 1
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    nodes, codes = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.uint8)
    for level, (words, above, taken) in enumerate(levels):
        places = offsets[words + 1] - 1 - level
        nodes[places], codes[places] = above - len(counts), taken
    return HuffmanTree(nodes, codes, offsets.astype(np.int32))


class _Node(float):
    """A count with the number of its node. heapq compares only the counts, as gensim does, and in C."""

    index: int


def _join_rarest(counts: list[float], order: list[int]) -> tuple[Int64Array, UInt8Array]:
    """Return the parent and the branch of each node: first the words, then inner nodes as they are made."""
    heap = [_node(counts[word], word) for word in order]
    heapq.heapify(heap)
    nodes = max(0, 2 * len(counts) - 1)
    parent, branch = [0] * nodes, [0] * nodes
    for index in range(len(counts), nodes):
        left, right = heapq.heappop(heap), heapq.heappop(heap)
        parent[left.index] = parent[right.index] = index
        branch[right.index] = 1
        heapq.heappush(heap, _node(left + right, index))
    return np.array(parent, dtype=np.int64), np.array(branch, dtype=np.uint8)


def _node(count: float, index: int) -> _Node:
    node = _Node(count)
    node.index = index
    return node


def has_random_ties(words: int) -> bool:
    """Return whether words with equal counts enter a tree of `words` words in random order."""
    return words >= tuning.LEAST_WORDS_FOR_RANDOM_TIES


def _stored_arrays(keyed_vectors: Any, attribute: str) -> list[Int64Array]:
    """Return the value of this attribute for each word."""
    stored = list(keyed_vectors.expandos.get(attribute, ()))[: len(keyed_vectors)]
    arrays = []
    for word, values in enumerate(stored + [None] * (len(keyed_vectors) - len(stored))):
        try:
            arrays.append(_as_array(values))
        except (TypeError, ValueError, OverflowError):
            raise _no_path(keyed_vectors, word, f"{values!r} as its {attribute}") from None
    return arrays


def _as_array(values: Any) -> Int64Array:
    """Return the nodes or codes stored for a word; None, and gensim's 0 for new words, become an empty array."""
    if values is None or np.isscalar(values):
        return np.zeros(0, dtype=np.int64)
    found = np.asarray(values, dtype=np.int64)
    if found.ndim != 1:
        raise ValueError(f"{values!r} has {found.ndim} axes")
    return found


def _no_path(keyed_vectors: Any, word: int, found: str) -> RuntimeError:
    """Return the error for a word whose path is damaged."""
    words = len(keyed_vectors)
    return RuntimeError(
        f"wv.expandos['point'] and ['code'] have {found} for the word {keyed_vectors.index_to_key[word]!r}: a tree of "
        f"{words} words has as many codes, 0 or 1, as nodes, from 0 to {words - 2}; make it again with "
        "create_binary_tree()"
    )

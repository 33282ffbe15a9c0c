"""Word counts → the Huffman code of each word: a tree that gensim might have made, in a fraction of the time.

Words of equal counts become neighbours in gensim's tree as they are in the vocabulary, and there in the order of the
corpus, so that rare words of one passage share nearly all of their nodes. In an order that is drawn they share them
with words of anywhere, by which vectors of a large vocabulary score higher (`docs/decisions.md`).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Counts, Int64Array


@dataclass(frozen=True)
class HuffmanCodes:
    """The way from the root to each word: word `w` has what is between ``offsets[w]`` and ``offsets[w + 1]``."""

    codes: npt.NDArray[np.uint8]  # branches taken, 0 or 1
    points: npt.NDArray[np.uint32]  # inner nodes passed, the first of which is the root
    offsets: Int64Array  # [V + 1]


class _Node(float):
    """A count that knows whose it is, so that heapq compares counts alone, as gensim does, and in C."""

    index: int


def huffman_codes(counts: Counts, order: Int64Array) -> HuffmanCodes:
    """Return the codes that gensim's ``create_binary_tree`` gives to words with these counts in this order."""
    parent, branch = _join_rarest(counts.tolist(), order.tolist())
    root = len(parent) - 1
    node = words = np.arange(len(counts) if root > 0 else 0)
    levels = []  # from the leaves upwards: the words whose way is so long, the node above, the branch taken there
    while words.size:
        levels.append((words, parent[node], branch[node]))
        below_root = parent[node] < root
        words, node = words[below_root], parent[node][below_root]

    lengths = np.zeros(len(counts), dtype=np.int64)
    for words, _, _ in levels:
        lengths[words] += 1
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    codes, points = np.empty(offsets[-1], np.uint8), np.empty(offsets[-1], np.uint32)
    for level, (words, above, taken) in enumerate(levels):
        places = offsets[words + 1] - 1 - level
        codes[places], points[places] = taken, above - len(counts)
    return HuffmanCodes(codes, points, offsets)


def _join_rarest(counts: list[float], order: list[int]) -> tuple[Int64Array, npt.NDArray[np.uint8]]:
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


def draws_ties(words: int) -> bool:
    """Return whether words of equal counts are joined in the Huffman tree in a drawn order, in so many words."""
    return words >= tuning.LEAST_WORDS_FOR_RANDOM_TIES

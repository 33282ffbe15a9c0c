"""The functions of huffman_paths.c and huffman_tree.c in NumPy and plain Python (see `in_numpy`)."""

from __future__ import annotations

import heapq

import numpy as np

from gensim_tfw2v.arrays import Float64Array, Int32Array, Int64Array, UInt8Array, consecutive
from gensim_tfw2v.native.array_checks import LARGEST, LONGEST, NO_PATH, NO_WORD, WRONG_SIZES, are_below

# -- huffman_paths.c ---------------------------------------------------------------------------------------------------


def number_words(ids: Int32Array, words: int, numbers: Int32Array, distinct: Int32Array) -> int:
    """Write the distinct ids in ascending order, and the number of each id among them; return how many there are."""
    has_room = distinct.size >= min(ids.size, words) and numbers.size == ids.size
    if not 0 <= words <= LARGEST or not has_room:
        return WRONG_SIZES
    if not are_below(words, ids):
        return NO_WORD
    is_there = np.zeros(words, bool)
    is_there[ids] = True
    found = np.flatnonzero(is_there)
    distinct[: found.size] = found
    numbers[:] = (np.cumsum(is_there) - 1)[ids]
    return int(found.size)


def _paths(words: Int32Array, tree_offsets: Int32Array) -> tuple[Int64Array, Int64Array]:
    """Return where the paths of words begin and end in the tree."""
    offsets = tree_offsets.astype(np.int64)
    return offsets[words], offsets[words + 1]


def path_offsets(words: Int32Array, tree_offsets: Int32Array, tree_steps: int, offsets: Int32Array) -> int:
    """Write where the paths of words begin and end in a list of all their steps; return the number of steps."""
    if offsets.size != words.size + 1:
        return WRONG_SIZES
    if not are_below(tree_offsets.size - 1, words):
        return NO_WORD
    begins, ends = _paths(words, tree_offsets)
    steps = int((ends - begins).sum())
    if (begins < 0).any() or (ends < begins).any() or (ends > tree_steps).any() or steps > LONGEST:
        return NO_PATH
    offsets[0] = 0
    offsets[1:] = np.cumsum(ends - begins)
    return steps


def copy_paths(
    words: Int32Array,
    tree_offsets: Int32Array,
    tree_nodes: Int32Array,
    tree_codes: UInt8Array,
    nodes: Int32Array,
    codes: Int32Array,
) -> int:
    """Write the steps of the paths of words."""
    if tree_codes.size != tree_nodes.size or codes.size != nodes.size:
        return WRONG_SIZES
    if not are_below(tree_offsets.size - 1, words):
        return NO_WORD
    begins, ends = _paths(words, tree_offsets)
    lengths = ends - begins
    are_paths = not ((begins < 0).any() or (lengths < 0).any() or (ends > tree_nodes.size).any())
    if not are_paths or int(lengths.sum()) != nodes.size:
        return NO_PATH
    steps = consecutive(begins, lengths)
    nodes[:] = tree_nodes[steps]
    codes[:] = tree_codes[steps]
    return 0


# -- huffman_tree.c ----------------------------------------------------------------------------------------------------


class _Node(float):
    """A count with the number of its node. heapq compares only the counts, as gensim does, and in C."""

    index: int


def join_rarest(counts: Float64Array, order: Int32Array, parent: Int32Array, branch: UInt8Array) -> int:
    """Write the parent and the branch of each node: first the words, then inner nodes as they are made."""
    nodes = max(0, 2 * counts.size - 1)
    if counts.size > LONGEST or order.size != counts.size or parent.size != nodes or branch.size != nodes:
        return WRONG_SIZES
    if not are_below(counts.size, order):
        return NO_WORD
    heap = [_node(count, word) for count, word in zip(counts[order].tolist(), order.tolist(), strict=True)]
    heapq.heapify(heap)
    parents, right_nodes = [0] * nodes, []
    for index in range(counts.size, nodes):
        left, right = heapq.heappop(heap), heapq.heappop(heap)
        parents[left.index] = parents[right.index] = index
        right_nodes.append(right.index)
        heapq.heappush(heap, _node(left + right, index))
    parent[:] = parents
    branch[:] = 0
    branch[right_nodes] = 1
    return 0


def _node(count: float, index: int) -> _Node:
    node = _Node(count)
    node.index = index
    return node

"""Functions in C and in NumPy join the nodes of a Huffman tree as Python's heapq does, also where counts are equal."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.native_functions import WAYS, functions_run

from gensim_tfw2v.native.functions import call

Joined = tuple[list[int], list[int]]  # the parent and the branch of each node


@dataclass
class Node:
    """A node that heapq compares by its count alone, as gensim's nodes are."""

    count: float
    number: int

    def __lt__(self, other: Node) -> bool:
        return self.count < other.count


def joined_by_heapq(counts: list[float], order: list[int]) -> Joined:
    """Return the tree that gensim's algorithm makes."""
    heap = [Node(counts[word], word) for word in order]
    heapq.heapify(heap)
    nodes = max(0, 2 * len(counts) - 1)
    parent, branch = [0] * nodes, [0] * nodes
    for number in range(len(counts), nodes):
        left, right = heapq.heappop(heap), heapq.heappop(heap)
        parent[left.number] = parent[right.number] = number
        branch[right.number] = 1
        heapq.heappush(heap, Node(left.count + right.count, number))
    return parent, branch


def joined(way: str, counts: list[float], order: list[int]) -> Joined:
    """Return the tree that the function makes in one of the ways."""
    nodes = max(0, 2 * len(counts) - 1)
    parent, branch = np.full(nodes, 77, np.int32), np.full(nodes, 77, np.uint8)
    with functions_run(way):
        assert call("join_rarest", np.array(counts, np.float64), np.array(order, np.int32), parent, branch) == 0
    return parent.tolist(), branch.tolist()


@pytest.mark.parametrize("way", WAYS)
@given(
    counts=st.lists(st.integers(1, 9) | st.integers(1, 2**60) | st.floats(0.1, 1e20), max_size=99),
    seed=st.integers(0, 99),
)
def test_nodes_are_joined_as_heapq_does(way: str, counts: list[float], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(counts)).tolist()
    assert joined(way, counts, order) == joined_by_heapq(list(map(float, counts)), order)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("most", [1, 3, 10**6])
def test_nodes_of_a_large_vocabulary_are_joined_as_heapq_does(way: str, most: int) -> None:
    rng = np.random.default_rng(most)
    counts, order = rng.integers(1, most + 1, 6001).astype(float).tolist(), rng.permutation(6001).tolist()
    assert joined(way, counts, order) == joined_by_heapq(counts, order)

"""The functions of walks.c in NumPy: graphs in compressed rows, and random walks on them, drawn step by step in Python.

They take, write and return what `in_numpy` says. Neighbours are checked before a walk begins.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from gensim_tfw2v.native.array_checks import LARGEST, LONGEST, NO_WORD, WRONG_SIZES, are_below
from gensim_tfw2v.native.random_numbers import RandomNumbers, numpys_generator

_MOST_NEIGHBOURS = (1 << 32) - 1
_MOST_DRAWS = 64  # as in walks.c


def _are_starts(neighbours: int, starts: Int64Array) -> bool:
    """Return whether these are the places where the neighbours of nodes begin, and where the last ones end."""
    if not 1 <= starts.size <= LARGEST + 1 or starts[0] != 0 or starts[-1] != neighbours:
        return False
    return not (np.diff(starts) < 0).any()


def _write_grouped(
    first: Int32Array,
    second: Int32Array,
    weights: Float32Array,
    starts: Int64Array,
    grouped: Int32Array,
    grouped_weights: Float32Array,
) -> None:
    """Write the first nodes of edges by their second node, in order, and where the group of each node begins."""
    starts[0] = 0
    starts[1:] = np.cumsum(np.bincount(second, minlength=starts.size - 1))
    order = np.argsort(second, kind="stable")
    grouped[:] = first[order]
    if weights.size:
        grouped_weights[:] = weights[order]


def group_edges(
    first: Int32Array,
    second: Int32Array,
    weights: Float32Array,
    both_ways: int,
    starts: Int64Array,
    grouped: Int32Array,
    grouped_weights: Float32Array,
) -> int:
    """Write the first nodes of edges by their second node, and with `both_ways` those of turned edges as well."""
    nodes = starts.size - 1
    if not 0 <= nodes <= LARGEST or first.size != second.size:
        return WRONG_SIZES
    if weights.size not in (0, first.size) or grouped_weights.size != (grouped.size if weights.size else 0):
        return WRONG_SIZES
    if not are_below(nodes, first) or not are_below(nodes, second):
        return NO_WORD
    # Each edge is followed by itself turned round, if that counts.
    is_counted = np.stack([np.ones(first.size, bool), (first != second) & bool(both_ways)], axis=1).ravel()
    begins, ends = (np.stack(sides, axis=1).ravel()[is_counted] for sides in ((first, second), (second, first)))
    if begins.size != grouped.size:
        return WRONG_SIZES
    of_edges = np.repeat(weights, 2)[is_counted] if weights.size else weights
    _write_grouped(begins, ends, of_edges, starts, grouped, grouped_weights)
    return 0


def turn_edges(
    starts: Int64Array,
    neighbours: Int32Array,
    weights: Float32Array,
    turned_starts: Int64Array,
    turned: Int32Array,
    turned_weights: Float32Array,
) -> int:
    """Write the edges turned round: the neighbours of each node are those from which an edge leads to it, rising."""
    if not _are_starts(neighbours.size, starts) or turned_starts.size != starts.size:
        return WRONG_SIZES
    if turned.size != neighbours.size or turned_weights.size != weights.size:
        return WRONG_SIZES
    if weights.size not in (0, neighbours.size):
        return WRONG_SIZES
    if not are_below(starts.size - 1, neighbours):
        return NO_WORD
    nodes = np.repeat(np.arange(starts.size - 1, dtype=np.int32), np.diff(starts))
    _write_grouped(nodes, neighbours, weights, turned_starts, turned, turned_weights)
    return 0


def add_weights(starts: Int64Array, weights: Float32Array, ends: Float64Array) -> int:
    """Write the running sums of weights, node by node."""
    if not _are_starts(weights.size, starts) or ends.size != weights.size:
        return WRONG_SIZES
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        ends[begin:end] = np.cumsum(weights[begin:end], dtype=np.float64)
    return 0


class _Graph(NamedTuple):
    """A graph as plain lists, which Python reads faster than arrays, and the generator that draws steps."""

    starts: list[int]
    neighbours: list[int]
    ends: list[float]  # empty if all edges weigh the same
    generator: np.random.Generator

    def has_edge(self, first: int, second: int) -> bool:
        """Return whether an edge leads from the first node to the second."""
        end = self.starts[first + 1]
        place = bisect_left(self.neighbours, second, self.starts[first], end)
        return place < end and self.neighbours[place] == second

    def draw_neighbour(self, node: int) -> int:
        """Return a neighbour, drawn by the weights of edges."""
        begin, end = self.starts[node], self.starts[node + 1]
        if end - begin == 1:
            return self.neighbours[begin]
        if not self.ends:
            return self.neighbours[begin + int(self.generator.integers(0, end - begin, dtype=np.int32))]
        value = self.generator.random() * self.ends[end - 1]
        return self.neighbours[min(bisect_right(self.ends, value, begin, end), end - 1)]


class _Bias(NamedTuple):
    """The weights of a step back, to a neighbour of the node before, and to another node."""

    back: float
    near: float
    far: float

    def of(self, graph: _Graph, before: int, following: int) -> float:
        """Return the weight of a step to a node, from a node that was reached from `before`."""
        if following == before:
            return self.back
        return self.near if graph.has_edge(before, following) else self.far

    def draw(self, graph: _Graph, before: int, node: int) -> int:
        """Return the next node of a walk that came from `before`."""
        if graph.starts[node + 1] - graph.starts[node] == 1:
            return graph.neighbours[graph.starts[node]]
        for _ in range(_MOST_DRAWS):
            following = graph.draw_neighbour(node)
            limit = graph.generator.random() * max(self)
            if limit < min(self) or limit < self.of(graph, before, following):
                return following
        return self._draw_exactly(graph, before, node)

    def _draw_exactly(self, graph: _Graph, before: int, node: int) -> int:
        """Return the next node, drawn by the weights of all neighbours."""
        neighbours = graph.neighbours[graph.starts[node] : graph.starts[node + 1]]
        ends = graph.ends[graph.starts[node] : graph.starts[node + 1]] or range(1, len(neighbours) + 1)
        weights = (end - before_it for end, before_it in zip(ends, [0, *ends], strict=False))
        biased = (weight * self.of(graph, before, place) for weight, place in zip(weights, neighbours, strict=True))
        sums = list(accumulate(biased))
        found = bisect_right(sums, graph.generator.random() * sums[-1])
        return neighbours[min(found, len(neighbours) - 1)]


def draw_walks(
    starts: Int64Array,
    neighbours: Int32Array,
    ends: Float64Array,
    bias: Float64Array,
    begins: Int32Array,
    length: int,
    random: RandomNumbers,
    nodes: Int32Array,
    lengths: Int32Array,
) -> int:
    """Write a walk of up to `length` nodes from each of `begins`, and their lengths; return the number of nodes."""
    last = starts.size - 1
    if not 0 <= last <= LARGEST or neighbours.size > _MOST_NEIGHBOURS or ends.size not in (0, neighbours.size):
        return WRONG_SIZES
    if not 1 <= length <= LONGEST or begins.size > LONGEST or nodes.size // length < begins.size:
        return WRONG_SIZES
    if lengths.size != begins.size or bias.size not in (0, 3) or not ((bias > 0) & (bias < 1e30)).all():
        return WRONG_SIZES
    if not are_below(last, begins) or not are_below(last, neighbours):
        return NO_WORD
    if not _are_starts(neighbours.size, starts):
        return WRONG_SIZES
    written = 0
    with numpys_generator(random) as generator:
        graph = _Graph(starts.tolist(), neighbours.tolist(), ends.tolist(), generator)
        weights = _Bias(*bias.tolist()) if bias.size else None
        for walk, begin in enumerate(begins.tolist()):
            steps = [begin]
            while len(steps) < length and graph.starts[steps[-1]] < graph.starts[steps[-1] + 1]:
                if weights is not None and len(steps) > 1:
                    steps.append(weights.draw(graph, steps[-2], steps[-1]))
                else:
                    steps.append(graph.draw_neighbour(steps[-1]))
            nodes[written : written + len(steps)] = steps
            lengths[walk] = len(steps)
            written += len(steps)
    return written

"""Random walks as node2vec defines them, computed slowly: from which node a walk goes where, and how often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from scipy.stats import chisquare

WeightedEdges = Sequence[tuple[Any, Any, float]]


def plain_graph(edges: WeightedEdges, directed: bool) -> dict[Any, dict[Any, float]]:
    """Return the weight of the way from each node to each of its neighbours."""
    graph: dict[Any, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
    for first, second, weight in edges:
        graph[first][second] += weight
        if not directed and first != second:
            graph[second][first] += weight
    return graph


def chances(graph: dict[Any, dict[Any, float]], before: Any, node: Any, p: float, q: float) -> dict[Any, float]:
    """Return how likely a walk that came from `before` to a node goes to each neighbour; `before` may be None."""
    weights = {}
    for neighbour, weight in graph[node].items():
        bias = 1.0 if before is None or neighbour in graph.get(before, {}) else 1 / q
        if before is not None and neighbour == before:
            bias = 1 / p
        weights[neighbour] = weight * bias
    total = sum(weights.values())
    return {neighbour: weight / total for neighbour, weight in weights.items()}


def least_p_value(
    walks: Iterable[Sequence[Any]], graph: dict[Any, dict[Any, float]], p: float, q: float
) -> tuple[float, int]:
    """Return the least p-value of chi-squared tests of steps, one for each two nodes before a step, and their number.

    Steps that the graph excludes fail. Pairs with fewer than 20 expected steps in a cell are left out.
    """
    found: dict[tuple[Any, Any], Counter[Any]] = defaultdict(Counter)
    for walk in walks:
        for place in range(1, len(walk)):
            before = walk[place - 2] if place > 1 else None
            found[before, walk[place - 1]][walk[place]] += 1
    values = []
    for (before, node), counts in found.items():
        expected = chances(graph, before, node, p, q)
        assert counts.keys() <= expected.keys()
        total = sum(counts.values())
        if len(expected) > 1 and min(expected.values()) * total >= 20:
            cells = list(expected)
            values.append(
                chisquare([counts[cell] for cell in cells], [expected[cell] * total for cell in cells]).pvalue
            )
    return min(values), len(values)

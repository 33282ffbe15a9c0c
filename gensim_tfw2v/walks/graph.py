"""Edges → a graph in compressed rows, in which C functions walk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from gensim_tfw2v.native.functions import call
from gensim_tfw2v.walks.edges import Edges


@dataclass(frozen=True)
class Graph:
    """Where one can go from each node. Nothing is kept for pairs of edges.

    Parameters
    ----------
    starts : ndarray
        The neighbours of node v are at the places ``starts[v]`` to ``starts[v + 1] - 1``.
    neighbours : ndarray
        The neighbours of all nodes, those of each node in rising order. An edge that was given twice is there twice.
    ends : ndarray
        For each place the sum of the weights of the node's edges up to it; empty if all weights are equal.
    """

    starts: Int64Array
    neighbours: Int32Array
    ends: Float64Array

    @classmethod
    def of(cls, edges: Edges, directed: bool) -> Graph:
        """Return the graph of some edges, in which each leads in both directions unless `directed`."""
        loops = int((edges.first == edges.second).sum())
        places = len(edges.first) if directed else 2 * len(edges.first) - loops
        weighted = places if edges.weights.size else 0

        def room() -> tuple[Int64Array, Int32Array, Float32Array]:
            return np.empty(len(edges.nodes) + 1, np.int64), np.empty(places, np.int32), np.empty(weighted, np.float32)

        grouped, turned = room(), room()
        call("group_edges", edges.first, edges.second, edges.weights, int(not directed), *grouped)
        call("turn_edges", *grouped, *turned)  # which brings neighbours into order
        del grouped
        starts, neighbours, weights = turned
        ends = np.empty(weighted, np.float64)
        if weighted:
            call("add_weights", starts, weights, ends)
        return cls(starts, neighbours, ends)

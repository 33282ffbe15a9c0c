"""Which places of a run of sorted pairs pass which nodes of the tree, and how they turn there."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.tree import HuffmanTree

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_FAR = np.uint8(128)  # more paths than any run has


class Passing(NamedTuple):
    """Which places of a run pass a node: those before `middle` turn left there, the others right."""

    first: Int32Array
    middle: Int32Array
    end: Int32Array

    def numbers(self) -> Int32Array:
        """Return one number for all three, as `every_passing` counts them; 0 if no place passes."""
        numbers: Int32Array = self.end * (self.end + 1) * (self.end + 2) // 6 + self.middle * (self.middle + 1) // 2
        return numbers + self.first

    @classmethod
    def of(cls, numbers: Int32Array, places: int) -> Passing:
        """Return what has these numbers, in runs of so many places."""
        return cls(*(edges[numbers] for edges in every_passing(places)))


@functools.cache
def every_passing(places: int) -> Passing:
    """Return all that there are in a run of so many places, by number."""
    edges = np.arange(places + 1, dtype=np.int32)
    end, middle, first = (grid.reshape(-1) for grid in np.meshgrid(edges, edges, edges, indexing="ij"))
    possible = (first <= middle) & (middle <= end)
    return Passing(first[possible], middle[possible], end[possible])


class Paths(NamedTuple):
    """The different paths that are met going through a block's sorted pairs; every run begins with one."""

    pairs: Int32Array  # the first pair of each; last of all the number of pairs
    run_starts: Int32Array  # the first pair of its run
    node_starts: Int32Array  # where its nodes are in the tree's
    lengths: Int32Array
    new_nodes: Int32Array  # how many nodes, the last ones, each brings to its run

    @classmethod
    def of(
        cls,
        changes: BoolArray,
        new_nodes: Int32Array,
        lengths: Int32Array,
        words: Int32Array,
        starts: Int64Array,
        tree: HuffmanTree,
    ) -> Paths:
        """Return the paths of pairs.

        Parameters
        ----------
        changes, new_nodes, lengths, words : ndarray
            Of each pair whether it has another path than the one before it, how many nodes that brings, how many it
            has, and the word.
        starts : ndarray
            The first pairs of the runs.
        """
        pairs = np.flatnonzero(changes).astype(np.int32)
        in_run = np.diff(np.searchsorted(pairs, starts), append=len(pairs))
        return cls(
            pairs=np.append(pairs, np.int32(len(words))),
            run_starts=np.repeat(starts.astype(np.int32), in_run),
            node_starts=tree.offsets[words[pairs]],
            lengths=lengths[pairs],
            new_nodes=new_nodes[pairs],
        )


def collect_nodes(
    paths: Paths, run_nodes: Int64Array, columns: int, tree: HuffmanTree, places: int
) -> tuple[Int32Array, Int32Array]:
    """Return the nodes of each run of the block [runs, U], each once, unused places -1; and which places pass them.

    Parameters
    ----------
    run_nodes : ndarray
        How many nodes each run has, of all runs of the block.
    columns : int
        U, at least the most of these.
    places : int
        Of a run.
    """
    bring = np.flatnonzero(paths.new_nodes)
    stops = paths.node_starts + paths.lengths
    source = _ranges((stops - paths.new_nodes)[bring], paths.new_nodes[bring])
    used = np.arange(columns) < run_nodes[:, None]
    nodes, passed = np.full(used.shape, -1, dtype=np.int32), np.zeros(used.shape, dtype=np.int32)
    nodes[used], passed[used] = tree.nodes[source], _find_passing(paths, bring, source, tree, places).numbers()
    return nodes, passed


def _find_passing(paths: Paths, bring: Int64Array, source: Int64Array, tree: HuffmanTree, places: int) -> Passing:
    """Return which places of their runs pass the nodes that paths bring.

    Parameters
    ----------
    bring : ndarray
        The paths that bring any.
    source : ndarray
        Where the nodes are in the tree's.
    """
    path = np.repeat(np.arange(len(paths.new_nodes)), paths.new_nodes)
    leaving = _next_leaving((paths.lengths - paths.new_nodes)[1:], int(np.max(paths.lengths, initial=1)), places)
    depth = source - paths.node_starts[path]
    next_path = path + leaving.reshape(-1)[depth * leaving.shape[1] + path]
    firsts = (paths.pairs[:-1] - paths.run_starts)[path]
    ends = paths.pairs[next_path] - paths.run_starts[path]
    # Who turns left at a node passes the next one on this path, or finds the word there; those behind turn right.
    middles = np.empty_like(ends)
    middles[:-1] = ends[1:]
    middles[np.cumsum(paths.new_nodes[bring]) - 1] = (paths.pairs[1:] - paths.run_starts)[bring]
    middles += (firsts - middles) * tree.codes[source]  # who turns right is the first to do so
    return Passing(firsts, middles, ends)


def _next_leaving(shared: Int32Array, depths: int, ahead: int) -> npt.NDArray[np.uint8]:
    """Return how many paths further on is the first that has another node at a depth, as [depths, paths].

    Parameters
    ----------
    shared : ndarray
        For each path but the first how many nodes it shares with the one before it.
    depths : int
        Of the longest path, which counts of 64 bits keep below 100.
    ahead : int
        Among so many paths in a row there is one that shares nothing.
    """
    leaving = np.zeros((depths, len(shared) + 1), dtype=np.uint8)
    depth = np.arange(depths, dtype=np.uint8)[:, None]
    np.greater(shared.astype(np.uint8), depth, out=leaving[:, :-1].view(bool))
    leaving *= _FAR
    leaving += np.uint8(1)
    step = 1
    while step < ahead:
        np.minimum(leaving[:, :-step], leaving[:, step:] + np.uint8(step), out=leaving[:, :-step])
        step *= 2
    return leaving


def _ranges(starts: Int32Array, lengths: Int32Array) -> Int64Array:
    """Return the numbers ``start, start + 1, ...`` of each range, one after the other; no range may be empty."""
    steps = np.ones(int(lengths.sum()), dtype=np.int64)
    if len(starts):
        steps[0] = starts[0]
        steps[np.cumsum(lengths[:-1])] = starts[1:] - starts[:-1] - lengths[:-1] + 1
    return np.cumsum(steps, out=steps)

"""gensim's Huffman tree as arrays, and the pairs of a block grouped so that neighbours in the tree share its nodes.

Words are the tree's leaves, numbered from left to right. Pairs sorted by the leaf they predict share most of their
nodes with their neighbours; a run of sorted pairs meets each of its nodes once, in one small product. Those that pass
a node stand side by side in the run, first those that turn left there and then those that turn right, so that three
places tell which do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.segments import Segments, sort_into_segments, sort_rows, starts_of

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]

_NODES_MULTIPLE = 8  # vector registers hold so many float32
# Each thread makes code for every new shape of a product, so that the same numbers of runs had better come again: they
# are rounded up by a sixteenth at most.
_RUNS_ROUNDED_BY = 16
_FAR = np.int16(1 << 14)  # more paths than any run has


@dataclass(frozen=True)
class HuffmanTree:
    """The inner nodes between the root and each word.

    Word `w` passes ``nodes[offsets[w]:offsets[w + 1]]``, the root first, and takes the branches `codes` there.
    """

    nodes: Int32Array  # [sum of path lengths]
    codes: UInt8Array  # [sum of path lengths], 0 (gensim's label 1) to the left, 1 to the right
    offsets: Int32Array  # [V + 1]
    leaf: Int32Array  # [V], -1 for words without a path
    first: Int32Array  # [V], the first leaf below each node

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
        below_left = np.bincount(nodes[codes == 0], minlength=size)
        # Each turn to the right passes all leaves on the left of it.
        passed = np.where(codes == 1, below_left[nodes], 0)
        passed_before = starts_of(passed)
        first = np.zeros(size, dtype=np.int64)
        first[nodes] = passed_before[:-1] - np.repeat(passed_before[offsets[:-1]], lengths)
        leaf = np.where(lengths > 0, passed_before[offsets[1:]] - passed_before[offsets[:-1]], -1)
        return cls(nodes, codes.astype(np.uint8), *(array.astype(np.int32) for array in (offsets, leaf, first)))

    def path_lengths(self) -> Int32Array:
        """Return the code length of every word."""
        return np.diff(self.offsets)

    def count_shared(self, words: Int32Array, leaves: Int32Array) -> Int32Array:
        """Return how many nodes of each word's path are also on the path of a leaf to the left of it (-1: none)."""
        low, high = self.offsets[words], self.offsets[words + 1]
        starts = low
        # Going down a path, the leaves below a node begin further right: search for the first that begins too far.
        for _ in range(int((high - low).max(initial=0)).bit_length()):
            middle = (low + high) >> 1
            shared = (middle < high) & (self.first[self.nodes[np.minimum(middle, high - 1)]] <= leaves)
            low, high = np.where(shared, middle + 1, low), np.where(shared, high, middle)
        return low - starts


@dataclass(frozen=True)
class RunShape:
    """How large runs may get: larger ones meet a node fewer times, smaller ones leave fewer places unused."""

    places: int  # H, most pairs; 255 at most
    mean_paths: float  # U, most nodes, in mean path lengths

    def most_nodes(self, path_lengths: Int32Array) -> int:
        """Return how many nodes a run of words with these paths may have: the longest path at least."""
        if not len(path_lengths):
            return 0
        wanted = max(self.mean_paths * float(path_lengths.mean()), float(path_lengths.max()))
        return _round_up(wanted, _NODES_MULTIPLE)


class Passing(NamedTuple):
    """Which places of a run pass a node: those before `middle` turn left there, the others right."""

    first: Int32Array
    middle: Int32Array
    end: Int32Array

    def numbers(self, places: int) -> Int32Array:
        """Return one number for all three, in runs of so many places; 0 if no place passes."""
        base = places + 1
        numbers: Int32Array = (self.first * base + self.middle) * base + self.end
        return numbers

    @classmethod
    def of(cls, numbers: Int32Array, places: int) -> Passing:
        """Return what was given these numbers."""
        base = places + 1
        return cls(numbers // base**2, numbers // base % base, numbers % base)


@dataclass(frozen=True)
class WayBack:
    """Where the gradients stand that go back to hidden vectors.

    There is one for every pair; or, if no hidden vector has several pairs, one for every hidden vector, so that there
    is nothing to add up.
    """

    places: Int32Array  # in its batch [runs * H], in the order of batches and hidden vectors
    splits: Int32Array  # [S + 1], places before each batch
    owners: Int32Array  # for each place the position of its hidden vector in its batch; none if every one has one place
    unowned: Int32Array  # [S], hidden vectors after the last owner


@dataclass(frozen=True)
class TreeRuns:
    """Pairs of a hidden vector and a word to predict, by run. H places and U nodes a run."""

    run_splits: Int32Array  # [S + 1], runs before each batch
    hidden: Int32Array  # [runs, H], position of the hidden vector in its batch; unused places 0
    nodes: Int32Array  # [runs, U], rows of the tree's table; unused ones 0
    passed: Int32Array  # [runs, U], the number of the `Passing` of each node; unused ones 0, passed by no place
    node_numbers: Int32Array  # [runs, U], the nodes' numbers among the distinct ones of their batch; unused ones 0
    node_segments: Segments
    back: WayBack


def arrange_pairs(
    hidden: Int64Array,
    words: Int32Array,
    batches: int,
    batch_tokens: int,
    tree: HuffmanTree,
    shape: RunShape,
    one_each: bool,
) -> TreeRuns:
    """Return pairs of hidden vectors and words to predict, arranged in runs.

    Parameters
    ----------
    hidden, words : ndarray
        Of each pair the position of its hidden vector in the block, ascending, and its word.
    batches, batch_tokens : int
        Batches in the block, and hidden vectors in each.
    one_each : bool
        Whether no hidden vector has more than one pair.
    """
    leaves = tree.leaf[words]
    if leaves.min(initial=0) < 0:  # words without a path
        pairs = np.flatnonzero(leaves >= 0)
        hidden, words, leaves = hidden[pairs], words[pairs], leaves[pairs]
    splits = np.searchsorted(hidden, np.arange(batches + 1) * batch_tokens).astype(np.int32)
    batch = np.repeat(np.arange(batches), np.diff(splits))
    owners = (hidden - batch * batch_tokens).astype(np.int32)
    order, leaves = _sort(splits, leaves)
    words = words[order]
    changes, new_nodes = _find_changes(splits, words, leaves, tree)
    lengths = tree.path_lengths()[words]
    starts, stops = _cut_into_runs(splits, new_nodes, lengths, shape)

    # Runs are numbered within their batch; a run's first pair brings its whole path.
    run_batch = batch[starts]
    runs = np.bincount(run_batch, minlength=batches)
    run_number = np.arange(len(starts)) - starts_of(runs)[run_batch]
    if one_each:  # one without pairs, whose last place is for the hidden vectors that have none
        runs += np.diff(splits) < batch_tokens
    runs = np.array([_recurring(max(count, 1)) for count in runs.tolist()])
    run_splits = starts_of(runs)
    place = np.arange(len(words)) + np.repeat(run_number * shape.places - starts, stops - starts)
    places = np.empty(len(words), dtype=np.int32)
    places[order] = place
    place += run_splits[batch] * shape.places  # now in the block
    grid = (int(run_splits[-1]), shape.places)

    changes[starts] = True
    new_nodes[starts] = lengths[starts]
    run_nodes = np.zeros(grid[0], dtype=np.int64)
    run_nodes[run_splits[run_batch] + run_number] = np.add.reduceat(new_nodes, starts)
    nodes, passed = _collect_nodes(_Paths.of(changes, new_nodes, words, starts, tree), run_nodes, tree, shape.places)
    by_batch, of_batch = _by_batch(nodes, runs)
    node_segments = sort_into_segments(by_batch.reshape(batches, -1))
    return TreeRuns(
        run_splits=run_splits.astype(np.int32),
        hidden=_spread(grid, place, owners[order]),
        nodes=np.maximum(nodes, 0),
        passed=passed,
        node_numbers=node_segments.numbers.reshape(by_batch.shape)[of_batch],
        node_segments=node_segments,
        back=_back_to_each(hidden, places, runs * shape.places - 1, batch_tokens)
        if one_each
        else _back_by_pair(owners, places, splits, batch_tokens),
    )


def _back_to_each(hidden: Int64Array, places: Int32Array, unused: Int64Array, batch_tokens: int) -> WayBack:
    """Return the way back with one place for every hidden vector, an unused one [S] for those without a pair."""
    every = np.repeat(unused.astype(np.int32), batch_tokens)
    every[hidden] = places
    batches = len(unused)
    splits = np.arange(batches + 1, dtype=np.int32) * np.int32(batch_tokens)
    return WayBack(every, splits, owners=np.zeros(0, np.int32), unowned=np.zeros(batches, np.int32))


def _back_by_pair(owners: Int32Array, places: Int32Array, splits: Int32Array, batch_tokens: int) -> WayBack:
    """Return the way back with a place for every pair."""
    paired = np.zeros(len(splits) - 1, dtype=np.int32)
    with_pairs = np.flatnonzero(np.diff(splits))
    paired[with_pairs] = owners[splits[with_pairs + 1] - 1] + 1
    return WayBack(places, splits, owners, unowned=batch_tokens - paired)


def _by_batch(nodes: Int32Array, runs: Int64Array) -> tuple[Int32Array, BoolArray]:
    """Return the nodes of each batch's runs [S, most runs, U], -1 after the last, and which of these runs there are.

    A batch without any node gets the first one, which nothing trains there: what no batch lacks can be gathered.
    """
    there = np.arange(runs.max(initial=0)) < runs[:, None]
    spread = np.full((*there.shape, nodes.shape[1]), -1, dtype=np.int32)
    spread[there] = nodes
    spread[(spread < 0).all(axis=(1, 2)), 0, 0] = 0
    return spread, there


def _spread(grid: tuple[int, int], places: Int64Array, values: Int32Array) -> Int32Array:
    """Return an array of this shape with values at some places of it and 0 at all others."""
    spread = np.zeros(grid, dtype=np.int32)
    spread.reshape(-1)[places] = values
    return spread


def _sort(splits: Int32Array, leaves: Int32Array) -> tuple[Int64Array, Int32Array]:
    """Return the order that sorts each batch's pairs by leaf, and the leaves in that order."""
    counts = np.diff(splits)
    grid = np.full((len(counts), int(counts.max(initial=0))), -1, dtype=np.int32)
    grid[np.arange(grid.shape[1]) < counts[:, None]] = leaves
    grid, order = sort_rows(grid)
    used = grid >= 0
    return order[used].astype(np.int64) + np.repeat(splits[:-1], counts), grid[used]


def _find_changes(
    splits: Int32Array, words: Int32Array, leaves: Int32Array, tree: HuffmanTree
) -> tuple[BoolArray, Int32Array]:
    """Return which pairs predict another word than the one before them in their batch, and how many nodes they add.

    These are the nodes of a pair's path that the pair before it does not pass.
    """
    changes = np.ones(len(words), dtype=bool)
    np.not_equal(words[1:], words[:-1], out=changes[1:])
    begins = splits[:-1][np.diff(splits) > 0]
    changes[begins] = True
    at = np.flatnonzero(changes)
    before = leaves[at - 1]
    before[np.searchsorted(at, begins)] = -1
    new_nodes = np.zeros(len(words), dtype=np.int32)
    new_nodes[at] = tree.path_lengths()[words[at]] - tree.count_shared(words[at], before)
    return changes, new_nodes


def _cut_into_runs(
    splits: Int32Array, new_nodes: Int32Array, lengths: Int32Array, shape: RunShape
) -> tuple[Int64Array, Int64Array]:
    """Return where runs start and stop: each takes as many pairs of its batch as the shape lets it."""
    pairs = len(new_nodes)
    # Nodes before each pair, after the last as many as no run may have.
    nodes_before = np.full(pairs + shape.places, np.iinfo(np.int32).max, dtype=np.int32)
    np.cumsum(new_nodes, out=nodes_before[:pairs])
    # Where a run would stop that starts at each pair; its first pair brings its whole path.
    most = nodes_before[:pairs] + shape.most_nodes(lengths) - lengths
    fit = np.zeros(pairs, dtype=np.uint8)
    for place in range(shape.places):
        fit += (nodes_before[place : place + pairs] <= most).view(np.uint8)
    stops = np.minimum(np.arange(pairs) + fit, np.repeat(splits[1:], np.diff(splits)))
    stop_of = memoryview(stops)  # reads one number in half the time that NumPy takes
    starts = [0]
    while starts[-1] < pairs:
        starts.append(stop_of[starts[-1]])
    return np.array(starts[:-1], dtype=np.int64), np.array(starts[1:], dtype=np.int64)


class _Paths(NamedTuple):
    """The different paths that are met going through a block's sorted pairs; every run begins with one."""

    pairs: Int32Array  # the first pair of each; last of all the number of pairs
    run_starts: Int32Array  # the first pair of its run
    node_starts: Int32Array  # where its nodes are in the tree's
    lengths: Int32Array
    new_nodes: Int32Array  # how many nodes, the last ones, each brings to its run

    @classmethod
    def of(
        cls, changes: BoolArray, new_nodes: Int32Array, words: Int32Array, starts: Int64Array, tree: HuffmanTree
    ) -> _Paths:
        """Return the paths of pairs, of which are given: whether it has another path, what that brings, and the word.

        `starts` are the first pairs of the runs.
        """
        pairs = np.flatnonzero(changes).astype(np.int32)
        in_run = np.diff(np.searchsorted(pairs, starts), append=len(pairs))
        return cls(
            pairs=np.append(pairs, np.int32(len(words))),
            run_starts=np.repeat(starts.astype(np.int32), in_run),
            node_starts=tree.offsets[words[pairs]],
            lengths=tree.path_lengths()[words[pairs]],
            new_nodes=new_nodes[pairs],
        )


def _collect_nodes(
    paths: _Paths, run_nodes: Int64Array, tree: HuffmanTree, places: int
) -> tuple[Int32Array, Int32Array]:
    """Return the nodes of each run of the block [runs, U], each once, unused places -1; and which places pass them.

    Parameters
    ----------
    run_nodes : ndarray
        How many nodes each run has, of all runs of the block.
    places : int
        Of a run.
    """
    bring = np.flatnonzero(paths.new_nodes)
    stops = paths.node_starts + paths.lengths
    source = _ranges((stops - paths.new_nodes)[bring], paths.new_nodes[bring])
    columns = _round_up(run_nodes.max(initial=1), _NODES_MULTIPLE)
    used = np.arange(columns) < run_nodes[:, None]
    nodes, passed = np.full(used.shape, -1, dtype=np.int32), np.zeros(used.shape, dtype=np.int32)
    nodes[used], passed[used] = tree.nodes[source], _find_passing(paths, source, tree, places).numbers(places)
    return nodes, passed


def _find_passing(paths: _Paths, source: Int64Array, tree: HuffmanTree, places: int) -> Passing:
    """Return which places of their runs pass the nodes that paths bring; `source` is where these are in the tree's."""
    path = np.repeat(np.arange(len(paths.new_nodes)), paths.new_nodes)
    leaving = _next_leaving((paths.lengths - paths.new_nodes)[1:], paths.lengths.max(initial=1), places)
    first_depths = np.arange(len(leaving)) * leaving.shape[1]  # in `leaving`, flattened
    next_path = path + leaving.reshape(-1)[source + (first_depths[: len(paths.lengths)] - paths.node_starts)[path]]
    firsts = (paths.pairs[:-1] - paths.run_starts)[path]
    ends = paths.pairs[next_path] - paths.run_starts[path]
    # Who turns left at a node passes the next one on this path, or finds the word there; those behind turn right.
    middles = np.empty_like(ends)
    middles[:-1] = ends[1:]
    bring = np.flatnonzero(paths.new_nodes)
    middles[np.cumsum(paths.new_nodes[bring]) - 1] = (paths.pairs[1:] - paths.run_starts)[bring]
    middles += (firsts - middles) * tree.codes[source]  # who turns right is the first to do so
    return Passing(firsts, middles, ends)


def _next_leaving(shared: Int32Array, depths: int, ahead: int) -> npt.NDArray[np.int16]:
    """Return how many paths further on is the first that has another node at a depth, as [paths, depths].

    Parameters
    ----------
    shared : ndarray
        For each path but the first how many nodes it shares with the one before it.
    ahead : int
        Among so many paths in a row there is one that shares nothing.
    """
    leaving = np.zeros((len(shared) + 1, depths), dtype=np.int16)
    np.greater(shared[:, None], np.arange(depths, dtype=np.int32), out=leaving[:-1], casting="unsafe")
    leaving *= _FAR
    leaving += np.int16(1)
    step = 1
    while step < ahead:
        leaving[:-step] = np.minimum(leaving[:-step], leaving[step:] + np.int16(step))
        step *= 2
    return leaving


def _ranges(starts: Int32Array, lengths: Int32Array) -> Int64Array:
    """Return the numbers ``start, start + 1, ...`` of each range, one after the other; no range may be empty."""
    steps = np.ones(int(lengths.sum()), dtype=np.int64)
    if len(starts):
        steps[0] = starts[0]
        steps[np.cumsum(lengths[:-1])] = starts[1:] - starts[:-1] - lengths[:-1] + 1
    return np.cumsum(steps, out=steps)


def _recurring(runs: int) -> int:
    """Return this number of runs rounded up to a multiple of a power of two that grows with it."""
    return _round_up(runs, 1 << (max(runs // _RUNS_ROUNDED_BY, 1).bit_length() - 1))


def _round_up(count: float, multiple: int) -> int:
    return math.ceil(count / multiple) * multiple


def _as_path(values: Any) -> Int64Array:
    """Return a stored code or path as an array; unset ones (None, or gensim's 0 for new words) are empty."""
    if values is None or np.isscalar(values):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(values, dtype=np.int64)

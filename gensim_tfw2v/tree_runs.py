"""A block's pairs of hidden vectors and words to predict, grouped so that neighbours in the tree share its nodes.

Pairs sorted by the leaf they predict share most of their nodes with their neighbours; a run of sorted pairs meets each
of its nodes once, in one small product. Those that pass a node stand side by side in the run, first those that turn
left there and then those that turn right, so that three places tell which do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.segments import Segments, sort_into_segments, sort_rows, starts_of
from gensim_tfw2v.tree import HuffmanTree
from gensim_tfw2v.tree_paths import Paths, collect_nodes

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_NODES_MULTIPLE = 8  # vector registers hold so many float32
# Each thread makes code for every new shape of a product, so that the same numbers of runs had better come again: they
# are rounded up by a sixteenth at most.
_RUNS_ROUNDED_BY = 16
MOST_PLACES = 32  # of a run


@dataclass(frozen=True)
class RunShape:
    """How large runs may get: larger ones meet a node fewer times, smaller ones leave fewer places unused."""

    places: int  # H, most pairs; `MOST_PLACES` at most
    mean_paths: float  # U, most nodes, in mean path lengths

    def most_nodes(self, path_lengths: Int32Array) -> int:
        """Return how many nodes a run of words with these paths may have: the longest path at least."""
        if not len(path_lengths):
            return 0
        wanted = max(self.mean_paths * float(path_lengths.mean()), float(np.max(path_lengths)))
        return _round_up(wanted, _NODES_MULTIPLE)


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
    if np.min(leaves, initial=0) < 0:  # words without a path
        pairs = np.flatnonzero(leaves >= 0)
        hidden, words, leaves = hidden[pairs], words[pairs], leaves[pairs]
    splits = np.searchsorted(hidden, np.arange(batches + 1) * batch_tokens).astype(np.int32)
    batch = np.repeat(np.arange(batches), np.diff(splits))
    owners = (hidden - batch * batch_tokens).astype(np.int32)
    order = _sort(splits, leaves)
    words = words[order]
    lengths = tree.path_lengths()[words]
    changes, new_nodes = _find_changes(splits, words, lengths, tree)
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
    columns = _round_up(int(np.max(run_nodes, initial=1)), _NODES_MULTIPLE)
    paths = Paths.of(changes, new_nodes, lengths, words, starts, tree)
    nodes, passed = collect_nodes(paths, run_nodes, columns, tree, shape.places)
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
    there = np.arange(np.max(runs, initial=0)) < runs[:, None]
    spread = np.full((*there.shape, nodes.shape[1]), -1, dtype=np.int32)
    spread[there] = nodes
    spread[(spread < 0).all(axis=(1, 2)), 0, 0] = 0
    return spread, there


def _spread(grid: tuple[int, int], places: Int64Array, values: Int32Array) -> Int32Array:
    """Return an array of this shape with values at some places of it and 0 at all others."""
    spread = np.zeros(grid, dtype=np.int32)
    spread.reshape(-1)[places] = values
    return spread


def _sort(splits: Int32Array, leaves: Int32Array) -> Int64Array:
    """Return the order that sorts each batch's pairs by leaf."""
    counts = np.diff(splits)
    grid = np.full((len(counts), int(counts.max(initial=0))), -1, dtype=np.int32)
    grid[np.arange(grid.shape[1]) < counts[:, None]] = leaves
    grid, order = sort_rows(grid)
    return order[grid >= 0].astype(np.int64) + np.repeat(splits[:-1], counts)


def _find_changes(
    splits: Int32Array, words: Int32Array, lengths: Int32Array, tree: HuffmanTree
) -> tuple[BoolArray, Int32Array]:
    """Return which pairs predict another word than the one before them in their batch, and how many nodes they add.

    These are the nodes of a pair's path that the pair before it does not pass.
    """
    changes = np.ones(len(words), dtype=bool)
    np.not_equal(words[1:], words[:-1], out=changes[1:])
    begins = splits[:-1][np.diff(splits) > 0]
    changes[begins] = True
    at = np.flatnonzero(changes)
    new_nodes = np.zeros(len(words), dtype=np.int32)
    new_nodes[at] = lengths[at] - tree.count_shared(words[at], words[at - 1])
    new_nodes[begins] = lengths[begins]
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


def _recurring(runs: int) -> int:
    """Return this number of runs rounded up to a multiple of a power of two that grows with it."""
    return _round_up(runs, 1 << (max(runs // _RUNS_ROUNDED_BY, 1).bit_length() - 1))


def _round_up(count: float, multiple: int) -> int:
    return math.ceil(count / multiple) * multiple

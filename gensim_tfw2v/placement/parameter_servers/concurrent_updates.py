"""What a block may add to rows that other blocks are trained on at the same time.

Blocks in flight start from about the same rows, so that each finds what the others find as well. Along a direction in
which the vectors that a row meets have the mean square λ, p pairs at learning rate η take the row the share
1 - exp(-a) of the way to where it would settle, with a about η s p λ, where s is the slope of the sigmoid. n such
blocks one after the other would take it 1 - exp(-n a) of the way; side by side they all start at the same place, and
the sum of their changes is n (1 - exp(-a)). So each change is scaled by the quotient of the two, direction by
direction. Rare words' rows keep nearly all of it; of what every block finds, 1 / n remains, above all along the
direction that all vectors have in common. Beyond the longest directions, one λ does for most rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array, Int32Array
from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.placement.parameter_servers.shared_rows import RowSharing
from gensim_tfw2v.steps.graph import Objective
from gensim_tfw2v.steps.settings import StepSettings


class HotRows(NamedTuple):
    """The rows that a block trains most, and common ones, of all its tables one after the other."""

    rows: Any  # [K], in the worker's matrix; of a table common rows come first, and then those trained most
    pulls: Any  # [K], η s p of each
    counts: Any  # [3], how many are of inputs, outputs, nodes
    concurrent_blocks: Any  # n, blocks that are trained at a time, this one included


HOT_ROWS = HotRows(
    tf.TensorSpec([None], tf.int32),
    tf.TensorSpec([None], tf.float32),
    tf.TensorSpec([3], tf.int32),
    tf.TensorSpec([], tf.float32),
)


def hot_rows_of(
    block: Block, rows: int, settings: StepSettings, rate: float, concurrent_blocks: int, common: Sequence[Int32Array]
) -> HotRows:
    """Return which of a worker's rows the block trains most; none if nobody else is at work and none is common.

    Parameters
    ----------
    block : Block
        With rows numbered as they are in the worker's matrix.
    rows : int
        In that matrix.
    rate : float
        The block's mean learning rate.
    common : sequence of ndarray
        Of inputs, outputs and nodes the common rows, which come first whatever they are trained.
    """
    if concurrent_blocks == 1 and not any(map(len, common)):
        return HotRows(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(3, np.int32), np.float32(1))
    found = [
        _most_trained(pairs, rate * slope, first)
        for pairs, slope, first in zip(_pairs_by_row(block, rows, settings), tuning.SLOPES, common, strict=True)
    ]
    numbers, pulls = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return HotRows(numbers, pulls, np.array([len(kept) for kept, _ in found], np.int32), np.float32(concurrent_blocks))


def _pairs_by_row(block: Block, rows: int, settings: StepSettings) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Return how many pairs train each row [U] as one of inputs, outputs and nodes, about."""
    pairs = float(block.pairs.sum())
    partners = 0.0  # of an input row in a pair
    outputs = nodes = np.zeros(rows, np.float32)
    if block.candidate_ids is not None:
        context_targets, drawn = np.split(block.candidate_ids, [-settings.shared_negatives], axis=2)
        targets = context_targets if block.target_ids is None else block.target_ids
        outputs = _shared_out(targets, pairs, rows) + _shared_out(drawn, pairs * settings.negative, rows)
        partners += 1 + settings.negative
    if block.tree is not None:
        tree = block.tree
        lengths = np.diff(tree.offsets)
        # Every place of the widened runs counts the same, as with the other rows.
        passes = np.repeat(_shared_out(tree.words, pairs, len(lengths)), lengths)
        nodes = np.bincount(tree.rows, passes, minlength=rows).astype(np.float32)
        partners += float(nodes.sum()) / max(pairs, 1.0)
    return _shared_out(block.input_ids, pairs * partners, rows), outputs, nodes


def _shared_out(ids: Int32Array, pairs: float, rows: int) -> Float32Array:
    """Return what each row gets of so many pairs if every place of `ids` gets the same."""
    return (np.bincount(ids.reshape(-1), minlength=rows) * (pairs / ids.size)).astype(np.float32)


def _most_trained(pairs: Float32Array, pull: float, first: Int32Array) -> tuple[Int32Array, Float32Array]:
    """Return the rows with most pairs, after those that are to come first, and the pull on each."""
    is_other = pairs > 0
    is_other[first] = False
    others = np.flatnonzero(is_other).astype(np.int32)
    limits = [limit - len(first) for limit in (tuning.ALL_PROBE_ROWS, tuning.MOST_HOT_ROWS)]
    limits = [limit for limit in limits if 0 < limit < len(others)]
    if limits:
        others = others[np.argpartition(-pairs[others], limits)[: tuning.MOST_HOT_ROWS - len(first)]]
    trained = np.concatenate([first, others])
    return trained, pairs[trained] * np.float32(pull)


class ConcurrentUpdates:
    """What a block may add, in the graph that trains it.

    It is told by vectors, those of the telling rows as they were when the part of the block began that is to be pushed:
    while they are young they grow many times over within a block, and with them what every other block finds as well.
    Directions that were found for an earlier part serve as long as the mean square of the vectors is about the same.

    Parameters
    ----------
    sharing : RowSharing
        The first rows of each table are pushed after every part of the block.
    """

    def __init__(self, hot_rows: HotRows, objective: Objective, sharing: RowSharing) -> None:
        used = [True, objective.negative_sampling, objective.hierarchical_softmax]
        self._tables = [table for table, is_used in enumerate(used) if is_used]
        self._sharing = sharing
        self._rivals = hot_rows.concurrent_blocks
        self._pulls = tf.split(hot_rows.pulls, hot_rows.counts, num=3)
        rows = tf.split(hot_rows.rows, hot_rows.counts, num=3)
        self.rows = [rows[table] for table in self._tables]  # [K] of each table in use
        self.shared_rows = tf.concat([of_table[: sharing.rows] for of_table in self.rows], 0)  # [T * H]
        telling = [tf.concat(_probes(of_table), 0) for of_table in rows]
        self.probe_rows = tf.concat(telling, 0)  # [S]
        self._probe_counts = tf.stack([tf.size(of_table) for of_table in telling])
        self._weights = [tf.concat(_weighted(*_probes(of_table)), 0) for of_table in self._pulls]  # of telling rows
        self._found = _nothing_found()

    def of_part(self, moves: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """Return the moves [T * H, D] of common rows in a part of the block as they may be added."""
        of_tables = tf.split(moves, len(self._tables))
        pulls = [self._pulls[table][: self._sharing.rows] / self._sharing.parts for table in self._tables]
        return tf.concat(self._scaled(of_tables, pulls, vectors), 0)

    def of_block(self, moves: Sequence[tf.Tensor], common: tf.Tensor, vectors: tf.Tensor) -> list[tf.Tensor]:
        """Return each table's moves [K, D] as they may be added; those of `common` rows [T * H, D] are a part's."""
        first, others = slice(None, self._sharing.rows), slice(self._sharing.rows, None)
        of_tables = zip(tf.split(common, len(self._tables)), moves, strict=True)
        both = [tf.concat([of_part, of_block[others]], 0) for of_part, of_block in of_tables]
        pulls = [self._pulls[table] for table in self._tables]
        pulls = [tf.concat([of_table[first] / self._sharing.parts, of_table[others]], 0) for of_table in pulls]
        return self._scaled(both, pulls, vectors)

    def _scaled(self, moves: Sequence[tf.Tensor], pulls: Sequence[tf.Tensor], vectors: tf.Tensor) -> list[tf.Tensor]:
        """Return what is kept of each table's moves of rows with these pulls."""
        self._found = self._found_for(vectors)
        of_outputs, of_inputs = self._found.of_outputs, self._found.of_inputs
        met = [of_outputs] + [of_inputs] * (len(self._tables) - 1)

        def kept() -> list[tf.Tensor]:
            of_tables = zip(moves, pulls, met, strict=True)
            return [_kept_of(*arguments, self._rivals) for arguments in of_tables]

        # A block alone may add all of it.
        scaled: list[tf.Tensor] = tf.cond(self._rivals > 1, kept, lambda: list(moves))
        return scaled

    def _found_for(self, vectors: tf.Tensor) -> _Found:
        """Return the directions of the telling rows: those that are known, if they may still serve."""
        of_tables = tf.split(vectors, self._probe_counts, num=3)
        squares = tf.stack([_mean_square(*of_table) for of_table in zip(of_tables, self._weights, strict=True)])
        before = self._found

        def find() -> _Found:
            outputs = self._tables[1:]
            of_outputs = (tf.concat([found[t] for t in outputs], 0) for found in (of_tables, self._weights))
            return _Found(squares, _directions(*of_outputs), _directions(of_tables[0], self._weights[0]))

        # Of numbers that are no longer finite nothing is the same.
        is_same = tf.reduce_all(tf.abs(squares - before.squares) <= tuning.NOTABLE_CHANGE * before.squares)
        found: _Found = tf.cond((self._rivals > 1) & ~is_same, find, lambda: before)
        return found


def _probes(of_table: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return what belongs to the rows of a table that tell directions: of the first all, of the others a sample."""
    return of_table[:tuning.ALL_PROBE_ROWS], of_table[tuning.ALL_PROBE_ROWS::tuning.EVERY_PROBE_ROW]


def _weighted(first: tf.Tensor, sample: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return first, sample * tuning.EVERY_PROBE_ROW


class _Directions(NamedTuple):
    """The longest of those in which vectors extend."""

    squares: tf.Tensor  # [L], mean squares along them
    directions: tf.Tensor  # [D, L]
    other_square: tf.Tensor  # mean square along any other


class _Found(NamedTuple):
    """Directions of the vectors that rows meet."""

    squares: tf.Tensor  # [3], mean squares of each table's telling rows, when they were found
    of_outputs: _Directions  # of outputs and nodes, which input rows meet
    of_inputs: _Directions  # which those meet


def _nothing_found() -> _Found:
    none = _Directions(tf.zeros([0]), tf.zeros([0, 0]), tf.zeros([]))
    return _Found(tf.fill([3], -1.0), none, none)  # which no vectors have


def _mean_square(vectors: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Return the mean square length of vectors [K, D] that are met so often [K]."""
    squares = tf.reduce_sum(tf.square(vectors), 1)
    return tf.math.divide_no_nan(tf.reduce_sum(weights * squares), tf.reduce_sum(weights))


def _directions(vectors: tf.Tensor, weights: tf.Tensor) -> _Directions:
    """Return the longest directions of vectors [K, D] that are met so often [K]."""
    shares = tf.math.divide_no_nan(weights, tf.reduce_sum(weights))
    moment = tf.matmul(vectors * shares[:, None], vectors, transpose_a=True)
    # Vectors that are no longer finite have no directions, and are for the user to find.
    moment = tf.where(tf.math.is_finite(moment), moment, 0.0)
    size = tf.shape(moment)[0]
    found = tf.minimum(size, tuning.DIRECTIONS)
    basis = tf.random.stateless_normal(tf.stack([size, found]), seed=(0, 0))
    for _ in range(tuning.POWER_ITERATIONS):
        basis = tf.linalg.qr(tf.matmul(moment, basis)).q
    within = tf.matmul(basis, tf.matmul(moment, basis), transpose_a=True)
    squares, turned = tf.linalg.eigh(within)
    others = tf.maximum(tf.linalg.trace(moment) - tf.reduce_sum(squares), 0.0)
    return _Directions(
        squares, tf.matmul(basis, turned), tf.math.divide_no_nan(others, tf.cast(size - found, tf.float32))
    )


def _kept_of(moves: tf.Tensor, pulls: tf.Tensor, met: _Directions, concurrent_blocks: tf.Tensor) -> tf.Tensor:
    """Return what is kept of the moves [K, D] of rows with pulls [K]."""
    along_others = _share_kept(pulls[:, None] * met.other_square, concurrent_blocks)
    shares = _share_kept(pulls[:, None] * met.squares, concurrent_blocks) - along_others
    along = tf.matmul(moves, met.directions) * shares
    return moves * along_others + tf.matmul(along, met.directions, transpose_b=True)


def _share_kept(settling: tf.Tensor, concurrent_blocks: tf.Tensor) -> tf.Tensor:
    """Return the share of a change that is kept, for each `a`."""
    alone = 1.0 - tf.exp(-tf.maximum(settling, tuning.NEGLIGIBLE_PULL))
    kept = (1.0 - tf.exp(-concurrent_blocks * settling)) / (concurrent_blocks * alone)
    return tf.where(settling > tuning.NEGLIGIBLE_PULL, kept, 1.0)

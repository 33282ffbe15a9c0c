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

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.batches import Block
from gensim_tfw2v.cluster.common_rows import Sharing
from gensim_tfw2v.placement import StepSettings
from gensim_tfw2v.steps import Objective
from gensim_tfw2v.tree_paths import Passing
from gensim_tfw2v.vocabulary import Float32Array, Int32Array

# s of the rows of inputs, outputs and nodes: the first two found by scores (`benchmarks/stale_blocks.py`), the third as
# the second.
SLOPES = (0.07, 0.05, 0.05)
# Of a table: the others move too little to overshoot. All of these tell the directions; those of the thousand rows
# trained most are others, and scores were half a point lower by them.
_MOST_ROWS = 3072
# Of these, rows whose changes are scaled along every direction. Those of others are along the longest alone, and by one
# share along the rest, where so little of them is lost that it grows as the mean square does.
_SCALED_IN_FULL = 256
_LONGEST = 8
_NEGLIGIBLE = 1e-4  # an `a` at which blocks side by side are as good as blocks one after the other


class Contested(NamedTuple):
    """The rows that a block trains most, and common ones, of all its tables one after the other."""

    rows: Any  # [K], in the worker's matrix; of a table common rows come first, and then those trained most
    pulls: Any  # [K], η s p of each
    counts: Any  # [3], how many are of inputs, outputs, nodes
    rivals: Any  # n, blocks that are trained at a time, this one included


CONTESTED = Contested(
    tf.TensorSpec([None], tf.int32),
    tf.TensorSpec([None], tf.float32),
    tf.TensorSpec([3], tf.int32),
    tf.TensorSpec([], tf.float32),
)


def contested_rows(
    block: Block, rows: int, settings: StepSettings, rate: float, rivals: int, common: Sequence[Int32Array]
) -> Contested:
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
    if rivals == 1 and not any(map(len, common)):
        return Contested(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(3, np.int32), np.float32(1))
    found = [
        _most_trained(pairs, rate * slope, first)
        for pairs, slope, first in zip(_pairs_by_row(block, rows, settings), SLOPES, common, strict=True)
    ]
    numbers, pulls = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return Contested(numbers, pulls, np.array([len(kept) for kept, _ in found], np.int32), np.float32(rivals))


def _pairs_by_row(block: Block, rows: int, settings: StepSettings) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Return how many pairs train each row [U] as one of inputs, outputs and nodes, about."""
    pairs = float(block.pairs.sum())
    partners = 0.0  # of an input row in a pair
    outputs = nodes = np.zeros(rows, np.float32)
    if block.candidate_ids is not None:
        targets, drawn = np.split(block.candidate_ids, [-settings.shared_negatives], axis=2)
        outputs = _shared_out(targets, pairs, rows) + _shared_out(drawn, pairs * settings.negative, rows)
        partners += 1 + settings.negative
    if block.tree_runs is not None:
        runs = block.tree_runs
        passing = Passing.of(runs.passed, runs.hidden.shape[1])
        passes = (passing.end - passing.first).reshape(-1)
        nodes = np.bincount(runs.nodes.reshape(-1), passes, minlength=rows).astype(np.float32)
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
    limits = [limit - len(first) for limit in (_SCALED_IN_FULL, _MOST_ROWS)]
    limits = [limit for limit in limits if 0 < limit < len(others)]
    if limits:
        others = others[np.argpartition(-pairs[others], limits)[: _MOST_ROWS - len(first)]]
    trained = np.concatenate([first, others])
    return trained, pairs[trained] * np.float32(pull)


class Rivalry:
    """What a block may add, in the graph that trains it.

    Vectors [K, D] are the contested rows as they were when the part of the block began that is to be pushed: while they
    are young they grow many times over within a block, and with them what every other block finds as well.

    Parameters
    ----------
    sharing : Sharing
        The first rows of each table are pushed after every part of the block.
    """

    def __init__(self, contested: Contested, objective: Objective, sharing: Sharing) -> None:
        used = [True, objective.negative_sampling, objective.hierarchical_softmax]
        self._tables = [table for table, is_used in enumerate(used) if is_used]
        self._sharing = sharing
        self._rivals = contested.rivals
        self._counts = contested.counts
        self._pulls = tf.split(contested.pulls, contested.counts, num=3)
        rows = tf.split(contested.rows, contested.counts, num=3)
        self.rows = contested.rows
        self.common_rows = tf.concat([rows[table][: sharing.rows] for table in self._tables], 0)  # [T * H]

    def of_part(self, change: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """Return the changes [T * H, D] of common rows in a part of the block as they may be added."""
        return self._unless_alone(lambda: self._common_scaled(change, vectors), change)

    def of_block(self, change: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """Return the changes [U, D] as they may be added; those of common rows are the last part's."""
        return self._unless_alone(lambda: self._all_scaled(change, vectors), change)

    def _unless_alone(self, scaled: Callable[[], tf.Tensor], change: tf.Tensor) -> tf.Tensor:
        # Looking for directions takes milliseconds, which a block alone need not spend.
        return tf.cond(self._rivals > 1, scaled, lambda: change)

    def _common_scaled(self, change: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        scaled = []
        moves_of_tables = tf.split(change, len(self._tables))
        for table, moves, met in zip(self._tables, moves_of_tables, self._met(vectors), strict=True):
            pulls = self._pulls[table][: self._sharing.rows] / self._sharing.parts
            scaled += self._scaled(moves, pulls, met)
        return tf.concat(scaled, 0)

    def _all_scaled(self, change: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        scaled = []
        moves_of_tables = tf.split(tf.gather(change, self.rows), self._counts, num=3)
        for table, met in zip(self._tables, self._met(vectors), strict=True):
            common, others = self._pulls[table][: self._sharing.rows], self._pulls[table][self._sharing.rows :]
            pulls = tf.concat([common / self._sharing.parts, others], 0)
            scaled += self._scaled(moves_of_tables[table], pulls, met)
        return tf.tensor_scatter_nd_update(change, self.rows[:, None], tf.concat(scaled, 0))

    def _scaled(self, moves: tf.Tensor, pulls: tf.Tensor, met: _Directions) -> list[tf.Tensor]:
        """Return what is kept of the moves [K, D] of a table's rows with pulls [K]: of the first, and of the others."""
        first, others = slice(None, _SCALED_IN_FULL), slice(_SCALED_IN_FULL, None)
        return [
            share_kept(moves[part], pulls[part, None], met, self._rivals)
            for part, share_kept in ((first, _along_each), (others, _along_the_longest))
        ]

    def _met(self, vectors: tf.Tensor) -> list[_Directions]:
        """Return for each table in use the directions of the vectors that its rows meet."""
        of_tables = tf.split(vectors, self._counts, num=3)
        outputs = self._tables[1:]
        of_outputs = _directions(*(tf.concat([found[t] for t in outputs], 0) for found in (of_tables, self._pulls)))
        return [of_outputs] + [_directions(of_tables[0], self._pulls[0])] * len(outputs)


class _Directions(NamedTuple):
    """Those in which vectors extend, the longest last."""

    squares: tf.Tensor  # [D], mean squares along them
    directions: tf.Tensor  # [D, D]


def _directions(vectors: tf.Tensor, weights: tf.Tensor) -> _Directions:
    """Return the directions of vectors [K, D] that are met so often [K]."""
    shares = tf.math.divide_no_nan(weights, tf.reduce_sum(weights))
    moment = tf.matmul(vectors * shares[:, None], vectors, transpose_a=True)
    # Vectors that are no longer finite have no directions, and are for the user to find.
    return _Directions(*tf.linalg.eigh(tf.where(tf.math.is_finite(moment), moment, 0.0)))


def _along_each(moves: tf.Tensor, pulls: tf.Tensor, met: _Directions, rivals: tf.Tensor) -> tf.Tensor:
    """Return what is kept of `moves` [K, D] of rows with pulls [K, 1]."""
    along = tf.matmul(moves, met.directions) * _kept(pulls * met.squares, rivals)
    return tf.matmul(along, met.directions, transpose_b=True)


def _along_the_longest(moves: tf.Tensor, pulls: tf.Tensor, met: _Directions, rivals: tf.Tensor) -> tf.Tensor:
    """Return about the same, with one share for all but the longest directions."""
    shorter, longest, directions = met.squares[:-_LONGEST], met.squares[-_LONGEST:], met.directions[:, -_LONGEST:]
    mean_square = tf.math.divide_no_nan(tf.reduce_sum(shorter), tf.cast(tf.size(shorter), tf.float32))
    along_shorter = _kept(pulls * mean_square, rivals)
    along = tf.matmul(moves, directions) * (_kept(pulls * longest, rivals) - along_shorter)
    return moves * along_shorter + tf.matmul(along, directions, transpose_b=True)


def _kept(settling: tf.Tensor, rivals: tf.Tensor) -> tf.Tensor:
    """Return the share of a change that is kept, for each `a`."""
    kept = (1.0 - tf.exp(-rivals * settling)) / (rivals * (1.0 - tf.exp(-tf.maximum(settling, _NEGLIGIBLE))))
    return tf.where(settling > _NEGLIGIBLE, kept, 1.0)

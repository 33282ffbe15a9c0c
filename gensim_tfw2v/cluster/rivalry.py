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

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.batches import Block
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
    """The rows that a block trains most, of all its tables one after the other."""

    rows: Any  # [K], in the worker's matrix; of a table those trained most come first
    pulls: Any  # [K], η s p of each
    counts: Any  # [3], how many are of inputs, outputs, nodes
    rivals: Any  # n, blocks that are trained at a time, this one included


CONTESTED = Contested(
    tf.TensorSpec([None], tf.int32),
    tf.TensorSpec([None], tf.float32),
    tf.TensorSpec([3], tf.int32),
    tf.TensorSpec([], tf.float32),
)


def contested_rows(block: Block, rows: int, settings: StepSettings, rate: float, rivals: int) -> Contested:
    """Return which of a worker's rows the block trains most; none if nobody else is at work.

    Parameters
    ----------
    block : Block
        With rows numbered as they are in the worker's matrix.
    rows : int
        In that matrix.
    rate : float
        The block's mean learning rate.
    """
    if rivals == 1:
        return Contested(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(3, np.int32), np.float32(1))
    found = [
        _most_trained(pairs, rate * slope)
        for pairs, slope in zip(_pairs_by_row(block, rows, settings), SLOPES, strict=True)
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


def _most_trained(pairs: Float32Array, pull: float) -> tuple[Int32Array, Float32Array]:
    """Return the rows with most pairs, and the pull on each."""
    trained = np.flatnonzero(pairs)
    limits = [limit for limit in (_SCALED_IN_FULL, _MOST_ROWS) if limit < len(trained)]
    if limits:
        trained = trained[np.argpartition(-pairs[trained], limits)[:_MOST_ROWS]]
    return trained.astype(np.int32), pairs[trained] * np.float32(pull)


def without_what_rivals_find(
    change: tf.Tensor, start: tf.Tensor, contested: Contested, objective: Objective
) -> tf.Tensor:
    """Return the changes [U, D] of rows that were `start` [U, D] as they may be added to what others add."""
    # Looking for directions takes milliseconds, which a block alone need not spend.
    return tf.cond(
        tf.size(contested.rows) > 0, lambda: _with_rows_scaled(change, start, contested, objective), lambda: change
    )


def _with_rows_scaled(change: tf.Tensor, start: tf.Tensor, contested: Contested, objective: Objective) -> tf.Tensor:
    """Return the changes with those of contested rows scaled."""
    rows = tf.split(contested.rows, contested.counts, num=3)
    pulls = tf.split(contested.pulls, contested.counts, num=3)
    used = [objective.negative_sampling, objective.hierarchical_softmax]
    meetings = [(0, [table for table, is_used in enumerate(used, 1) if is_used])]
    meetings += [(table, [0]) for table in meetings[0][1]]
    places, scaled = [], []
    for table, met in meetings:
        vectors = tf.gather(start, tf.concat([rows[other] for other in met], 0))
        directions = _directions(vectors, tf.concat([pulls[other] for other in met], 0))
        first, others = slice(None, _SCALED_IN_FULL), slice(_SCALED_IN_FULL, None)
        for part, share_kept in ((first, _along_each), (others, _along_the_longest)):
            places.append(rows[table][part])
            moves = tf.gather(change, places[-1])
            scaled.append(share_kept(moves, pulls[table][part, None], directions, contested.rivals))
    return tf.tensor_scatter_nd_update(change, tf.concat(places, 0)[:, None], tf.concat(scaled, 0))


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

"""Loss and gradient of a portion's block, at rows that do not move. The formulas are those of `steps.maths`.

A block's S batches of R runs are one list of runs here: nothing moves between batches. A few runs at a time are
computed, and their gradients added to a matrix [U, D] of the rows that the portion touches.

CBOW's gradient of a context is the gradient of the loss, in which the hidden vector is a mean. gensim's steps give each
context the hidden vector's whole gradient instead, which is the gradient of no loss.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from gensim_tfw2v.placement.lbfgs.portion import PortionRows
from gensim_tfw2v.placement.tasks.block import WorkerBlock
from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.rows import add_to_rows, private_variable
from gensim_tfw2v.steps.signature import BlockTensors, Objective, Rates

_NUMBERS_AT_ONCE = 2**20  # of candidate rows, which then stay in the cache


class PortionGradient(NamedTuple):
    """What one portion adds to the objective."""

    losses: tf.Tensor  # [S] float64, summed over the pairs of each batch
    gradient: tf.Tensor  # [U, D]


class _Runs(NamedTuple):
    """The fields of a block, for some of its runs."""

    left: tf.Tensor  # [n, B]
    right: tf.Tensor  # [n, B]
    inputs: tf.Tensor  # [n, B], or for CBOW [n, P]
    candidates: tf.Tensor  # [n, C]
    targets: tf.Tensor  # [n, B] for CBOW; else empty


_Part = tuple[tf.Tensor, list[tuple[tf.Tensor, tf.Tensor]]]
"""Losses of runs [n], and rows [n, ...] with their gradients [n, ..., D]."""


def portion_gradient(objective: Objective, portion: WorkerBlock, rows: tf.Tensor) -> PortionGradient:
    """Add loss and gradient of a portion to a graph, at these vectors [U, D], which the portion's ids number.

    Rows that stay where they are have the gradient 0.
    """
    block, rates = portion.block, portion.basics.rates
    own: PortionRows = portion.extra
    runs = _all_runs(block)
    count = tf.shape(runs.left)[0]
    numbers = tf.maximum(tf.shape(runs.candidates)[1] * tf.shape(rows)[1], 1)
    step = tf.maximum(_NUMBERS_AT_ONCE // numbers, 1)
    sums = private_variable(tf.zeros_like(rows))
    of_some = _skip_gram if objective.skip_gram else _cbow

    def add_some(first: tf.Tensor, losses: tf.Tensor, done: tf.Tensor) -> tuple[tf.Tensor, ...]:
        some = _Runs(*(values[first : first + step] for values in runs))
        of_runs, gradients = of_some(objective, some, block.window, rates, rows)
        ids = tf.concat([tf.reshape(of_rows, [-1]) for of_rows, _ in gradients], 0)
        changes = tf.concat([tf.reshape(values, [-1, tf.shape(rows)[1]]) for _, values in gradients], 0)
        with tf.control_dependencies([done]):
            added = add_to_rows(sums, ids, changes)
        losses = tf.concat([losses, tf.cast(of_runs, tf.float64)], 0)
        return first + step, losses, tf.ensure_shape(added, [])

    begin = (tf.constant(0), tf.zeros([0], tf.float64), tf.constant(0.0))
    invariants = (tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape([]))
    _, losses, done = tf.while_loop(
        lambda first, *_: first < count, add_some, begin, shape_invariants=invariants, parallel_iterations=1
    )
    with tf.control_dependencies([done]):
        found = tf.raw_ops.ReadVariableOp(resource=sums, dtype=tf.float32)
        moves = 1.0 - tf.scatter_nd(own.held[:, None], tf.ones([tf.size(own.held), 1]), [tf.shape(rows)[0], 1])
        gradient = found * moves
    with tf.control_dependencies([gradient]):
        freed = tf.raw_ops.DestroyResourceOp(resource=sums)
    with tf.control_dependencies([freed]):
        return PortionGradient(tf.reduce_sum(tf.reshape(losses, tf.shape(block.left)[:2]), 1), tf.identity(gradient))


def _all_runs(block: BlockTensors) -> _Runs:
    shape = tf.shape(block.left)
    runs = shape[0] * shape[1]

    def of_runs(values: tf.Tensor) -> tf.Tensor:
        # Arrays that the objective does not use are empty, and runs have empty parts of them.
        width = tf.shape(values)[2]
        return tf.reshape(values, [tf.where(tf.size(values) > 0, runs, 0), width])

    return _Runs(*map(of_runs, (block.left, block.right, block.inputs, block.candidates, block.targets)))


def _skip_gram(objective: Objective, runs: _Runs, window: tf.Tensor, rates: Rates, rows: tf.Tensor) -> _Part:
    """Return the part of runs whose words predict their contexts, against shared negatives."""
    shared, negative = rates.shared_negatives, rates.negative
    mask = maths.window_mask(runs.left, runs.right, window, rates.radius_chance)
    weights = maths.skip_gram_weights(mask, shared, negative)
    if objective.mask_accidental_hits:
        weights = maths.without_accidental_hits(weights, runs.candidates, shared, negative)
    hidden, candidates = tf.gather(rows, runs.inputs), tf.gather(rows, runs.candidates)
    labels = maths.skip_gram_labels(tf.shape(runs.candidates)[1], shared)
    score = maths.scores(hidden, candidates)
    gradient = maths.sampling_gradient(score, labels, weights)
    losses = maths.sampling_loss(score, labels, weights)
    return tf.reduce_sum(losses, 1), [
        (runs.inputs, maths.back_to_rows(gradient, candidates)),
        (runs.candidates, maths.back_to_columns(gradient, hidden)),
    ]


def _cbow(objective: Objective, runs: _Runs, window: tf.Tensor, rates: Rates, rows: tf.Tensor) -> _Part:
    """Return the part of runs whose contexts predict their words, each against the run's negatives."""
    windows = runs.left, runs.right, window, rates.radius_chance
    mask, shares = maths.window_mask(*windows), maths.window_shares(*windows)
    weights, _ = maths.context_weights(mask, shares, objective.mean_context)
    contexts, targets, negatives = (tf.gather(rows, ids) for ids in (runs.inputs, runs.targets, runs.candidates))
    hidden = tf.matmul(weights, contexts)
    has_context = tf.cast(runs.left + runs.right > 0, tf.float32)
    own = tf.reduce_sum(hidden * targets, -1)
    own_gradient = maths.sampling_gradient(own, tf.ones([]), has_context)
    counts = maths.negative_weight(rates.shared_negatives, rates.negative) * has_context[..., None]
    if objective.mask_accidental_hits:
        counts *= tf.cast(tf.not_equal(runs.targets[..., :, None], runs.candidates[..., None, :]), tf.float32)
    drawn = maths.scores(hidden, negatives)
    drawn_gradient = maths.sampling_gradient(drawn, tf.zeros([]), counts)
    losses = has_context * tf.nn.softplus(-own) + maths.sampling_loss(drawn, tf.zeros([]), counts)
    of_hidden = own_gradient[..., None] * targets + maths.back_to_rows(drawn_gradient, negatives)
    return tf.reduce_sum(losses, 1), [
        (runs.inputs, tf.matmul(weights, of_hidden, transpose_a=True)),
        (runs.targets, own_gradient[..., None] * hidden),
        (runs.candidates, maths.back_to_columns(drawn_gradient, hidden)),
    ]

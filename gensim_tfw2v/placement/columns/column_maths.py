"""The mathematics of a batch in two halves: servers multiply columns, workers use the sums over all columns.

It is skip-gram with negative sampling as in `steps.maths`, whose names and axes are used here. A token has products
with the V = 2 * window places around it and with its run's K negatives. A batch takes four messages:

    server → worker   products     [R, B, V + K]   over the server's columns
    worker → server   gradients    [R, B, V + K]   of the scores, which are the sums of all servers' products
    server → worker   squares      [U]             of the gradient of each row that moves, over the server's columns
    worker → server   rates        [U]             the step of each of these rows, limited by its sum of squares
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.placement.columns.column_blocks import ColumnBlock, ServerBatch
from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.kernel import kernel

# -- what a server computes with its columns ---------------------------------------------------------------------------


class OfTables(NamedTuple):
    """A value for each of the two tables."""

    inputs: Any
    outputs: Any


def batch_rows(columns: OfTables, batch: ServerBatch) -> OfTables:
    """Return a batch's rows as they are now, [R, B, C] and [R, P + K, C], given the memory [rows, C] of the tables."""

    def gather(table: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
        found = kernel().read_rows(table=table, rows=tf.reshape(ids, [-1]), T=tf.float32)
        shape = tf.concat([tf.shape(ids)[1:], tf.shape(found)[1:]], 0)
        return tf.ensure_shape(tf.reshape(found, shape), [None, None, None])

    return OfTables(gather(columns.inputs, batch.inputs), gather(columns.outputs, batch.candidates))


def products(rows: OfTables, window: tf.Tensor) -> tf.Tensor:
    """Return the products [R, B, V + K] of each token with the places around it and the negatives."""
    places = tf.shape(rows.inputs)[1] + 2 * window
    scores = maths.scores(rows.inputs, rows.outputs)
    return tf.concat([around_tokens(scores[..., :places], window), scores[..., places:]], -1)


def row_gradients(rows: OfTables, batch: ServerBatch, gradients: tf.Tensor) -> OfTables:
    """Return the gradients [n, C] of the rows that a batch moves, from those of its scores [R, B, V + K]."""
    near = 2 * batch.window
    of_runs = tf.concat([in_widened_run(gradients[..., :near], batch.window), gradients[..., near:]], -1)
    of_tokens = maths.back_to_rows(of_runs, rows.outputs)
    of_candidates = maths.back_to_columns(of_runs, rows.inputs)
    return OfTables(
        _summed(of_tokens, batch.input_order, batch.input_sums),
        _summed(of_candidates, batch.output_order, batch.output_sums),
    )


def _summed(gradients: tf.Tensor, order: tf.Tensor, sums: tf.Tensor) -> tf.Tensor:
    """Return the sum of the gradients [R, N, C] of each row."""
    of_places = tf.reshape(gradients, [-1, tf.shape(gradients)[-1]])
    return tf.raw_ops.SparseSegmentSum(data=of_places, indices=order, segment_ids=sums)


def squares_of(gradients: OfTables) -> tf.Tensor:
    """Return the sum of squares [U] of each row."""
    return tf.concat([tf.reduce_sum(tf.square(of_table), -1) for of_table in gradients], 0)


def move_rows(
    columns: OfTables, batch: ServerBatch, gradients: OfTables, rates: tf.Tensor, is_wanted: tf.Tensor
) -> list[tf.Tensor]:
    """Move the rows of a batch by steps with these rates [U], or none of them; return the operations."""
    moved = []
    tables = zip(
        columns,
        (batch.input_rows, batch.output_rows),
        gradients,
        tf.split(rates, [tf.size(batch.input_rows), tf.size(batch.output_rows)], num=2),
        strict=True,
    )
    for memory, rows, of_table, own_rates in tables:
        count = tf.where(is_wanted, tf.size(rows), 0)
        # A rate of 0 gives no change, whatever the gradient is.
        changes = tf.math.multiply_no_nan(of_table, -own_rates[:, None])[:count]
        moved.append(kernel().add_rows(table=memory, rows=rows[:count], changes=changes))
    return moved


# -- what a worker computes from sums over all columns -----------------------------------------------------------------


def score_gradients(
    block: ColumnBlock, batch: tf.Tensor, scores: tf.Tensor, mask_hits: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the gradients [R, B, V + K] of a batch's scores, and its loss, 0 if it is not measured."""
    weights = _pair_weights(block, batch)
    if mask_hits:
        weights = _without_hits(block, batch, weights)
    labels = maths.skip_gram_labels(tf.shape(scores)[-1], block.basics.rates.shared_negatives)
    loss = tf.reduce_sum(maths.sampling_loss(scores, labels, weights))
    measured = block.basics.rates.measured[batch]
    return maths.sampling_gradient(scores, labels, weights), tf.where(measured, loss, 0.0)


def _pair_weights(block: ColumnBlock, batch: tf.Tensor) -> tf.Tensor:
    """Return how often each pair [R, B, V + K] counts."""
    by_distance = maths.reach_chances(block.window, block.basics.rates.radius_chance)
    distances = tf.range(1, block.window + 1)
    after = by_distance * tf.cast(distances <= block.right[batch][..., None], tf.float32)
    before = by_distance * tf.cast(distances <= block.left[batch][..., None], tf.float32)
    contexts = tf.concat([tf.reverse(before, [-1]), after], -1)
    return maths.skip_gram_weights(contexts, block.basics.rates.shared_negatives, block.basics.rates.negative)


def _without_hits(block: ColumnBlock, batch: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Return the weights without negatives that equal the context."""
    near, shared = 2 * block.window, block.basics.rates.shared_negatives
    of_runs = tf.concat([in_widened_run(weights[..., :near], block.window), weights[..., near:]], -1)
    masked = maths.without_accidental_hits(of_runs, block.candidates[batch], shared, block.basics.rates.negative)
    return tf.concat([weights[..., :near], masked[..., -shared:]], -1)


def steps_of(block: ColumnBlock, batch: tf.Tensor, squares: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return the rates [U] of the rows' steps, and how many rows take a step and how many steps are clipped.

    `squares` [U] are the sums of squares of the rows' gradients. A refused step has the rate 0, and makes both counts
    NaN.
    """
    rate, longest = block.basics.rates.learning_rates[batch], block.basics.rates.max_step
    lengths = tf.sqrt(squares)
    is_long = rate * lengths > longest
    locks = block.basics.rates.lock_factors
    input_rows = block.input_rows[block.input_ends[batch] : block.input_ends[batch + 1]]
    input_factors = tf.gather(locks, input_rows % tf.size(locks))
    factors = tf.concat([input_factors, tf.ones([tf.size(squares) - tf.size(input_factors)])], 0)
    rates = tf.where(is_long, longest / lengths, rate) * factors
    is_taken = tf.abs(rates) * lengths <= maths.LONGEST_STEP  # False if it is NaN
    touched = tf.where(tf.reduce_all(is_taken), tf.cast(tf.size(squares), tf.float32), float("nan"))
    clipped = tf.math.count_nonzero(is_long, dtype=tf.float32)
    return tf.where(is_taken, rates, 0.0), touched, clipped + 0.0 * touched


# -- places around tokens ----------------------------------------------------------------------------------------------


def around_tokens(values: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Return, out of values [R, B, P], those at the 2 * window places around each token [R, B, V], without its own."""
    runs, tokens = tf.unstack(tf.shape(values)[:2])
    # Making each line one number longer shifts the places around every token to the same columns.
    longer = tokens + 2 * window + 1
    lines = tf.pad(tf.reshape(values, [runs, -1]), [[0, 0], [0, tokens]])
    shifted = tf.reshape(lines, [runs, tokens, longer])
    return tf.concat([shifted[..., :window], shifted[..., window + 1 : 2 * window + 1]], -1)


def in_widened_run(values: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Return the values [R, B, V] around tokens, moved to their places in the widened run [R, B, P], 0 elsewhere."""
    runs, tokens = tf.unstack(tf.shape(values)[:2])
    places = tokens + 2 * window
    own = tf.zeros([runs, tokens, 1])
    shifted = tf.concat([values[..., :window], own, values[..., window:], tf.zeros([runs, tokens, tokens])], -1)
    lines = tf.reshape(shifted, [runs, -1])
    return tf.reshape(lines[:, : tokens * places], [runs, tokens, places])

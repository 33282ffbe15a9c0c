"""Gradients → bounded steps of table rows.

Summing what thousands of pairs ask of one row, all computed from the same version of it, overshoots where as many
steps one after the other would have settled. So the sum over a batch is taken as one step whose length is bounded.
"""

from __future__ import annotations

import tensorflow as tf


def sum_segments(gradients: tf.Tensor, order: tf.Tensor, segment: tf.Tensor) -> tf.Tensor:
    """Return the sums [U, D] of the rows of `gradients` [N, D] that belong to the same table row.

    A gather followed by a sorted segment sum takes about half the time of TensorFlow's fused sparse_segment_sum on
    rows of this length, and a third of unsorted_segment_sum's (``benchmarks/operations.py``). Sums are float32,
    whatever the gradients are.
    """
    return tf.math.segment_sum(tf.cast(tf.gather(gradients, order), tf.float32), segment)


def bounded_steps(
    gradients: tf.Tensor, learning_rate: tf.Tensor, bound: tf.Tensor, factors: tf.Tensor | None = None
) -> tf.Tensor:
    """Return `learning_rate` times each row of `gradients` [U, D], shortened to length `bound` where it is longer.

    `factors` [U] scale the finished steps.
    """
    # A row that asks for no step at all stays where it is, whatever the rate.
    rate = tf.minimum(learning_rate, tf.math.divide_no_nan(bound, _lengths(gradients)))
    if factors is not None:
        rate *= factors
    return gradients * tf.expand_dims(rate, 1)


def count_bounded(gradients: tf.Tensor, learning_rate: tf.Tensor, bound: tf.Tensor) -> tf.Tensor:
    """Return how many rows of `gradients` [U, D] ask for a step longer than `bound`, as a float."""
    return tf.reduce_sum(tf.cast(_lengths(gradients) * learning_rate > bound, tf.float32))


def _lengths(gradients: tf.Tensor) -> tf.Tensor:
    """Return the length of each row: in one pass, half the time of squaring and summing."""
    return tf.raw_ops.EuclideanNorm(input=gradients, axis=1)

"""CBOW's contexts in TensorFlow's own operations: one product of matrices sums the rows of a run, or its gradients."""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.plain.rows import StepLimits, gather_rows, move_places


class _Run(NamedTuple):
    """The contexts of a batch's tokens."""

    ids: tf.Tensor  # [R, P], rows of the widened runs
    inside: tf.Tensor  # [R, B, P], 1 where a place is within a token's reach and not its own


def sum_contexts(
    table: tf.Tensor,
    ids: tf.Tensor,
    left: tf.Tensor,
    right: tf.Tensor,
    batch: tf.Tensor,
    weights: tf.Tensor,
    adagrad: bool = False,
) -> tf.Tensor:
    """Return hidden vectors [R, B, D]: sums of context rows, by their weights [R, B, P]."""
    inside = _run(ids, left, right, batch).inside
    return tf.matmul(inside * weights, gather_rows(table, ids, batch, adagrad=adagrad))


def move_contexts(
    table: tf.Tensor,
    ids: tf.Tensor,
    left: tf.Tensor,
    right: tf.Tensor,
    batch: tf.Tensor,
    weights: tf.Tensor,
    gradients: tf.Tensor,
    rate: tf.Tensor,
    max_step: tf.Tensor,
    factors: tf.Tensor,
    adagrad: bool = False,
) -> tf.Tensor:
    """Move context rows against the weighted gradients of hidden vectors; return touched and clipped rows."""
    run = _run(ids, left, right, batch)
    shares = run.inside * weights
    return _move(table, run, shares, gradients, StepLimits(rate, max_step, factors), adagrad)


def sum_even_contexts(
    table: tf.Tensor,
    ids: tf.Tensor,
    left: tf.Tensor,
    right: tf.Tensor,
    batch: tf.Tensor,
    mean: bool,
    adagrad: bool = False,
) -> tf.Tensor:
    """Return hidden vectors [R, B, D] where all contexts of a token have the same weight."""
    inside = _run(ids, left, right, batch).inside
    weights = _shares(inside) if mean else inside
    return tf.matmul(weights, gather_rows(table, ids, batch, adagrad=adagrad))


def move_even_contexts(
    table: tf.Tensor,
    ids: tf.Tensor,
    left: tf.Tensor,
    right: tf.Tensor,
    batch: tf.Tensor,
    mean: bool,
    gradients: tf.Tensor,
    rate: tf.Tensor,
    max_step: tf.Tensor,
    factors: tf.Tensor,
    adagrad: bool = False,
) -> tf.Tensor:
    """Move context rows against the gradients of such hidden vectors; return touched and clipped rows."""
    run = _run(ids, left, right, batch)
    shares = run.inside if mean else _shares(run.inside)
    return _move(table, run, shares, gradients, StepLimits(rate, max_step, factors), adagrad)


def _run(ids: tf.Tensor, left: tf.Tensor, right: tf.Tensor, batch: tf.Tensor) -> _Run:
    reach = tf.gather(left, batch), tf.gather(right, batch)
    window = (tf.shape(ids)[-1] - tf.shape(left)[-1]) // 2
    return _Run(tf.gather(ids, batch), maths.places_inside(*reach, window))


def _shares(inside: tf.Tensor) -> tf.Tensor:
    """Return each context's share of its token, equal for all contexts of the token."""
    return tf.math.divide_no_nan(inside, tf.reduce_sum(inside, -1, keepdims=True))


def _move(
    table: tf.Tensor, run: _Run, shares: tf.Tensor, gradients: tf.Tensor, limits: StepLimits, adagrad: bool
) -> tf.Tensor:
    of_places = tf.matmul(shares, gradients, transpose_a=True)
    is_context = tf.reduce_any(run.inside > 0, axis=1)
    return move_places(table, tf.where(is_context, run.ids, -1), of_places, limits, adagrad)

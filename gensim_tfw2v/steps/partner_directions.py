"""The directions in which the vectors that rows are trained against, their partners, are longest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from gensim_tfw2v import tuning


class Directions(NamedTuple):
    """The directions in which vectors are longest."""

    squares: tf.Tensor  # [L], mean squares along them
    directions: tf.Tensor  # [D, L]
    other_square: tf.Tensor  # mean square along any other direction


def probes_of(of_table: tf.Tensor) -> tf.Tensor:
    """Return the values of a table's probe rows: all of its first hot rows, and a sample of the next ones."""
    return tf.concat([of_table[: tuning.ALL_PROBE_ROWS], of_table[_sample()]], 0)


def weights_of_probes(strengths: tf.Tensor) -> tf.Tensor:
    """Return the weights of a table's probe rows, given the strengths of its hot rows."""
    return tf.concat([strengths[: tuning.ALL_PROBE_ROWS], strengths[_sample()] * tuning.EVERY_PROBE_ROW], 0)


def _sample() -> slice:
    return slice(tuning.ALL_PROBE_ROWS, tuning.MOST_PROBED_ROWS, tuning.EVERY_PROBE_ROW)


def partner_directions(
    probes: Sequence[tf.Tensor], weights: Sequence[tf.Tensor], used: Sequence[int], moment_weights: tf.Tensor
) -> tuple[Directions, Directions]:
    """Return the directions of inputs' partners, and of the others'.

    Parameters
    ----------
    probes, weights : sequence of tensor
        Vectors [S, D] of each table's probe rows, and their weights [S].
    used : sequence of int
        The tables that the objective uses.
    """
    of_outputs = (tf.concat([found[table] for table in used[1:]], 0) for found in (probes, weights))
    moment, mean = _moments(probes[0], weights[0])
    mean_moment = tf.matmul(mean, mean, transpose_a=True)
    of_contexts = moment_weights[0] * moment + moment_weights[1] * mean_moment
    return _directions(_moments(*of_outputs)[0]), _directions(of_contexts)


def _moments(vectors: tf.Tensor, weights: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the second moment [D, D] and the mean [1, D] of vectors [K, D] with these weights [K]."""
    shares = tf.math.divide_no_nan(weights, tf.reduce_sum(weights))
    weighted = vectors * shares[:, None]
    return tf.matmul(weighted, vectors, transpose_a=True), tf.reduce_sum(weighted, 0, keepdims=True)


def _directions(moment: tf.Tensor) -> Directions:
    """Return the longest directions of vectors with this second moment [D, D]."""
    # Squares of very long vectors overflow. The steps show whether training diverges (`training/divergence`).
    moment = tf.where(tf.math.is_finite(moment), moment, 0.0)
    size = tf.shape(moment)[0]
    count = tf.minimum(size, tuning.DIRECTIONS)
    basis = tf.random.stateless_normal(tf.stack([size, count]), seed=(0, 0))
    for _ in range(tuning.POWER_ITERATIONS):
        basis = tf.linalg.qr(tf.matmul(moment, basis)).q
    within = tf.matmul(basis, tf.matmul(moment, basis), transpose_a=True)
    squares, turned = tf.linalg.eigh(within)
    others = tf.maximum(tf.linalg.trace(moment) - tf.reduce_sum(squares), 0.0)
    return Directions(
        squares, tf.matmul(basis, turned), tf.math.divide_no_nan(others, tf.cast(size - count, tf.float32))
    )

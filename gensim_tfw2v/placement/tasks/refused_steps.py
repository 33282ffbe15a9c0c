"""Steps that would have been NaN or infinite, in graphs: whether a block had some, and which word it moved most."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics


def is_finite(batches: BatchMetrics) -> tf.Tensor:
    """Return whether no step of these batches was refused."""
    return tf.reduce_all(tf.math.is_finite(batches.losses + batches.touched_rows))


def nothing_moved() -> tf.Tensor:
    """Return the value of `BlockReport.most_moved` where it is not requested."""
    return tf.constant([-1.0, 0.0], tf.float64)


def most_moved(batches: BatchMetrics, changes: Callable[[], tuple[tf.Tensor, tf.Tensor]]) -> tf.Tensor:
    """Return the word that moved most and how far [2] if steps were refused, otherwise -1 and 0.

    Parameters
    ----------
    changes : callable
        Returns words [U] and the change [U, D] of a vector of each.
    """

    def found() -> tf.Tensor:
        words, vectors = changes()
        squares = tf.reduce_sum(tf.square(tf.cast(vectors, tf.float64)), 1)
        place = tf.argmax(squares)
        return tf.stack([tf.cast(words[place], tf.float64), tf.sqrt(squares[place])])

    moved: tf.Tensor = tf.cond(is_finite(batches), nothing_moved, found)
    return moved

"""The cumulative distribution of words → negatives, each drawn on its own as gensim draws them."""

from __future__ import annotations

import tensorflow as tf

from gensim_tfw2v.steps.draws.streams import whole_numbers


def draw_negatives(cumulative: tf.Tensor, size: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Return the ids [size] of drawn words, int64."""
    drawn = whole_numbers(tf.expand_dims(size, 0), seed, tf.constant(0), cumulative[-1])
    found = tf.raw_ops.LowerBound(sorted_inputs=cumulative[None], values=drawn[None], out_type=tf.int64)
    return tf.reshape(found, [-1])

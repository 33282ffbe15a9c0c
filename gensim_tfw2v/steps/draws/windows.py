"""Kept words → the number of contexts on both sides of each, and the pairs of each batch."""

from __future__ import annotations

import tensorflow as tf

from gensim_tfw2v.steps.draws.signature import DrawTables
from gensim_tfw2v.steps.draws.streams import whole_numbers
from gensim_tfw2v.steps.draws.subsampling import KeptWords


def draw_reaches(kept: KeptWords, tables: DrawTables, seed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the number of contexts before and after each word [k], within its sentence and a radius of its own."""
    radius = whole_numbers(tf.shape(kept.ids), seed, tables.least_radius, tables.window + 1)
    return tf.minimum(radius, kept.before), tf.minimum(radius, kept.after)


def count_pairs(
    left: tf.Tensor, right: tf.Tensor, weights: tf.Tensor | None, expected_pairs: tf.Tensor | None
) -> tf.Tensor:
    """Return the pairs of each batch, float64 [S], given the numbers of contexts and the weights [S, R, B] of tokens.

    Parameters
    ----------
    expected_pairs : tensor or None
        As `DrawTables` has it. None: a token with contexts is one pair, as in CBOW.
    """
    if expected_pairs is None:
        of_tokens = tf.cast(left + right > 0, tf.float32)
    else:
        of_tokens = tf.gather(expected_pairs, left) + tf.gather(expected_pairs, right)
    if weights is not None:
        of_tokens *= weights
    return tf.reduce_sum(tf.cast(of_tokens, tf.float64), [1, 2])

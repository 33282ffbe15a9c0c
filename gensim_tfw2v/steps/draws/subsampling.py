"""The words of a chunk → those that subsampling keeps, with their places in what is left of their sentences.

A GPU has no running sums of whole numbers. So where sentences begin and end among the kept words is looked up, by
bisection, in the sorted places of these words.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps.draws.signature import ChunkTensors
from gensim_tfw2v.steps.draws.streams import fractions


class KeptWords(NamedTuple):
    """The words [k] that are trained, in their order."""

    ids: tf.Tensor  # int64
    before: tf.Tensor  # int64, kept words of the same sentence before each
    after: tf.Tensor  # int64, the same after each
    weights: tf.Tensor  # float32, of their sentences; empty if all are 1


def subsample(chunk: ChunkTensors, keep: tf.Tensor, seed: tf.Tensor, weighted: bool) -> KeptWords:
    """Return the words of a chunk, each kept at its probability, without sentences of weight 0.

    Parameters
    ----------
    keep : tensor
        The probability of each word, or of all words.
    """
    ids, ends = (tf.cast(tf.bitcast(numbers, tf.int32), tf.int64) for numbers in (chunk.words, chunk.ends))
    last = tf.cast(tf.size(keep) - 1, tf.int64)
    is_kept = fractions(tf.size(ids), seed) < tf.gather(keep, tf.minimum(ids, last))
    if weighted:
        sentences = _sentences_of(tf.range(tf.size(ids, tf.int64), dtype=tf.int64), ends)
        is_kept = tf.logical_and(is_kept, tf.gather(chunk.weights, sentences) > 0)
    places = tf.reshape(tf.where(is_kept), [-1])
    sentences = _sentences_of(places, ends)
    # Kept words before the beginning of each sentence, and those of the whole chunk.
    bounds = _lower_bounds(places, tf.concat([tf.zeros([1], tf.int64), ends], 0))
    numbers = tf.range(tf.size(places, tf.int64), dtype=tf.int64)
    return KeptWords(
        tf.gather(ids, places),
        numbers - tf.gather(bounds, sentences),
        tf.gather(bounds, sentences + 1) - 1 - numbers,
        tf.gather(chunk.weights, sentences) if weighted else tf.zeros([0]),
    )


def _sentences_of(places: tf.Tensor, ends: tf.Tensor) -> tf.Tensor:
    """Return the number of the sentence that each word is in, given the words' places in the chunk."""
    found = tf.raw_ops.UpperBound(sorted_inputs=ends[None], values=places[None], out_type=tf.int64)
    return tf.reshape(found, [-1])


def _lower_bounds(places: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Return how many places are below each value."""
    found = tf.raw_ops.LowerBound(sorted_inputs=places[None], values=values[None], out_type=tf.int64)
    return tf.reshape(found, [-1])

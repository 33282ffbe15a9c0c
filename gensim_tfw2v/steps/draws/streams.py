"""Streams of random numbers: each purpose has its own, which follows from a chunk's entropy alone.

TensorFlow's stateless operations draw them by the Philox generator, which gives the same numbers on CPUs and GPUs.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Int32Array


class Purpose(enum.IntEnum):
    """What random numbers are drawn for."""

    SUBSAMPLING = 0
    RADII = 1
    NEGATIVES = 2


def seeds_of(entropy: Sequence[int]) -> Int32Array:
    """Return the seeds [3, 2] of all purposes."""
    words = np.random.SeedSequence(list(entropy)).generate_state(2 * len(Purpose), np.uint32)
    return words.view(np.int32).reshape(len(Purpose), 2)


def fractions(size: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Return float32 numbers [size] of at least 0 and below 1."""
    return tf.random.stateless_uniform(tf.expand_dims(size, 0), seed)


def whole_numbers(shape: tf.Tensor, seed: tf.Tensor, least: tf.Tensor, end: tf.Tensor) -> tf.Tensor:
    """Return int64 numbers of this shape, of at least `least` and below `end`."""
    least, end = (tf.cast(bound, tf.int64) for bound in (least, end))
    return tf.random.stateless_uniform(shape, seed, least, end, tf.int64)

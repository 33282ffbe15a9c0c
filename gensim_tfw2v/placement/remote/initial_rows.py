"""Random initial rows of a table, made on its servers: each number depends on the seed and its place alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from gensim_tfw2v.cluster.remote_functions import local
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

# The steps of splitmix64, which turns 0, 1, 2, ... into 64-bit numbers that pass the usual tests of randomness.
_STRIDE = 0x9E3779B97F4A7C15
_MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
_BITS = 24  # bits that a float32 holds


def initial_rows(seed: int | None, rows: Any, columns: int) -> Any:
    """Return the float32 tensor [rows, columns] of these rows, uniform between -1 / columns and 1 / columns.

    The rows are the same for any number of servers. TensorFlow's random generators would depend on the shards.

    Parameters
    ----------
    seed : int or None
        64 bits, different for each table. Without a seed the rows are zeros.
    rows : int64 tensor
        Numbers of the rows within the whole table.
    """
    tf = load_tensorflow()

    if seed is None:
        return tf.raw_ops.Fill(dims=local(np.array([len(rows), columns], np.int32)), value=local(np.float32(0)))

    def constant(value: int) -> Any:
        return local(np.uint64(value))

    places = rows[:, None] * local(np.int64(columns)) + local(np.arange(columns))
    mixed = (tf.cast(places, tf.uint64) + constant(1)) * constant(_STRIDE) + constant(seed)
    for shift, factor in _MIXING:
        mixed = tf.bitwise.bitwise_xor(mixed, tf.bitwise.right_shift(mixed, constant(shift))) * constant(factor)
    uniform = tf.cast(tf.bitwise.right_shift(mixed, constant(64 - _BITS)), tf.float32) * local(np.float32(2.0**-_BITS))
    return uniform * local(np.float32(2.0 / columns)) - local(np.float32(1.0 / columns))

"""The memory of tables, which the C operations change in place."""

from __future__ import annotations

import tensorflow as tf


def memory_of(table: tf.Tensor) -> tf.Tensor:
    """Return the memory of a variable, given by its handle, instead of a copy."""
    return tf.raw_ops.ReadVariableOp(resource=table, dtype=tf.float32)

"""The memory of tables, which the C operations change in place, and copies of it."""

from __future__ import annotations

import tensorflow as tf

from gensim_tfw2v.operations import operations


def memory_of(table: tf.Tensor) -> tf.Tensor:
    """Return the memory of a variable, given by its handle, instead of a copy."""
    return tf.raw_ops.ReadVariableOp(resource=table, dtype=tf.float32)


def copy_of(values: tf.Tensor) -> tf.Tensor:
    """Return a copy of rows [n, D]. TensorFlow's DeepCopy would take as long as the steps of a small block."""
    return operations().tfw2v_read_rows(table=values, rows=tf.range(tf.shape(values)[0]), T=tf.float32)

"""Rows of a table in TensorFlow's own operations: they are read, written and added to.

A table is the handle of its variable. TensorFlow's operations on single rows lock the variable, so threads that train
the same table lose no step.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def memory_of(table: tf.Tensor) -> tf.Tensor:
    """Return what the other functions take as a table: the handle itself."""
    return table


def copy_of(values: tf.Tensor) -> tf.Tensor:
    """Return a copy of rows [n, D], of no variable."""
    return tf.raw_ops.DeepCopy(x=values)


def read_rows(table: tf.Tensor, rows: tf.Tensor, T: Any = tf.float32) -> tf.Tensor:
    """Return rows [n, D]."""
    return tf.cast(whole_rows(table, rows), T)


def write_rows(table: tf.Tensor, rows: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Write rows; the returned number is ready once they are written."""
    written = tf.raw_ops.ResourceScatterUpdate(resource=table, indices=rows, updates=values)
    return after(written, tf.cast(tf.size(rows), tf.float32))


def add_rows(table: tf.Tensor, rows: tf.Tensor, changes: tf.Tensor) -> tf.Tensor:
    """Add to rows; the returned number is ready once this is done."""
    return after(add_to(table, rows, tf.cast(changes, tf.float32)), tf.cast(tf.size(rows), tf.float32))


# -- what the other modules build on -----------------------------------------------------------------------------------


def whole_rows(table: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """Return rows of a table as they are, with their states."""
    return tf.raw_ops.ResourceGather(resource=table, indices=rows, dtype=tf.float32)


def add_to(table: tf.Tensor, rows: tf.Tensor, changes: tf.Tensor) -> Any:
    """Add changes to rows of a table; return the operation, or None where TensorFlow has run it at once."""
    return tf.raw_ops.ResourceScatterAdd(resource=table, indices=rows, updates=changes)


def after(operation: Any, value: tf.Tensor) -> tf.Tensor:
    """Return the value, which is ready once an operation has ended."""
    with tf.control_dependencies([] if operation is None else [operation]):
        return tf.identity(value)

"""Rows of variables that steps change: reading, writing and adding to them, with this process's kernel."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from gensim_tfw2v.runtime.private_tensorflow import anonymous_name
from gensim_tfw2v.steps.kernel import kernel


def private_copy(values: tf.Tensor) -> tf.Tensor:
    """Return a copy of rows [n, D], for a variable whose rows steps change."""
    return kernel().copy_of(values)


def private_variable(value: tf.Tensor) -> tf.Tensor:
    """Return the handle of a variable that nothing else knows, and that must be destroyed."""
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[None, None], shared_name=anonymous_name())
    with tf.control_dependencies([tf.raw_ops.AssignVariableOp(resource=handle, value=private_copy(value))]):
        return tf.identity(handle)


def read_rows(table: tf.Tensor, rows: tf.Tensor, number_type: Any = tf.float32) -> tf.Tensor:
    """Return rows [n, D] of a variable, given by its handle, whose rows steps change."""
    return kernel().read_rows(table=memory_of(table), rows=rows, T=number_type)


def write_rows(table: tf.Tensor, rows: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Write rows [n, D] of such a variable; the returned tensor is ready once they are written."""
    return kernel().write_rows(table=memory_of(table), rows=rows, values=values)


def add_to_rows(table: tf.Tensor, rows: tf.Tensor, changes: tf.Tensor) -> tf.Tensor:
    """Add changes [n, D] to rows of such a variable; the returned tensor is ready once they are added."""
    return kernel().add_rows(table=memory_of(table), rows=rows, changes=changes)


def memory_of(table: tf.Tensor) -> tf.Tensor:
    """Return what the kernel takes as the table of a variable, given by its handle."""
    return kernel().memory_of(table)

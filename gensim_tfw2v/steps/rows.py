"""Rows of variables that steps change: reading, writing and adding to them, by this process's or a device's kernel."""

from __future__ import annotations

import contextlib
from typing import Any

import tensorflow as tf

from gensim_tfw2v.runtime.devices import THE_CPU, Device
from gensim_tfw2v.runtime.private_tensorflow import anonymous_name
from gensim_tfw2v.steps.kernel import kernel, kernel_on


def private_copy(values: tf.Tensor) -> tf.Tensor:
    """Return a copy of rows [n, D], for a variable whose rows steps change."""
    return kernel().copy_of(values)


def private_variable(value: tf.Tensor, device: Device = THE_CPU) -> tf.Tensor:
    """Return the handle of a variable that nothing else knows, and that must be destroyed."""
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[None, None], shared_name=anonymous_name())
    copy = kernel_on(device).copy_of(value)
    with tf.control_dependencies([tf.raw_ops.AssignVariableOp(resource=handle, value=copy)]):
        return tf.identity(handle)


class PrivateRows:
    """A copy of rows [n, D] that nothing else knows, on a device of the task that runs the graph.

    Parameters
    ----------
    values : tensor
        The rows [n, D].
    device : Device
        Where the copy is, and where steps change it.

    Attributes
    ----------
    handle : tensor
        The handle of its variable, for steps on the device.
    """

    def __init__(self, values: tf.Tensor, device: Device = THE_CPU) -> None:
        self._device, self._kernel = device, kernel_on(device)
        with self.on_device():
            self.handle = private_variable(values, device)

    def on_device(self) -> contextlib.AbstractContextManager[Any]:
        """Return the context in which operations of a graph run on the device."""
        return contextlib.nullcontext() if self._device == THE_CPU else tf.device(self._device.place)

    def read(self, rows: tf.Tensor) -> tf.Tensor:
        """Return rows with these numbers."""
        with self.on_device():
            return self._kernel.read_rows(table=self._kernel.memory_of(self.handle), rows=rows, T=tf.float32)

    def write(self, rows: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        """Write rows; the returned tensor is ready once they are written."""
        with self.on_device():
            return self._kernel.write_rows(table=self._kernel.memory_of(self.handle), rows=rows, values=values)

    def end(self) -> tf.Tensor:
        """Return all rows [n, D], and free the copy."""
        with self.on_device():
            rows = tf.raw_ops.ReadVariableOp(resource=self.handle, dtype=tf.float32)
            with tf.control_dependencies([rows]):
                freed = tf.raw_ops.DestroyResourceOp(resource=self.handle)
            with tf.control_dependencies([freed]):
                return tf.identity(rows)


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

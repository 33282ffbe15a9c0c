"""Which batches of a block a server has: each one changes a server's columns once, whoever sends it.

For every block in flight a server has a counter for each lane of the block: the number of the block's job, and how many
of the lane's batches it has. A worker begins a lane with the first batch that a server lacks. Servers that have the
batch already, because the previous worker was lost between two servers, leave their columns as they are.

Counters only grow: a late worker whose ticket has ended (`calls.tickets`) adds zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

FIRST_COUNTER = np.zeros(2, np.int32)  # job, and batches; no job has the number 0


class Sender(NamedTuple):
    """Who sends the batches of a block, as it is on a server."""

    job: Any  # number of the block's job
    worker: Any
    generation: Any  # of the worker's ticket


def is_valid(generations: tf.Tensor, sender: Sender, arrived: Sequence[tf.Tensor]) -> tf.Tensor:
    """Return whether a server takes what this worker sends, once these tensors are on the server."""
    with tf.control_dependencies(arrived):
        current = tf.raw_ops.ReadVariableOp(resource=generations, dtype=tf.int32)
    return tf.equal(current[sender.worker], sender.generation)


def begin(counter: tf.Tensor, generations: tf.Tensor, sender: Sender) -> tf.Tensor:
    """Return how many batches of a lane a server has, and begin to count if it has none of this job."""
    job, batches = tf.unstack(tf.raw_ops.ReadVariableOp(resource=counter, dtype=tf.int32), num=2)
    is_new = tf.logical_and(is_valid(generations, sender, [sender.job]), tf.not_equal(job, sender.job))
    change = tf.where(is_new, tf.stack([sender.job - job, -batches]), 0)
    with tf.control_dependencies([tf.raw_ops.AssignAddVariableOp(resource=counter, value=change)]):
        return tf.where(tf.equal(job, sender.job), batches, 0)


def lacks(
    counter: tf.Tensor, generations: tf.Tensor, sender: Sender, number: tf.Tensor, arrived: Sequence[tf.Tensor]
) -> tf.Tensor:
    """Return whether a server lacks a lane's batch of this number, and may take it, once these tensors are there."""
    valid = is_valid(generations, sender, arrived)
    with tf.control_dependencies(arrived):
        current = tf.raw_ops.ReadVariableOp(resource=counter, dtype=tf.int32)
    return tf.logical_and(valid, tf.reduce_all(tf.equal(current, tf.stack([sender.job, number]))))


def count(counter: tf.Tensor, is_taken: tf.Tensor, changed: Sequence[tf.Tensor]) -> Any:
    """Count a batch that a server has taken, once its rows are changed."""
    with tf.control_dependencies(changed):
        change = tf.stack([0, tf.cast(is_taken, tf.int32)])
        return tf.raw_ops.AssignAddVariableOp(resource=counter, value=change)

"""Graph operations of a worker on rows that servers have: pull rows, push changes, exchange shared rows.

Each edge from one task's device to another's is a message, control dependencies included. So an operation on a server
depends only on what is sent there anyway, and a worker waits only for what it needs anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.cluster.task import RENEW_LEASE
from gensim_tfw2v.cluster.task_metrics import NAMES
from gensim_tfw2v.placement.interface import TABLES
from gensim_tfw2v.placement.parameter_servers.shared_rows import RowSharing, first_shared_row
from gensim_tfw2v.placement.parameter_servers.staging import BlockRows
from gensim_tfw2v.steps.rows import add_to_rows, read_rows
from gensim_tfw2v.steps.signature import Objective

_NODES = TABLES.index("nodes")


@dataclass(frozen=True)
class GraphShape:
    """What needs traces of its own."""

    objective: Objective
    shards: int
    servers: int
    connection: int  # its number: tasks of a new connection do not have the functions of an older one
    overlap: bool  # workers stage their next block while they finish one
    row_type: str  # TensorFlow's name for the numbers that rows travel as
    sharing: RowSharing

    def tables(self) -> list[int]:
        """Return which of inputs, outputs and nodes the objective trains."""
        used = [True, self.objective.negative_sampling, self.objective.hierarchical_softmax]
        return [number for number, is_used in enumerate(used) if is_used]

    def device_of(self, shard: int) -> str:
        """Return the device that has a shard of every table."""
        return device("ps", shard % self.servers)


class Handles(NamedTuple):
    """Resource handles on the servers."""

    tables: tuple[tuple[Any, ...], ...]  # shards of each table in use
    version: Any  # blocks pushed so far, on the first server


def shard_messages(shape: GraphShape, lease_key: tf.Tensor, rows: BlockRows) -> tuple[tf.Tensor, ...]:
    """Return a message to each shard, in one array: the lease's key, how many rows of each table, and which."""
    numbers = tf.split(rows.numbers, tf.reduce_sum(rows.counts, 1), num=shape.shards)
    return tuple(tf.concat([[lease_key], rows.counts[shard], numbers[shard]], 0) for shard in range(shape.shards))


def _rows_of_tables(shape: GraphShape, message: tf.Tensor) -> list[tf.Tensor]:
    """Return the rows that a message names, for each table in use."""
    head = 1 + len(TABLES)
    of_tables = tf.split(message[head:], message[1:head], num=len(TABLES))
    return [of_tables[table] for table in shape.tables()]


def pull_rows(shape: GraphShape, handles: Handles, messages: Sequence[tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the rows [U, D], and how many blocks had been pushed when they were read."""
    pulled = []
    version = tf.constant(0.0, tf.float64)
    for shard, message in enumerate(messages):
        with tf.device(shape.device_of(shard)):
            wanted = _rows_of_tables(shape, message)
            if shard == 0:
                with tf.control_dependencies(wanted):
                    version = tf.cast(tf.raw_ops.ReadVariableOp(resource=handles.version, dtype=tf.int64), tf.float64)
            places = zip((table[shard] for table in handles.tables), wanted, strict=True)
            pulled.append(tf.concat([read_rows(*place, shape.row_type) for place in places], 0))
    return tf.cast(tf.concat(pulled, 0), tf.float32), version


def exchange_shared_rows(shape: GraphShape, handles: Handles, change: tf.Tensor) -> tf.Tensor:
    """Add the changes [T * H, D] of shared rows, by shard, to the servers' rows, and return the sums."""
    tables = shape.tables()
    shared = []
    for shard, moves in enumerate(tf.split(tf.cast(change, shape.row_type), shape.shards)):
        with tf.device(shape.device_of(shard)):
            of_tables = tf.split(moves, len(tables))
            found = []
            for number, shards, updates in zip(tables, handles.tables, of_tables, strict=True):
                table = shards[shard]
                size, count = tf.raw_ops.VariableShape(input=table)[0], tf.shape(updates)[0]
                rows = tf.range(count) + first_shared_row(size, count, are_nodes=number == _NODES)
                with tf.control_dependencies([add_to_rows(table, rows, updates)]):
                    found.append(read_rows(table, rows, shape.row_type))
            shared.append(tf.concat(found, 0))
    return tf.cast(tf.concat(shared, 0), tf.float32)


def push_changes(
    shape: GraphShape, handles: Handles, rows: BlockRows, messages: Sequence[tf.Tensor], change: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Add the changes [U, D] to the servers' rows.

    Return how many blocks were pushed before this one, and the metrics [servers, M] of each server's process.
    """
    pushes: list[list[tf.Tensor]] = [[] for _ in range(shape.servers)]
    changes = tf.split(tf.cast(change, shape.row_type), tf.reduce_sum(rows.counts, 1), num=shape.shards)
    for shard, (message, updates) in enumerate(zip(messages, changes, strict=True)):
        with tf.device(shape.device_of(shard)):
            wanted = _rows_of_tables(shape, message)
            of_tables = tf.split(updates, [tf.size(numbers) for numbers in wanted], num=len(wanted))
            pushes[shard % shape.servers] += [
                add_to_rows(table[shard], numbers, part)
                for table, numbers, part in zip(handles.tables, wanted, of_tables, strict=True)
            ]
    answers = tf.stack([_end_push(handles, number, messages[number][0], own) for number, own in enumerate(pushes)])
    return answers[0, 0], answers[:, 1:]


def _end_push(handles: Handles, server: int, lease_key: tf.Tensor, pushes: Sequence[tf.Tensor]) -> tf.Tensor:
    """Return a server's answer after its pushes: blocks pushed before, which the first server counts, and metrics."""
    with tf.device(device("ps", server)), tf.control_dependencies(pushes):
        version = tf.constant(0, tf.int64)
        if server == 0:
            version = tf.raw_ops.ReadVariableOp(resource=handles.version, dtype=tf.int64)
        (metrics,) = remote_functions.call(RENEW_LEASE, [lease_key], [tf.float64])
        metrics.set_shape([len(NAMES)])
        counted = []
        if server == 0:
            with tf.control_dependencies([version]):
                one = tf.constant(1, tf.int64)
                counted = [tf.raw_ops.AssignAddVariableOp(resource=handles.version, value=one)]
        with tf.control_dependencies(counted):
            return tf.concat([[tf.cast(version, tf.float64)], metrics], 0)

"""Graph operations by which a worker pushes the changes of its block, and servers add them to their rows.

A server adds changes only with a valid ticket (`calls.tickets`), which is part of a message that the server gets
anyway. A server checks the ticket before it adds the changes: changes that arrive in the microseconds in which a ticket
ends may still be added. Servers end a ticket one by one. If a worker stops between two of its pushes, one server may
have the changes and another may not. Then another worker trains the block, and the rows of the former server get the
block's changes twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.cluster.task import METRIC_NAMES, RENEW_LEASE
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.server_rows.messages import LEASE_KEY, has_valid_ticket, moved_rows_of_tables
from gensim_tfw2v.placement.server_rows.numbering import BlockRows, table_of_each_row
from gensim_tfw2v.placement.server_rows.shape import GraphShape, Handles
from gensim_tfw2v.placement.tasks.block_report import ServersReport, TableRows
from gensim_tfw2v.steps.rows import add_to_rows


def add_if_valid(is_valid: tf.Tensor, table: tf.Tensor, rows: tf.Tensor, changes: tf.Tensor) -> tf.Tensor:
    """Add changes to rows, or to none of them.

    A `tf.cond` would make its decision where the changes come from, which takes another message.
    """
    count = tf.where(is_valid, tf.size(rows), 0)
    return add_to_rows(table, rows[:count], changes[:count])


class Pushed(NamedTuple):
    """The servers' answers to a block's changes."""

    version: Any  # how many blocks were pushed before this one
    is_accepted: Any  # 1 if every server took the changes, 0 if the ticket was no longer valid
    metrics: Any  # [servers, M], of each server's process


def servers_report(
    pushed: Pushed, version: tf.Tensor, rows: BlockRows, read_again: tf.Tensor | int = 0
) -> ServersReport:
    """Return the servers' part of a block's report.

    The block pulled their rows at this version, and read this many again.
    """
    inputs, outputs, nodes = tf.unstack(tf.reduce_sum(rows.counts, 0), num=len(TABLES))
    return ServersReport(
        pushed.version - version, pushed.is_accepted, TableRows(inputs, outputs, nodes, read_again), pushed.metrics
    )


def push_changes(
    shape: GraphShape, handles: Handles, rows: BlockRows, messages: Sequence[tf.Tensor], change: tf.Tensor
) -> Pushed:
    """Add the changes [U, D] to the servers' rows."""
    return send_changes(shape, handles, rows, messages, change, _add_to_tables)


Take = Callable[[GraphShape, Handles, int, tf.Tensor, tf.Tensor], tuple[tf.Tensor, list[tf.Tensor]]]
"""Has a server take the changes that come with a message; returns whether they are valid, and the last operations."""


def send_changes(
    shape: GraphShape,
    handles: Handles,
    rows: BlockRows,
    messages: Sequence[tf.Tensor],
    change: tf.Tensor,
    take: Take,
) -> Pushed:
    """Send the changes [U, D] to the servers, without those of frozen tables."""
    pushes: list[list[tf.Tensor]] = [[] for _ in range(shape.servers)]
    valid: list[list[tf.Tensor]] = [[] for _ in range(shape.servers)]
    sent = tf.cast(_moved(shape, rows, change), shape.row_type)
    counts = tf.gather(rows.counts, shape.moved_tables(), axis=1)
    changes = tf.split(sent, tf.reduce_sum(counts, 1), num=shape.shards)
    for shard, (message, updates) in enumerate(zip(messages, changes, strict=True)):
        with tf.device(shape.device_of(shard)):
            is_valid, taken = take(shape, handles, shard, message, updates)
            valid[shard % shape.servers].append(is_valid)
            pushes[shard % shape.servers] += taken
    answers = tf.stack(
        [
            _end_push(shape, handles, server, messages[server][LEASE_KEY], valid[server], pushes[server])
            for server in range(shape.servers)
        ]
    )
    return Pushed(answers[0, 0], tf.reduce_min(answers[:, 1]), answers[:, 2:])


def _moved(shape: GraphShape, rows: BlockRows, change: tf.Tensor) -> tf.Tensor:
    """Return the changes of rows of tables that are not frozen."""
    if shape.moved_tables() == shape.tables():
        return change
    moved = tf.constant(shape.moved_tables())
    return tf.boolean_mask(change, tf.reduce_any(table_of_each_row(rows)[:, None] == moved, 1))


def _add_to_tables(
    shape: GraphShape, handles: Handles, shard: int, message: tf.Tensor, updates: tf.Tensor
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    wanted = moved_rows_of_tables(shape, message)
    of_tables = tf.split(updates, [tf.size(numbers) for numbers in wanted], num=len(wanted))
    is_valid = has_valid_ticket(shape, handles, shard, message, of_tables)
    return is_valid, [
        add_if_valid(is_valid, table[shard], numbers, part)
        for table, numbers, part in zip(handles.tables, wanted, of_tables, strict=True)
    ]


def _end_push(
    shape: GraphShape,
    handles: Handles,
    server: int,
    lease_key: tf.Tensor,
    valid: Sequence[tf.Tensor],
    pushes: Sequence[tf.Tensor],
) -> tf.Tensor:
    """Return a server's answer after its pushes.

    It has the number of blocks pushed before, which the first server counts, whether the server accepted this one, and
    metrics. Blocks in slots are counted when the server adds them.
    """
    with tf.device(device("ps", server)), tf.control_dependencies(pushes):
        is_accepted = tf.reduce_all(tf.stack(valid))
        version = tf.constant(0, tf.int64)
        if server == 0:
            version = tf.raw_ops.ReadVariableOp(resource=handles.version, dtype=tf.int64)
        (metrics,) = remote_functions.call(RENEW_LEASE, [lease_key], [tf.float64])
        metrics.set_shape([len(METRIC_NAMES)])
        counted = []
        if server == 0 and not shape.has_slots:
            with tf.control_dependencies([version]):
                one = tf.cast(is_accepted, tf.int64)
                counted = [tf.raw_ops.AssignAddVariableOp(resource=handles.version, value=one)]
        with tf.control_dependencies(counted):
            return tf.concat([[tf.cast(version, tf.float64)], [tf.cast(is_accepted, tf.float64)], metrics], 0)

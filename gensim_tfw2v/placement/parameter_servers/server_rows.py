"""Graph operations of a worker on rows that servers have: pull rows, push changes, exchange shared rows.

Each edge from one task's device to another's is a message, control dependencies included. So an operation on a server
depends only on what is sent there anyway, and a worker waits only for what it needs anyway.

A server adds changes only with a valid ticket (`tickets`), which is part of a message that the server gets anyway.
Ticket and rows are looked at one after the other: changes that arrive in the microseconds in which a ticket ends may
still be added. Servers end a ticket one by one: of a worker that stops between two of its pushes, one server may have
the changes and another not. Then another worker trains the block, and these rows get the block's changes twice. The
same is true of the parts that a worker had pushed before it stopped.

Blocks that meet put their changes into slots instead. A block that is trained again overwrites its slot, so its changes
count once. The coordinator has the servers add the slots when all of them are full.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.cluster.task import RENEW_LEASE
from gensim_tfw2v.cluster.task_metrics import NAMES
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.parameter_servers.numbering import BlockRows
from gensim_tfw2v.placement.remote.handles import Handles, Slot
from gensim_tfw2v.steps.row_sharing import RowSharing, first_shared_row
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
    has_slots: bool = False  # servers keep changes in slots, and add them later

    def tables(self) -> list[int]:
        """Return which of inputs, outputs and nodes the objective trains."""
        return self.objective.tables()

    def device_of(self, shard: int) -> str:
        """Return the device that has a shard of every table."""
        return device("ps", shard % self.servers)


# Where the parts of a message to a shard begin. The rows' numbers follow the counts.
_LEASE_KEY, _WORKER, _GENERATION, _COUNTS = range(4)
_NUMBERS = _COUNTS + len(TABLES)


def shard_messages(
    shape: GraphShape, lease_key: tf.Tensor, ticket: tf.Tensor, rows: BlockRows
) -> tuple[tf.Tensor, ...]:
    """Return a message to each shard, in one array: the lease's key, the ticket, how many rows of each table, which."""
    numbers = tf.split(rows.numbers, tf.reduce_sum(rows.counts, 1), num=shape.shards)
    head = tf.concat([[lease_key], ticket], 0)
    return tuple(tf.concat([head, rows.counts[shard], numbers[shard]], 0) for shard in range(shape.shards))


def _rows_of_tables(shape: GraphShape, message: tf.Tensor) -> list[tf.Tensor]:
    """Return the rows that a message names, for each table in use."""
    of_tables = tf.split(message[_NUMBERS:], message[_COUNTS:_NUMBERS], num=len(TABLES))
    return [of_tables[table] for table in shape.tables()]


def _is_valid(
    shape: GraphShape, handles: Handles, shard: int, message: tf.Tensor, arrived: Sequence[tf.Tensor]
) -> tf.Tensor:
    """Return whether a server takes changes with the ticket in this message, once these tensors are on the server."""
    with tf.control_dependencies(arrived):
        current = tf.raw_ops.ReadVariableOp(resource=handles.generations[shard % shape.servers], dtype=tf.int32)
    return tf.equal(current[message[_WORKER]], message[_GENERATION])


def _add_if(is_valid: tf.Tensor, table: tf.Tensor, rows: tf.Tensor, changes: tf.Tensor) -> tf.Tensor:
    """Add changes to rows, or to none of them.

    A `tf.cond` would make its decision where the changes come from, which takes another message.
    """
    count = tf.where(is_valid, tf.size(rows), 0)
    return add_to_rows(table, rows[:count], changes[:count])


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


def exchange_shared_rows(
    shape: GraphShape, handles: Handles, messages: Sequence[tf.Tensor], change: tf.Tensor
) -> tf.Tensor:
    """Add the changes [T * H, D] of shared rows, by shard, to the servers' rows, and return the sums."""
    tables = shape.tables()
    shared = []
    for shard, moves in enumerate(tf.split(tf.cast(change, shape.row_type), shape.shards)):
        with tf.device(shape.device_of(shard)):
            of_tables = tf.split(moves, len(tables))
            is_valid = _is_valid(shape, handles, shard, messages[shard], of_tables)
            found = []
            for number, shards, updates in zip(tables, handles.tables, of_tables, strict=True):
                table = shards[shard]
                size, count = tf.raw_ops.VariableShape(input=table)[0], tf.shape(updates)[0]
                rows = tf.range(count) + first_shared_row(size, count, are_nodes=number == _NODES)
                with tf.control_dependencies([_add_if(is_valid, table, rows, updates)]):
                    found.append(read_rows(table, rows, shape.row_type))
            shared.append(tf.concat(found, 0))
    return tf.cast(tf.concat(shared, 0), tf.float32)


class Pushed(NamedTuple):
    """The servers' answers to a block's changes."""

    version: Any  # how many blocks were pushed before this one
    is_accepted: Any  # 1 if every server took the changes, 0 if the ticket was no longer valid
    metrics: Any  # [servers, M], of each server's process


def push_changes(
    shape: GraphShape, handles: Handles, rows: BlockRows, messages: Sequence[tf.Tensor], change: tf.Tensor
) -> Pushed:
    """Add the changes [U, D] to the servers' rows."""
    return _push(shape, handles, rows, messages, change, _add_to_tables)


def put_changes(
    shape: GraphShape, handles: Handles, rows: BlockRows, messages: Sequence[tf.Tensor], change: tf.Tensor
) -> Pushed:
    """Put the changes [U, D] into the block's slot, in place of what is there."""
    return _push(shape, handles, rows, messages, change, _put_in_slot)


_Take = Callable[[GraphShape, Handles, int, tf.Tensor, tf.Tensor], tuple[tf.Tensor, list[tf.Tensor]]]
"""Has a server take the changes that come with a message; returns whether they are valid, and the last operations."""


def _push(
    shape: GraphShape,
    handles: Handles,
    rows: BlockRows,
    messages: Sequence[tf.Tensor],
    change: tf.Tensor,
    take: _Take,
) -> Pushed:
    """Bring the changes [U, D] to the servers."""
    pushes: list[list[tf.Tensor]] = [[] for _ in range(shape.servers)]
    valid: list[list[tf.Tensor]] = [[] for _ in range(shape.servers)]
    changes = tf.split(tf.cast(change, shape.row_type), tf.reduce_sum(rows.counts, 1), num=shape.shards)
    for shard, (message, updates) in enumerate(zip(messages, changes, strict=True)):
        with tf.device(shape.device_of(shard)):
            is_valid, taken = take(shape, handles, shard, message, updates)
            valid[shard % shape.servers].append(is_valid)
            pushes[shard % shape.servers] += taken
    answers = tf.stack(
        [
            _end_push(shape, handles, server, messages[server][_LEASE_KEY], valid[server], pushes[server])
            for server in range(shape.servers)
        ]
    )
    return Pushed(answers[0, 0], tf.reduce_min(answers[:, 1]), answers[:, 2:])


def _add_to_tables(
    shape: GraphShape, handles: Handles, shard: int, message: tf.Tensor, updates: tf.Tensor
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    wanted = _rows_of_tables(shape, message)
    of_tables = tf.split(updates, [tf.size(numbers) for numbers in wanted], num=len(wanted))
    is_valid = _is_valid(shape, handles, shard, message, of_tables)
    return is_valid, [
        _add_if(is_valid, table[shard], numbers, part)
        for table, numbers, part in zip(handles.tables, wanted, of_tables, strict=True)
    ]


def _put_in_slot(
    shape: GraphShape, handles: Handles, shard: int, message: tf.Tensor, updates: tf.Tensor
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    # TensorFlow decides where the inputs of a `tf.cond` are made: these two are made on the server.
    changes, rows = tf.raw_ops.DeepCopy(x=updates), message[_COUNTS:]
    is_valid = _is_valid(shape, handles, shard, message, [changes, rows])

    def put() -> tf.Tensor:
        written = [
            tf.raw_ops.AssignVariableOp(resource=handles.slot.rows[shard], value=rows),
            tf.raw_ops.AssignVariableOp(resource=handles.slot.changes[shard], value=changes),
        ]
        with tf.control_dependencies(written):
            return tf.constant(True)

    return is_valid, [tf.cond(is_valid, put, lambda: tf.constant(False))]


def add_slots(shape: GraphShape, handles: Handles, slots: Sequence[Slot], wanted: Sequence[tf.Tensor]) -> tf.Tensor:
    """Add the changes in the wanted [N] of N slots to the servers' rows, and return how many slots these are.

    `wanted` has the same for each server, on its device.

    Each row gets its changes in the order of the slots, so timing cannot change their sum. Workers may write to the
    other slots meanwhile.
    """
    added = []
    for shard in range(shape.shards):
        with tf.device(shape.device_of(shard)):
            before: list[tf.Tensor] = []
            for number, slot in enumerate(slots):
                is_wanted = wanted[shard % shape.servers][number]
                before = _add_slot(shape, handles, slot, shard, is_wanted, before)
            added += before
    with tf.device(device("ps", 0)), tf.control_dependencies(added):
        count = tf.math.count_nonzero(wanted[0])
        counted = tf.raw_ops.AssignAddVariableOp(resource=handles.version, value=count)
        with tf.control_dependencies([counted]):
            return tf.identity(count)


def _add_slot(
    shape: GraphShape, handles: Handles, slot: Slot, shard: int, is_wanted: tf.Tensor, before: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
    """Add the changes in a slot to the rows of a shard, or none, after the changes `before`."""
    rows = tf.raw_ops.ReadVariableOp(resource=slot.rows[shard], dtype=tf.int32)
    changes = tf.raw_ops.ReadVariableOp(resource=slot.changes[shard], dtype=shape.row_type)
    counts, numbers = rows[: len(TABLES)] * tf.cast(is_wanted, tf.int32), rows[len(TABLES) :]
    ends = tf.cumsum(counts)
    added = []
    with tf.control_dependencies(before):
        for table, shards in zip(shape.tables(), handles.tables, strict=True):
            span = slice(ends[table] - counts[table], ends[table])
            added.append(add_to_rows(shards[shard], numbers[span], changes[span]))
    return added


def _end_push(
    shape: GraphShape,
    handles: Handles,
    server: int,
    lease_key: tf.Tensor,
    valid: Sequence[tf.Tensor],
    pushes: Sequence[tf.Tensor],
) -> tf.Tensor:
    """Return a server's answer after its pushes.

    It has the blocks pushed before, which the first server counts, whether the server took this one, and metrics. The
    server counts blocks in slots when it adds them.
    """
    with tf.device(device("ps", server)), tf.control_dependencies(pushes):
        is_accepted = tf.reduce_all(tf.stack(valid))
        version = tf.constant(0, tf.int64)
        if server == 0:
            version = tf.raw_ops.ReadVariableOp(resource=handles.version, dtype=tf.int64)
        (metrics,) = remote_functions.call(RENEW_LEASE, [lease_key], [tf.float64])
        metrics.set_shape([len(NAMES)])
        counted = []
        if server == 0 and not shape.has_slots:
            with tf.control_dependencies([version]):
                one = tf.cast(is_accepted, tf.int64)
                counted = [tf.raw_ops.AssignAddVariableOp(resource=handles.version, value=one)]
        with tf.control_dependencies(counted):
            return tf.concat([[tf.cast(version, tf.float64)], [tf.cast(is_accepted, tf.float64)], metrics], 0)

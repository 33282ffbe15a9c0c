"""Messages from a worker to the shards: its ticket, and which rows a message is about."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from gensim_tfw2v.placement.calls.tickets import TICKET_BYTES, TICKET_NUMBERS
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.server_rows.numbering import BlockRows
from gensim_tfw2v.placement.server_rows.shape import GraphShape, Handles

# Where the parts of a message to a shard begin. The rows' numbers follow the counts.
LEASE_KEY, _WORKER, _GENERATION, COUNTS = range(4)
_NUMBERS = COUNTS + len(TABLES)


def shard_messages(
    shape: GraphShape, lease_key: tf.Tensor, ticket: tf.Tensor, rows: BlockRows
) -> tuple[tf.Tensor, ...]:
    """Return a message to each shard, one array each: the lease's key, the ticket, row counts by table, the rows."""
    numbers = tf.split(rows.numbers, tf.reduce_sum(rows.counts, 1), num=shape.shards)
    head = tf.concat([[lease_key], ticket], 0)
    return tuple(tf.concat([head, rows.counts[shard], numbers[shard]], 0) for shard in range(shape.shards))


def messages_about(shape: GraphShape, messages: Sequence[tf.Tensor], rows: BlockRows) -> tuple[tf.Tensor, ...]:
    """Return messages with the same lease and ticket about other rows."""
    lease_key, ticket = messages[0][LEASE_KEY], messages[0][_WORKER:COUNTS]
    return shard_messages(shape, lease_key, ticket, rows)


def rows_of_tables(shape: GraphShape, message: tf.Tensor) -> list[tf.Tensor]:
    """Return the rows that a message names, for each table in use."""
    of_tables = _by_table(message)
    return [of_tables[table] for table in shape.tables()]


def moved_rows_of_tables(shape: GraphShape, message: tf.Tensor) -> list[tf.Tensor]:
    """Return the rows whose changes follow a message, for each table in use: none of a frozen one."""
    of_tables = _moved_by_table(shape, message)
    return [of_tables[table] for table in shape.tables()]


def moved_rows(shape: GraphShape, message: tf.Tensor) -> tf.Tensor:
    """Return the same rows in one array: how many of each of `TABLES`, and which."""
    if shape.moved_tables() == shape.tables():
        return message[COUNTS:]
    of_tables = _moved_by_table(shape, message)
    return tf.concat([tf.stack([tf.size(of_table) for of_table in of_tables]), *of_tables], 0)


def _by_table(message: tf.Tensor) -> list[tf.Tensor]:
    of_tables: list[tf.Tensor] = tf.split(message[_NUMBERS:], message[COUNTS:_NUMBERS], num=len(TABLES))
    return of_tables


def _moved_by_table(shape: GraphShape, message: tf.Tensor) -> list[tf.Tensor]:
    moved = shape.moved_tables()
    return [rows if table in moved else rows[:0] for table, rows in enumerate(_by_table(message))]


def has_valid_ticket(
    shape: GraphShape, handles: Handles, shard: int, message: tf.Tensor, arrived: Sequence[tf.Tensor]
) -> tf.Tensor:
    """Return whether a server takes changes with the ticket in this message, once these tensors are on the server."""
    with tf.control_dependencies(arrived):
        current = tf.raw_ops.ReadVariableOp(resource=handles.generations[shard % shape.servers], dtype=tf.int32)
    return tf.equal(current[message[_WORKER]], message[_GENERATION])


def split_ticket(sealed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return an assignment's bytes and the ticket [2] that `Tickets.sealed` put together."""
    ticket = tf.reshape(sealed[-TICKET_BYTES:], [TICKET_NUMBERS, -1])
    return sealed[:-TICKET_BYTES], tf.bitcast(ticket, tf.int32)

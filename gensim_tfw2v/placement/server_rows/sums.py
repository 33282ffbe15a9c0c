"""Graph operations by which servers add the changes of several blocks in a fixed order.

A block puts its changes into a slot. A block that is trained again overwrites its slot, so its changes count once. The
coordinator has the servers add the slots when all of them are full.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from gensim_tfw2v.cluster.connection import call_on_disconnect, device, sending_graphs
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.server_rows.messages import has_valid_ticket, moved_rows
from gensim_tfw2v.placement.server_rows.numbering import BlockRows
from gensim_tfw2v.placement.server_rows.push import Pushed, send_changes
from gensim_tfw2v.placement.server_rows.shape import GraphShape, Handles, Slot, handles_spec
from gensim_tfw2v.placement.tasks.graph_parts import concrete
from gensim_tfw2v.steps.rows import add_to_rows


def put_changes(
    shape: GraphShape, handles: Handles, rows: BlockRows, messages: Sequence[tf.Tensor], change: tf.Tensor
) -> Pushed:
    """Put the changes [U, D] into the block's slot, in place of what is there."""
    return send_changes(shape, handles, rows, messages, change, _put_in_slot)


def _put_in_slot(
    shape: GraphShape, handles: Handles, shard: int, message: tf.Tensor, updates: tf.Tensor
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    # TensorFlow decides where the inputs of a `tf.cond` are made: these two are made on the server.
    changes, rows = tf.raw_ops.DeepCopy(x=updates), moved_rows(shape, message)
    is_valid = has_valid_ticket(shape, handles, shard, message, [changes, rows])

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

    `wanted` has an equal tensor for each server, on the server's device.

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
    tables = {table: shards[shard] for table, shards in zip(shape.tables(), handles.tables, strict=True)}
    with tf.control_dependencies(before):
        return add_by_table(tables, counts, numbers, changes)


def add_by_table(
    tables: Mapping[int, tf.Tensor], counts: tf.Tensor, numbers: tf.Tensor, changes: tf.Tensor
) -> list[tf.Tensor]:
    """Add the changes of a block to rows of these tables; the returned tensors are ready once they are added.

    Parameters
    ----------
    tables : mapping of int to tensor
        The variables, by their place in `TABLES`.
    counts : tensor
        How many rows the block changes of each of `TABLES` [3].
    numbers, changes : tensor
        Which rows [n] these are, table by table, and their changes [n, D].
    """
    ends = tf.cumsum(counts)
    spans = {table: slice(ends[table] - counts[table], ends[table]) for table in tables}
    return [add_to_rows(variable, numbers[spans[table]], changes[spans[table]]) for table, variable in tables.items()]


@functools.lru_cache(maxsize=32)
def slot_graph(shape: GraphShape, slots: int) -> Any:
    """Return the function (handles, slots, wanted) → number of slots added; it adds the changes in the wanted slots.

    Each server has the wanted slots on its device.
    """

    def add(handles: Handles, of_blocks: tuple[Slot, ...], wanted: tuple[tf.Tensor, ...]) -> tf.Tensor:
        return add_slots(shape, handles, of_blocks, wanted)

    with sending_graphs():
        handles, wanted = handles_spec(shape), tf.TensorSpec([slots], tf.bool)
        return concrete(add, handles, (handles.slot,) * slots, (wanted,) * shape.servers)


call_on_disconnect(slot_graph.cache_clear)

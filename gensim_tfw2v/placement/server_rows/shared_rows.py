"""Graph operations by which blocks in flight exchange their changes of shared rows."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.server_rows.handles import Handles
from gensim_tfw2v.placement.server_rows.messages import has_valid_ticket
from gensim_tfw2v.placement.server_rows.push import add_if_valid
from gensim_tfw2v.placement.server_rows.shape import GraphShape
from gensim_tfw2v.steps.row_sharing import first_shared_row
from gensim_tfw2v.steps.rows import read_rows

_NODES = TABLES.index("nodes")


def exchange_shared_rows(
    shape: GraphShape, handles: Handles, messages: Sequence[tf.Tensor], change: tf.Tensor
) -> tf.Tensor:
    """Add the changes [T * H, D] of shared rows, by shard, to the servers' rows, and return the sums.

    They are rows of the T tables that are not frozen.
    """
    tables = shape.moved_tables()
    handles_of = dict(zip(shape.tables(), handles.tables, strict=True))
    shared = []
    for shard, moves in enumerate(tf.split(tf.cast(change, shape.row_type), shape.shards)):
        with tf.device(shape.device_of(shard)):
            of_tables = tf.split(moves, len(tables))
            is_valid = has_valid_ticket(shape, handles, shard, messages[shard], of_tables)
            found = []
            for number, updates in zip(tables, of_tables, strict=True):
                table = handles_of[number][shard]
                size, count = tf.raw_ops.VariableShape(input=table)[0], tf.shape(updates)[0]
                rows = tf.range(count) + first_shared_row(size, count, are_nodes=number == _NODES)
                with tf.control_dependencies([add_if_valid(is_valid, table, rows, updates)]):
                    found.append(read_rows(table, rows, shape.row_type))
            shared.append(tf.concat(found, 0))
    return tf.cast(tf.concat(shared, 0), tf.float32)

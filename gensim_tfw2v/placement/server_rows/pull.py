"""Graph operations by which a worker gets the rows that its block needs."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from gensim_tfw2v.placement.server_rows.messages import rows_of_tables
from gensim_tfw2v.placement.server_rows.shape import GraphShape, Handles
from gensim_tfw2v.steps.rows import read_rows


def pull_rows(shape: GraphShape, handles: Handles, messages: Sequence[tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the rows [U, D], and how many blocks had been pushed when they were read."""
    pulled = []
    version = tf.constant(0.0, tf.float64)
    for shard, message in enumerate(messages):
        with tf.device(shape.device_of(shard)):
            wanted = rows_of_tables(shape, message)
            if shard == 0:
                with tf.control_dependencies(wanted):
                    version = tf.cast(tf.raw_ops.ReadVariableOp(resource=handles.version, dtype=tf.int64), tf.float64)
            places = zip((table[shard] for table in handles.tables), wanted, strict=True)
            pulled.append(tf.concat([read_rows(*place, shape.row_type) for place in places], 0))
    return tf.cast(tf.concat(pulled, 0), tf.float32), version

"""A lane of a block as a loop over the worker and all servers: one batch after the other.

Each edge from one task's device to another's is a message. Each input of a loop is a message, too, in every iteration.
A server therefore keeps the block in its own Python and receives only the number of a batch. Handles of variables are
the only inputs of a loop that stay on their servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.placement.columns.batch_counters import Sender, count, lacks
from gensim_tfw2v.placement.columns.column_blocks import COLUMN_BATCH, SERVER_BATCH, ColumnBlock, ServerBatch
from gensim_tfw2v.placement.columns.column_maths import (
    OfTables,
    batch_rows,
    move_rows,
    products,
    row_gradients,
    score_gradients,
    squares_of,
    steps_of,
)
from gensim_tfw2v.runtime.private_tensorflow import no_order_of_operations
from gensim_tfw2v.steps.rows import memory_of


class ServerPart(NamedTuple):
    """A server, and handles of its variables."""

    server: int
    tables: OfTables
    counter: Any  # of the lane
    generations: Any  # of tickets


class LaneEnd(NamedTuple):
    """A trained lane."""

    end: Any  # ready when every server has the last batch
    metrics: BatchMetrics  # [n] each, of all batches of the lane; zeros for batches that were not trained here
    is_trained: Any  # [n]
    waited: Any  # [2], seconds for products and for squares


class _OnServer(NamedTuple):
    """A batch on a server, between its messages."""

    part: ServerPart
    columns: OfTables  # the memory of its tables
    sender: Sender
    number: Any  # of the batch within the lane
    batch: ServerBatch
    rows: OfTables


class Lane:
    """Adds the training of a lane to a graph.

    Parameters
    ----------
    sender : tensor
        A `Sender` [3], which comes with every batch.
    """

    def __init__(
        self, block: ColumnBlock, sender: tf.Tensor, parts: Sequence[ServerPart], number_type: str, mask_hits: bool
    ) -> None:
        self._block, self._sender, self._parts = block, sender, parts
        self._number_type, self._mask_hits = number_type, mask_hits

    def train(self, first: tf.Tensor, begin: tf.Tensor, end: tf.Tensor) -> LaneEnd:
        """Train the batches from `begin` to before `end` of a lane that starts with the batch `first`."""

        def train_batch(batch: tf.Tensor, waited: tf.Tensor, *arrays: tf.TensorArray) -> tuple[Any, ...]:
            metrics, seconds, following = self._train_batch(batch, batch - first)
            written = (array.write(batch - first, value) for array, value in zip(arrays, metrics, strict=True))
            return following, waited + seconds, *written

        arrays = [tf.TensorArray(tf.float32, size=end - first, element_shape=[]) for _ in BatchMetrics._fields]
        state = [begin, tf.zeros([2], tf.float64), *arrays]
        with no_order_of_operations(tf.compat.v1.get_default_graph()):
            done, waited, *arrays = tf.while_loop(
                lambda batch, *_: batch < end, train_batch, state, parallel_iterations=1
            )
        metrics = BatchMetrics(*(array.stack() for array in arrays))
        return LaneEnd(done, metrics, tf.range(first, end) >= begin, waited)

    def _train_batch(self, batch: tf.Tensor, number: tf.Tensor) -> tuple[tuple[tf.Tensor, ...], tf.Tensor, tf.Tensor]:
        """Return a batch's metrics, the seconds that it has waited [2], and the next batch."""
        message = tf.concat([tf.stack([batch, number, self._block.basics.lease_key]), self._sender], 0)
        with tf.control_dependencies([message]):
            began = tf.timestamp()
        on_servers, sent = [], []
        for part in self._parts:
            with tf.device(device("ps", part.server)):
                found = _on_server(part, message)
                sent.append(tf.cast(products(found.rows, found.batch.window), self._number_type))
            on_servers.append(found)
        scores = tf.add_n([tf.cast(own, tf.float32) for own in sent])
        with tf.control_dependencies([scores]):
            multiplied = tf.timestamp()
        gradients, loss = score_gradients(self._block, batch, scores, self._mask_hits)
        answer = tf.cast(gradients, self._number_type)
        with tf.control_dependencies([answer]):
            answered = tf.timestamp()
        of_rows, squares = [], []
        for found in on_servers:
            with tf.device(device("ps", found.part.server)):
                of_rows.append(row_gradients(found.rows, found.batch, tf.cast(answer, tf.float32)))
                squares.append(squares_of(of_rows[-1]))
        rates, touched, clipped = steps_of(self._block, batch, tf.add_n(squares))
        with tf.control_dependencies([rates]):
            stepped = tf.timestamp()
        moved = [_move(found, own, rates) for found, own in zip(on_servers, of_rows, strict=True)]
        with tf.control_dependencies(moved):
            following = batch + 1
        seconds = tf.stack([multiplied - began, stepped - answered])
        return (loss, touched, clipped), seconds, following


def _on_server(part: ServerPart, message: tf.Tensor) -> _OnServer:
    """Return a batch's rows on the server that is the current device."""
    fields = tf.unstack(tf.identity(message), num=3 + len(Sender._fields))
    (batch, number, lease_key), sender = fields[:3], Sender(*fields[3:])
    of_batch: ServerBatch = remote_functions.call_for(COLUMN_BATCH, [lease_key, sender.job, batch], SERVER_BATCH)
    columns = OfTables(*map(memory_of, part.tables))
    return _OnServer(part, columns, sender, number, of_batch, batch_rows(columns, of_batch))


def _move(found: _OnServer, gradients: OfTables, rates: tf.Tensor) -> tf.Tensor:
    """Move a server's rows of a batch, unless it has the batch already; return what is ready then."""
    part = found.part
    with tf.device(device("ps", part.server)):
        arrived = tf.identity(rates)
        is_lacking = lacks(part.counter, part.generations, found.sender, found.number, [arrived])
        moved = move_rows(found.columns, found.batch, gradients, arrived, is_lacking)
        with tf.control_dependencies([count(part.counter, is_lacking, moved)]):
            return tf.identity(is_lacking)

"""The steps of a block on a copy of its rows, as a graph: on a worker, or in one process."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.server_rows.numbering import BlockRows, table_of_each_row
from gensim_tfw2v.placement.server_rows.shape import GraphShape
from gensim_tfw2v.placement.server_rows.staging import StagedRows
from gensim_tfw2v.placement.tasks.block import WorkerBlock
from gensim_tfw2v.placement.tasks.refused_steps import is_finite, most_moved
from gensim_tfw2v.steps.adagrad import vectors_of
from gensim_tfw2v.steps.concurrent_updates import kept_changes
from gensim_tfw2v.steps.missed_changes import corrected_changes
from gensim_tfw2v.steps.rows import PrivateRows
from gensim_tfw2v.steps.side_by_side import TrainSideBySide
from gensim_tfw2v.steps.signature import Tables


class WorkerTraining:
    """Adds the training of one block to a graph.

    Parameters
    ----------
    train_block : callable
        The steps of a span of batches, by several cores, with a trace of its own.
    start : tensor
        The rows [U, D] that were pulled for the block.
    read_again : callable, optional
        Returns the hot rows [K, D] as they are now, with the changes of other blocks. Without it these changes are not
        known: then the block keeps a share of its own changes.
    """

    def __init__(
        self,
        shape: GraphShape,
        train_block: TrainSideBySide,
        block: WorkerBlock,
        start: tf.Tensor,
        read_again: Callable[[], tf.Tensor] | None = None,
    ) -> None:
        self._shape, self._train_block = shape, train_block
        self._block, self._start, self._read_again = block, start, read_again
        self._rows: StagedRows = block.extra
        self._own = PrivateRows(start, shape.steps_on)

    def run(self) -> tuple[BatchMetrics, tf.Tensor, tf.Tensor]:
        """Return the metrics of the block's batches, the changes [U, D] to be pushed, and what moved most [2].

        The latter is the word that the block moved most and how far, if its changes are dropped; otherwise -1 and 0.
        """
        trained = self._train()
        with tf.control_dependencies(list(trained)):
            end = self._own.end()
            change = self._to_be_pushed(end)
        vectors = vectors_of(change, self._shape.objective.adagrad)
        moved = most_moved(trained, lambda: _of_words(self._rows.needed, vectors))
        return trained, _unless_refused(trained, change), moved

    def _train(self) -> BatchMetrics:
        """Return the metrics of the block's batches, which move the worker's own rows."""
        basics = self._block.basics
        tables = Tables(*[self._own.handle] * len(TABLES))
        span = tf.stack([0, tf.size(basics.pairs)])
        with self._own.on_device():
            return self._train_block(tables, self._block.block, basics.rates, span, basics.cores)

    def _to_be_pushed(self, end: tf.Tensor) -> tf.Tensor:
        """Return the changes [U, D] of a block that left its rows at `end`."""
        hot, objective, change = self._rows.hot, self._shape.objective, end - self._start
        start_of_hot, end_of_hot = tf.gather(self._start, hot.rows), tf.gather(end, hot.rows)
        if self._read_again is None:
            kept = kept_changes(hot, objective, start_of_hot, end_of_hot)
        else:
            kept = corrected_changes(hot, objective, start_of_hot, end_of_hot, self._read_again)
        return tf.tensor_scatter_nd_update(change, hot.rows[:, None], kept)


def _unless_refused(trained: BatchMetrics, change: tf.Tensor) -> tf.Tensor:
    """Return a change of rows, or zeros if steps were refused: then the rows may be too long for further sums."""
    return tf.cond(is_finite(trained), lambda: change, lambda: tf.zeros_like(change))


def _of_words(rows: BlockRows, change: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the words [W] of input and output rows, and the changes [W, D] of these rows out of all [U, D]."""
    shards, tables = tf.unstack(tf.shape(rows.counts))
    shard_of_row = tf.repeat(tf.repeat(tf.range(shards), tables), tf.reshape(rows.counts, [-1]))
    is_of_word = table_of_each_row(rows) != TABLES.index("nodes")
    return tf.boolean_mask(rows.numbers * shards + shard_of_row, is_of_word), tf.boolean_mask(change, is_of_word)

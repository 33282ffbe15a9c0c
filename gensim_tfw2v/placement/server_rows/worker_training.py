"""The steps of a block on a copy of its rows, part by part, as a graph: on a worker, or in one process."""

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
from gensim_tfw2v.steps.concurrent_updates import ConcurrentUpdates, at_rates_of_states
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
    exchange : callable, optional
        Takes the changes [T * H, D] of shared rows, by shard, and returns the sums on the servers. Not needed if no
        rows are shared.
    """

    def __init__(
        self,
        shape: GraphShape,
        train_block: TrainSideBySide,
        block: WorkerBlock,
        start: tf.Tensor,
        exchange: Callable[[tf.Tensor], tf.Tensor] | None = None,
    ) -> None:
        self._shape, self._train_block = shape, train_block
        self._block, self._start, self._exchange = block, start, exchange
        self._rows: StagedRows = block.extra
        hot = self._rows.hot
        if shape.objective.adagrad:
            hot = at_rates_of_states(hot, tf.gather(start, hot.rows))
        self._updates = ConcurrentUpdates(hot, shape.objective, shape.sharing)
        self._own = PrivateRows(start, shape.steps_on)
        # As they were when the part began: shared rows [T * H, D] and probe rows.
        self._shared, self._probes = (
            tf.gather(start, rows) for rows in (self._updates.shared_rows, self._updates.probe_rows)
        )

    def run(self) -> tuple[BatchMetrics, tf.Tensor, tf.Tensor]:
        """Return the metrics of the block's batches, the changes [U, D] to be pushed, and what moved most [2].

        The latter is the word that the block moved most and how far, if its changes are dropped; otherwise -1 and 0.
        """
        *others, last = range(self._shape.sharing.parts)
        metrics = []
        for part in others:
            metrics.append(self._train_part(part))
            self._exchange_shared(metrics[-1])
        metrics.append(self._train_part(last))
        of_block = BatchMetrics(*(tf.concat(values, 0) for values in zip(*metrics, strict=True)))
        change = self._end_after(metrics[-1]) - self._start
        vectors = vectors_of(change, self._shape.objective.adagrad)
        moved = most_moved(of_block, lambda: _of_words(self._rows.needed, vectors))
        return of_block, _unless_refused(of_block, change), moved

    def _train_part(self, part: int) -> BatchMetrics:
        """Return the metrics of a part's batches."""
        block = self._block
        span = tf.stack(self._shape.sharing.span(part, tf.size(block.basics.pairs)))
        tables = Tables(*[self._own.handle] * len(TABLES))
        with tf.control_dependencies([self._shared, self._probes]), self._own.on_device():
            return self._train_block(tables, block.block, block.basics.rates, span, block.basics.cores)

    def _exchange_shared(self, trained: BatchMetrics) -> None:
        """Push a part's changes of shared rows, and continue with the servers' sums."""
        assert self._exchange is not None
        updates, order = self._updates, self._rows.shared_order
        with tf.control_dependencies(list(trained)):
            moved = self._own.read(updates.shared_rows) - self._shared
        kept = _unless_refused(trained, updates.of_part(moved, self._probes))
        shared = self._exchange(tf.gather(kept, order))
        with tf.control_dependencies([moved]):
            written = self._own.write(tf.gather(updates.shared_rows, order), shared)
        with tf.control_dependencies([written]):
            self._shared, self._probes = (self._own.read(rows) for rows in (updates.shared_rows, updates.probe_rows))

    def _end_after(self, trained: BatchMetrics) -> tf.Tensor:
        """Return the rows [U, D] with scaled changes after the last part, and free the worker's copy."""
        updates = self._updates
        with tf.control_dependencies(list(trained)):
            shared = self._own.read(updates.shared_rows) - self._shared
            ends = [self._own.read(rows) for rows in updates.rows]
        starts = [tf.gather(self._start, rows) for rows in updates.rows]
        moves = [after - before for after, before in zip(ends, starts, strict=True)]
        kept = updates.of_block(moves, shared, self._probes)
        written = [
            self._own.write(rows, before + may_move)
            for rows, before, may_move in zip(updates.rows, starts, kept, strict=True)
        ]
        with tf.control_dependencies(written):
            return self._own.end()


def _unless_refused(trained: BatchMetrics, change: tf.Tensor) -> tf.Tensor:
    """Return a change of rows, or zeros if steps were refused: then the rows may be too long for further sums."""
    return tf.cond(is_finite(trained), lambda: change, lambda: tf.zeros_like(change))


def _of_words(rows: BlockRows, change: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the words [W] of input and output rows, and the changes [W, D] of these rows out of all [U, D]."""
    shards, tables = tf.unstack(tf.shape(rows.counts))
    shard_of_row = tf.repeat(tf.repeat(tf.range(shards), tables), tf.reshape(rows.counts, [-1]))
    is_of_word = table_of_each_row(rows) != TABLES.index("nodes")
    return tf.boolean_mask(rows.numbers * shards + shard_of_row, is_of_word), tf.boolean_mask(change, is_of_word)

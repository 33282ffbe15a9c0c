"""The graph that draws a chunk's block and trains all of its batches, in one call.

The batches are trained as `steps/graph` trains those of any block.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.steps.draws.block import draw_block
from gensim_tfw2v.steps.draws.signature import CHUNK, DRAW_TABLES, SCHEDULE, ChunkSchedule, ChunkTensors, DrawTables
from gensim_tfw2v.steps.kernel import Kernel
from gensim_tfw2v.steps.signature import SIGNATURE, Objective, Rates, Tables

_TABLES, _, _RATES, _ = SIGNATURE


class TrainedTensors(NamedTuple):
    """What came of a chunk's S batches."""

    metrics: BatchMetrics
    measured: tf.Tensor  # bool [S]
    pairs: tf.Tensor  # float64 [S]
    tokens: tf.Tensor  # int32; if there are none, nothing was trained, and no batch has metrics


@functools.cache
def chunk_function(objective: Objective, kernel: Kernel) -> tf.types.experimental.ConcreteFunction:
    """Return the graph function (tables, chunk, draw tables, schedule, rates of the chunk) → results."""

    def train_chunk(
        tables: Tables, chunk: ChunkTensors, draws: DrawTables, schedule: ChunkSchedule, rates: Rates
    ) -> TrainedTensors:
        drawn = draw_block(objective, chunk, draws, schedule.seeds, rates.shared_negatives)
        batches = tf.size(drawn.pairs)
        measured = _measured(schedule.measure_every, batches)
        rates = rates._replace(learning_rates=_learning_rates(schedule.learning_rates, batches), measured=measured)
        span = tf.stack([0, batches * tf.minimum(drawn.tokens, 1)])
        metrics = kernel.train(objective, tables, drawn.block, rates, span)
        return TrainedTensors(metrics, measured, drawn.pairs, drawn.tokens)

    signature = (_TABLES, CHUNK, DRAW_TABLES, SCHEDULE, _RATES)
    return tf.function(train_chunk, autograph=False, input_signature=signature).get_concrete_function()


def _learning_rates(rates: tf.Tensor, batches: tf.Tensor) -> tf.Tensor:
    """Return the rate of each batch as it begins, as `blocks.chunk_task.learning_rates` does."""
    first, last = tf.unstack(rates)
    count = tf.cast(batches, tf.float64)
    return tf.cast(first + tf.cast(tf.range(batches), tf.float64) * ((last - first) / count), tf.float32)


def _measured(every: tf.Tensor, batches: tf.Tensor) -> tf.Tensor:
    """Return whether each batch is measured: every so many, from the first on, or none if `every` is 0."""
    return tf.logical_and(tf.equal(tf.range(batches) % tf.maximum(every, 1), 0), every > 0)

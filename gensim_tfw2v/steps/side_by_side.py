"""Batches of a block, trained by several cores at once on the same tables: each core takes consecutive batches.

Cores change rows without locks, as the threads of one process do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.runtime.private_tensorflow import end_after
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import Kernel
from gensim_tfw2v.steps.signature import SIGNATURE, BlockTensors, Objective, Rates, Tables

CORES = tf.TensorSpec([], tf.int32)
_MOST_AT_ONCE = 256  # TensorFlow wants a constant; with more cores, some wait for others
_METRICS = len(BatchMetrics._fields)

TrainSideBySide = Callable[[Tables, BlockTensors, Rates, tf.Tensor, tf.Tensor], BatchMetrics]
"""Takes the arguments of a block function, and how many cores train: 1 is one call of the block function."""


def side_by_side(train_block: Any) -> TrainSideBySide:
    """Return a function that trains a span of batches on several cores; it has a trace of its own.

    Parameters
    ----------
    train_block : callable
        What `steps.graph.block_function` returns.
    """
    graph = _graph_of(train_block)

    def call(*arguments: Any) -> BatchMetrics:
        return BatchMetrics(*graph(*tf.nest.flatten(arguments)))

    return call


@functools.cache
def side_by_side_function(objective: Objective, kernel: Kernel) -> tf.types.experimental.ConcreteFunction:
    """Return the graph function of `side_by_side` for this process; its arguments are flat."""
    return _graph_of(block_function(objective, kernel))


def _graph_of(train_block: Any) -> tf.types.experimental.ConcreteFunction:
    signature = (*SIGNATURE, CORES)

    def train(*tensors: tf.Tensor) -> list[tf.Tensor]:
        *of_block, span, cores = tf.nest.pack_sequence_as(signature, tensors)
        metrics = _train_spans(train_block, of_block, span, cores)
        end_after(metrics)
        return list(metrics)

    # `tf.function` would let a span begin when all operations of the span before it have ended. This does not.
    return tf.compat.v1.wrap_function(train, tf.nest.flatten(signature))


def _train_spans(train_block: Any, of_block: list[Any], span: tf.Tensor, cores: tf.Tensor) -> BatchMetrics:
    """Cut a span into one for each core, but none without batches; train them, and return all metrics in order."""
    first, end = tf.unstack(span, num=2)
    batches = end - first
    spans = tf.maximum(tf.minimum(cores, batches), 1)

    def train_span(number: tf.Tensor, *arrays: tf.TensorArray) -> tuple[tf.Tensor | tf.TensorArray, ...]:
        own = first + tf.stack([batches * number // spans, batches * (number + 1) // spans])
        metrics = train_block(*of_block, own)
        return number + 1, *(array.write(number, metric) for array, metric in zip(arrays, metrics, strict=True))

    arrays = [tf.TensorArray(tf.float32, size=spans, infer_shape=False, element_shape=[None]) for _ in range(_METRICS)]
    _, *arrays = tf.while_loop(
        lambda number, *_: number < spans, train_span, [0, *arrays], parallel_iterations=_MOST_AT_ONCE
    )
    return BatchMetrics(*(tf.ensure_shape(array.concat(), [None]) for array in arrays))

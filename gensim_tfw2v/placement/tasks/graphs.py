"""What the graphs that run on workers have in common."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_factory import REGISTER_MODEL
from gensim_tfw2v.placement.tasks.block_report import STAGES, BlockReport

BYTES = tf.TensorSpec([None], tf.uint8)
NAME = tf.TensorSpec([], tf.string)
HANDLE = tf.TensorSpec([], tf.resource)
REQUEST = Request(NAME, BYTES)


def concrete(function: Any, *signature: Any) -> Any:
    """Return the graph of a function that takes arguments with these specs."""
    return tf.function(function, autograph=False, input_signature=signature).get_concrete_function()


def register_model_graph() -> Any:
    """Return the function that has a worker keep a model: (name, its bytes) → True."""

    def register(name: tf.Tensor, model: tf.Tensor) -> tf.Tensor:
        return remote_functions.call(REGISTER_MODEL, [name, model], [tf.bool])[0]

    return concrete(register, NAME, BYTES)


def report_of(
    block: Any,
    batches: BatchMetrics,
    rows: tf.Tensor,
    most_moved: tf.Tensor,
    seconds_making: tf.Tensor,
    seconds_training: tf.Tensor,
) -> tf.Tensor:
    """Return the report of a block that was trained on its worker's own tables, without servers.

    Parameters
    ----------
    block : NamedTuple
        With rates, tokens, pairs and metrics.
    rows, most_moved : tensor
        As `BlockReport` has them.
    """
    assert len(STAGES) == 4
    return BlockReport(
        tokens=block.tokens,
        staleness=0,
        is_accepted=1,
        seconds=tf.stack([seconds_making, 0.0, seconds_training, 0.0]),
        rows=rows,
        most_moved=most_moved,
        worker=block.metrics,
        servers=tf.zeros([0], tf.float64),
        batches=batches,
        measured=block.rates.measured,
        pairs=block.pairs,
    ).to_tensor()

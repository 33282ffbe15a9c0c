"""What graphs have in common that run on one worker with tables of its own."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.placement.parameter_servers.block_report import STAGES, BlockReport
from gensim_tfw2v.placement.parameter_servers.graphs import concrete
from gensim_tfw2v.placement.parameter_servers.task_functions import REGISTER_MODEL

BYTES = tf.TensorSpec([None], tf.uint8)
NAME = tf.TensorSpec([], tf.string)


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
    block : OwnBlock or ShareBlock
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

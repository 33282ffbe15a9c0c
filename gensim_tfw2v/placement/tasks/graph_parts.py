"""The common parts of the graphs that run on workers."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block import BlockBasics
from gensim_tfw2v.placement.tasks.block_factory import REGISTER_MODEL
from gensim_tfw2v.placement.tasks.block_report import BlockReport, ServersReport, StageSeconds
from gensim_tfw2v.placement.tasks.refused_steps import nothing_moved

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
    basics: BlockBasics,
    batches: BatchMetrics,
    seconds: StageSeconds,
    most_moved: tf.Tensor | None = None,
    servers: ServersReport | None = None,
    measured: tf.Tensor | None = None,
) -> tf.Tensor:
    """Return the report of a block, as one tensor.

    Parameters
    ----------
    most_moved : tensor, optional
        As `BlockReport` has it. Default: no word.
    servers : ServersReport, optional
        The servers' part, in a design with tables on servers.
    measured : tensor, optional
        Which batches [S] were measured. Default: all that the block's rates name.
    """
    return BlockReport(
        tokens=basics.tokens,
        seconds=seconds,
        most_moved=nothing_moved() if most_moved is None else most_moved,
        worker=basics.metrics,
        batches=batches,
        measured=basics.rates.measured if measured is None else measured,
        pairs=basics.pairs,
        servers=servers,
    ).to_tensor()

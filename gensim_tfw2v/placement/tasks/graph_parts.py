"""The common parts of the graphs that run on workers."""

from __future__ import annotations

from typing import Any, TypeVar

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block import BlockBasics
from gensim_tfw2v.placement.tasks.block_factory import REGISTER_MODEL
from gensim_tfw2v.placement.tasks.block_report import BlockReport, ServersReport, StageSeconds
from gensim_tfw2v.placement.tasks.refused_steps import nothing_moved

_Specs = TypeVar("_Specs")

BYTES = tf.TensorSpec([None], tf.uint8)
NAME = tf.TensorSpec([], tf.string)
HANDLE = tf.TensorSpec([], tf.resource)
REQUEST = Request(NAME, BYTES)
PACKED = tf.TensorSpec([], tf.variant)


def concrete(function: Any, *signature: Any) -> Any:
    """Return the graph of a function that takes arguments with these specs."""
    return tf.function(function, autograph=False, input_signature=signature).get_concrete_function()


def packed(structure: Any) -> tf.Tensor:
    """Return one tensor that holds all tensors of a structure.

    The coordinator has an object for each tensor that a call leaves on a worker, and sends a message to free each.
    """
    return tf.raw_ops.CompositeTensorVariantFromComponents(components=tf.nest.flatten(structure), metadata="")


def unpacked(tensor: tf.Tensor, specs: _Specs) -> _Specs:
    """Return the structure of tensors, which have these specs, that `packed` made one tensor of."""
    types = [spec.dtype for spec in tf.nest.flatten(specs)]
    found = tf.raw_ops.CompositeTensorVariantToComponents(encoded=tensor, metadata="", Tcomponents=types)
    structure: _Specs = remote_functions.with_specs(found, specs)
    return structure


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
) -> BlockReport:
    """Return the report of a block.

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
    )

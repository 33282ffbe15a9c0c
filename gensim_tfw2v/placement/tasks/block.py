"""The common parts of every design's blocks on workers: rates, and blocks without batches."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array, Int32Array
from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.blocks.chunk_task import PreparedBlock
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.arguments import block_tensors, rates
from gensim_tfw2v.steps.side_by_side import CORES
from gensim_tfw2v.steps.signature import SIGNATURE, BlockTensors, Rates

_Specs = TypeVar("_Specs")


class BlockBasics(NamedTuple):
    """The fields that a block has in every design."""

    rates: Rates
    pairs: Any  # [S]
    tokens: Any
    metrics: Any  # of the worker's process
    lease_key: Any  # of the tables that the block is trained on
    cores: Any  # that train it side by side

    @classmethod
    def of(cls, block: Block, rates: Rates, assignment: Assignment, metrics: Float64Array) -> BlockBasics:
        """Return the basics of the block that was made for an assignment."""
        return cls(
            rates,
            block.pairs,
            np.int64(block.tokens),
            metrics,
            np.int32(assignment.lease_key),
            np.int32(assignment.cores),
        )


class WorkerBlock(NamedTuple):
    """A block as arguments of a graph that trains it on rows of its worker."""

    block: BlockTensors
    basics: BlockBasics
    extra: Any  # what the design needs besides


BASICS = BlockBasics(
    rates=SIGNATURE[2],
    pairs=tf.TensorSpec([None], tf.float64),
    tokens=tf.TensorSpec([], tf.int64),
    metrics=tf.TensorSpec([None], tf.float64),
    lease_key=tf.TensorSpec([], tf.int32),
    cores=CORES,
)


def worker_block_specs(extra: Any) -> WorkerBlock:
    """Return the specs of a block, given the specs of what the design adds to it."""
    return WorkerBlock(SIGNATURE[1], BASICS, extra)


def worker_block(block: Block, basics: BlockBasics, extra: Any) -> WorkerBlock:
    """Return a block as arrays."""
    return WorkerBlock(block_tensors(block), basics, extra)


def rates_on(
    model: WorkerModel,
    prepared: PreparedBlock,
    input_places: Int32Array,
    rows: int,
) -> Rates:
    """Return what scales the block's steps, with lock factors for the rows of the worker's matrix."""
    locks = model.lock_factors
    if len(locks) > 1:
        trained = np.unique(prepared.block.input_rows())
        locks = np.ones(rows, np.float32)
        locks[input_places[trained]] = model.lock_factors[trained % len(model.lock_factors)]
    return rates(model.settings, prepared, locks)


def zeros_for(specs: _Specs) -> _Specs:
    """Return arrays of zeros with these specs; sizes that are not fixed are 0."""

    def zeros(spec: Any) -> Any:
        return np.zeros([0 if size is None else size for size in spec.shape], spec.dtype.as_numpy_dtype)

    found: _Specs = tf.nest.map_structure(zeros, specs)
    return found


def basics_without_batches(assignment: Assignment, metrics: Float64Array) -> BlockBasics:
    """Return the basics of a block in which no word is left."""
    empty = zeros_for(BASICS)
    return empty._replace(
        rates=empty.rates._replace(lock_factors=np.ones(1, np.float32), shared_negatives=np.int32(1)),
        metrics=metrics,
        lease_key=np.int32(assignment.lease_key),
    )


def without_batches(assignment: Assignment, metrics: Float64Array, extra: Any) -> WorkerBlock:
    """Return the arrays of a block in which no word is left."""
    empty = zeros_for(worker_block_specs(extra=()))
    return WorkerBlock(
        block=empty.block._replace(window=np.int32(1)),
        basics=basics_without_batches(assignment, metrics),
        extra=extra,
    )

"""A sub-model's share of a chunk → a block as arrays for the worker's graph; ids are rows of the sub-model's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.chunk_task import prepare, sentences_of
from gensim_tfw2v.placement.partition.sampling import Draw
from gensim_tfw2v.placement.partition.trained_words import trained_words
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import own_lookups, without_batches
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.arguments import block_tensors, rates
from gensim_tfw2v.steps.signature import SIGNATURE, BlockTensors, Lookups, Rates


@dataclass(frozen=True)
class ShareAssignment(Assignment):
    """A sub-model's share of a chunk."""

    draw: Draw | None  # draws the share from the chunk's sentences; None: the sentences are the share


class ShareBlock(NamedTuple):
    """A block as its worker's graph takes it."""

    block: BlockTensors
    rates: Rates
    lookups: Lookups
    words: Any  # [W], whose input vectors the block trains
    pairs: Any  # [S]
    tokens: Any
    metrics: Any  # of the worker's process
    lease_key: Any


SHARE_BLOCK = ShareBlock(
    block=SIGNATURE[1],
    rates=SIGNATURE[2],
    lookups=SIGNATURE[3],
    words=tf.TensorSpec([None], tf.int32),
    pairs=tf.TensorSpec([None], tf.float64),
    tokens=tf.TensorSpec([], tf.int64),
    metrics=tf.TensorSpec([None], tf.float64),
    lease_key=tf.TensorSpec([], tf.int32),
)


def share_block(model: WorkerModel, assignment: ShareAssignment, metrics: Float64Array) -> ShareBlock:
    """Return the assignment's block; one without batches if no token is left."""
    check(model, assignment)
    task = assignment.task
    if assignment.draw is not None:
        task = assignment.draw.task_of(task, sentences_of(model.maker, task))
    prepared = prepare(model.maker, task)
    if prepared is None:
        return without_batches(SHARE_BLOCK, assignment, metrics)
    return ShareBlock(
        block=block_tensors(prepared.block),
        rates=rates(model.settings, prepared, model.lock_factors, tuning.HOT_NODES),  # as in one process
        lookups=own_lookups(model.settings),
        words=trained_words(prepared.block),
        pairs=prepared.block.pairs,
        tokens=np.int64(prepared.block.tokens),
        metrics=metrics,
        lease_key=np.int32(assignment.lease_key),
    )

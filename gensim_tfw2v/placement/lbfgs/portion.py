"""A portion of the batch → its block as arrays for the gradient's graph, with rows numbered anew."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array, Int32Array
from gensim_tfw2v.blocks.chunk_task import prepare
from gensim_tfw2v.placement.server_rows.numbering import BlockRows, needed_rows, no_rows, numbered, renumbered
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import own_lookups, rates_on, without_batches
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.arguments import block_tensors
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.signature import SIGNATURE, BlockTensors, Lookups, Rates


class Portion(NamedTuple):
    """A portion as the gradient's graph takes it."""

    block: BlockTensors
    rates: Rates
    lookups: Lookups
    rows: BlockRows
    held: Any  # [H], rows of the worker's matrix that stay where they are
    lease_key: Any
    pairs: Any  # [S]
    tokens: Any
    metrics: Any  # of the worker's process


PORTION = Portion(
    block=SIGNATURE[1],
    rates=SIGNATURE[2],
    lookups=SIGNATURE[3],
    rows=BlockRows(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 3], tf.int32)),
    held=tf.TensorSpec([None], tf.int32),
    lease_key=tf.TensorSpec([], tf.int32),
    pairs=tf.TensorSpec([None], tf.float64),
    tokens=tf.TensorSpec([], tf.int64),
    metrics=tf.TensorSpec([None], tf.float64),
)


def portion_on(model: WorkerModel, assignment: Assignment, metrics: Float64Array) -> Portion:
    """Return the assignment's portion; one without batches if subsampling leaves no token."""
    check(model, assignment)
    prepared = prepare(model.maker, assignment.task)
    if prepared is None:
        return without_batches(PORTION, assignment, metrics)._replace(rows=no_rows(assignment.shards))
    places, rows = numbered(needed_rows(model, prepared.block, NOT_SHARED), assignment.shards)
    own = renumbered(prepared.block, *places)
    return Portion(
        block=block_tensors(own),
        rates=rates_on(model, prepared, places[0], len(rows.numbers)),
        lookups=own_lookups(model.settings),
        rows=rows,
        held=_held(model, prepared.block.input_ids, places[0]),
        lease_key=np.int32(assignment.lease_key),
        pairs=prepared.block.pairs,
        tokens=np.int64(prepared.block.tokens),
        metrics=metrics,
    )


def _held(model: WorkerModel, input_ids: Int32Array, places: Int32Array) -> Int32Array:
    """Return the places of input rows whose lock factor is 0."""
    locks = model.lock_factors
    if locks.all():
        return np.zeros(0, np.int32)
    words = np.unique(input_ids)
    held: Int32Array = places[words[locks[words % len(locks)] == 0]]
    return held

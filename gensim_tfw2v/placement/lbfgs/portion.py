"""A portion of the corpus → its block as arrays for the gradient's graph, with rows numbered anew."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array, Int32Array
from gensim_tfw2v.blocks.chunk_task import prepare
from gensim_tfw2v.placement.lbfgs.portion_request import unpack
from gensim_tfw2v.placement.server_rows.numbering import (
    BLOCK_ROWS,
    BlockRows,
    needed_rows,
    no_rows,
    numbered,
    renumbered,
)
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import (
    BlockBasics,
    WorkerBlock,
    rates_on,
    without_batches,
    worker_block,
    worker_block_specs,
)
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.row_sharing import NOT_SHARED


class PortionRows(NamedTuple):
    """The rows of a portion on its worker's copy of them."""

    needed: BlockRows
    held: Any  # [H], rows of the worker's matrix that stay where they are


def portion_on(model: WorkerModel, assignment: Assignment, metrics: Float64Array) -> WorkerBlock:
    """Return the assignment's portion, which has no batches if subsampling leaves no token."""
    check(model, assignment)
    prepared = prepare(model.maker, assignment.task)
    if prepared is None:
        nothing = PortionRows(no_rows(assignment.shards), np.zeros(0, np.int32))
        return without_batches(assignment, metrics, nothing)
    places, rows = numbered(needed_rows(model, prepared.block, NOT_SHARED), assignment.shards)
    own = renumbered(prepared.block, *places)
    basics = BlockBasics.of(own, rates_on(model, prepared, places[0], len(rows.numbers)), assignment, metrics)
    extra = PortionRows(rows, _held(model, prepared.block.input_ids, places[0]))
    return worker_block(own, basics, extra)


def _held(model: WorkerModel, input_ids: Int32Array, places: Int32Array) -> Int32Array:
    """Return the places of input rows whose lock factor is 0."""
    locks = model.lock_factors
    if locks.all():
        return np.zeros(0, np.int32)
    words = np.unique(input_ids)
    held: Int32Array = places[words[locks[words % len(locks)] == 0]]
    return held


PORTION = BlockKind(
    "gensim_tfw2v.make_portion",
    worker_block_specs(PortionRows(BLOCK_ROWS, tf.TensorSpec([None], tf.int32))),
    portion_on,
    unpack,
)

"""What every design's blocks on workers have in common: rates, look-up tables, and blocks without batches."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array, Int32Array
from gensim_tfw2v.blocks.chunk_task import PreparedBlock
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.arguments import lookups_for, rates
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.steps.signature import Lookups, Rates

_Specs = TypeVar("_Specs")


def rates_on(model: WorkerModel, prepared: PreparedBlock, input_places: Int32Array, rows: int) -> Rates:
    """Return what scales the block's steps, with lock factors for the rows of the worker's matrix."""
    locks = model.lock_factors
    if len(locks) > 1:
        words = np.unique(prepared.block.input_ids)
        locks = np.ones(rows, np.float32)
        locks[input_places[words]] = model.lock_factors[words % len(model.lock_factors)]
    # Nobody else changes the worker's matrix, so that hot nodes need no copy.
    return rates(model.settings, prepared, locks, hot_nodes=0)


def own_lookups(settings: StepSettings) -> Lookups:
    """Return a copy of the look-up tables, which this process makes once for the same settings."""
    with tf.device("/CPU:0"):
        tables = lookups_for(settings)
    # A graph may write to the arrays that a Python function returns, and `numpy` copies.
    return Lookups(*(table.numpy() for table in tables))


def zeros_for(specs: _Specs) -> _Specs:
    """Return arrays of zeros with these specs; sizes that may be anything are 0."""

    def zeros(spec: Any) -> Any:
        return np.zeros([0 if size is None else size for size in spec.shape], spec.dtype.as_numpy_dtype)

    found: _Specs = tf.nest.map_structure(zeros, specs)
    return found


def without_batches(specs: _Specs, assignment: Assignment, metrics: Float64Array) -> _Specs:
    """Return the arrays of a block with these specs of which no word is left."""
    empty: Any = zeros_for(specs)
    found: _Specs = empty._replace(
        block=empty.block._replace(window=np.int32(1)),
        rates=empty.rates._replace(lock_factors=np.ones(1, np.float32), shared_negatives=np.int32(1)),
        lease_key=np.int32(assignment.lease_key),
        metrics=metrics,
    )
    return found

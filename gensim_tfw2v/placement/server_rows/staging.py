"""A worker's model and its assignment → a block as arrays for the worker's graph, with rows numbered anew."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.chunk_task import prepare
from gensim_tfw2v.placement.server_rows.numbering import BlockRows, needed_rows, no_rows, numbered, renumbered
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import own_lookups, rates_on, without_batches
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.arguments import block_tensors
from gensim_tfw2v.steps.concurrent_updates import HOT_ROWS, HotRows, hot_rows_of
from gensim_tfw2v.steps.signature import SIGNATURE, BlockTensors, Lookups, Rates


class StagedBlock(NamedTuple):
    """A block as its worker's graph takes it."""

    block: BlockTensors
    rates: Rates
    lookups: Lookups
    rows: BlockRows
    hot_rows: HotRows
    shared_order: Any  # [T * H], the shared rows by shard, as places among those by table
    lease_key: Any
    pairs: Any  # [S]
    tokens: Any
    metrics: Any  # of the worker's process


STAGED_BLOCK = StagedBlock(
    block=SIGNATURE[1],
    rates=SIGNATURE[2],
    lookups=SIGNATURE[3],
    rows=BlockRows(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 3], tf.int32)),
    hot_rows=HOT_ROWS,
    shared_order=tf.TensorSpec([None], tf.int32),
    lease_key=tf.TensorSpec([], tf.int32),
    pairs=tf.TensorSpec([None], tf.float64),
    tokens=tf.TensorSpec([], tf.int64),
    metrics=tf.TensorSpec([None], tf.float64),
)


def stage(model: WorkerModel, assignment: Assignment, metrics: Float64Array) -> StagedBlock:
    """Return the assignment's block with rows numbered anew; one without batches if subsampling leaves no token."""
    check(model, assignment)
    prepared = prepare(model.maker, assignment.task)
    if prepared is None:
        return without_batches(STAGED_BLOCK, assignment, metrics)._replace(rows=no_rows(assignment.shards))
    block = prepared.block
    tables = needed_rows(model, block, assignment.sharing)
    places, rows = numbered(tables, assignment.shards)
    shared = [
        place[table.shared] if table.is_used() else np.zeros(0, np.int32)
        for place, table in zip(places, tables, strict=True)
    ]
    own = renumbered(block, *places)
    rate = float(prepared.learning_rates.mean())
    return StagedBlock(
        block=block_tensors(own),
        rates=rates_on(model, prepared, places[0], len(rows.numbers)),
        lookups=own_lookups(model.settings),
        rows=rows,
        hot_rows=hot_rows_of(own, len(rows.numbers), model.settings, rate, assignment.concurrent_blocks, shared),
        shared_order=np.argsort(np.concatenate(shared)).astype(np.int32),  # the matrix is in the shards' order
        lease_key=np.int32(assignment.lease_key),
        pairs=block.pairs,
        tokens=np.int64(block.tokens),
        metrics=metrics,
    )

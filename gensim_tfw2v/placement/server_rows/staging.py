"""A worker's model and its assignment → a block as arrays for the worker's graph, with rows numbered anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.making_side_by_side import prepare_side_by_side
from gensim_tfw2v.placement.block_size import choose_hot_rows
from gensim_tfw2v.placement.server_rows.numbering import (
    BLOCK_ROWS,
    BlockRows,
    chosen_rows,
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
    zeros_for,
)
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.concurrent_updates import HOT_ROWS, HotRows, hot_rows_of


class StagedRows(NamedTuple):
    """The rows of a block on its worker's copy of them."""

    needed: BlockRows
    hot: HotRows
    hot_by_shard: BlockRows  # in the order of the worker's matrix
    hot_order: Any  # [K], where each hot row is among those by shard
    left: Any  # blocks of the chunk that come after this one


def stage(model: WorkerModel, assignment: Assignment, metrics: Float64Array, number: int = 0) -> WorkerBlock:
    """Return a block of the assignment's chunk, with rows numbered anew.

    It has no batches if subsampling leaves no token.

    Parameters
    ----------
    number : int
        The block's place in the chunk, from 0.
    """
    task, after = assignment.block(number, model.maker.reader)
    assignment, left = replace(assignment, task=task), np.int32(after)
    check(model, assignment)
    prepared = prepare_side_by_side(model.maker, assignment.task, assignment.cores)
    if prepared is None:
        nothing = zeros_for(STAGED_ROWS)._replace(
            needed=no_rows(assignment.shards), hot_by_shard=no_rows(assignment.shards), left=left
        )
        return without_batches(assignment, metrics, nothing)
    block = prepared.block
    tables = needed_rows(model, block)
    places, rows = numbered(tables, assignment.shards)
    count, rate = len(rows.numbers), float(prepared.learning_rates.mean())
    own = renumbered(block, *places)
    of_tables = [place[table.distinct] for place, table in zip(places, tables, strict=True)]
    blocks = assignment.concurrent_blocks
    hot = hot_rows_of(own, of_tables, model.settings, rate, blocks, choose_hot_rows(block.tokens * blocks))
    by_shard = np.argsort(hot.rows)
    extra = StagedRows(
        needed=rows,
        hot=hot,
        hot_by_shard=chosen_rows(rows, hot.rows[by_shard]),
        hot_order=np.argsort(by_shard).astype(np.int32),
        left=left,
    )
    scales = rates_on(model, prepared, places[0], count)
    return worker_block(own, BlockBasics.of(own, scales, assignment, metrics), extra)


STAGED_ROWS = StagedRows(BLOCK_ROWS, HOT_ROWS, BLOCK_ROWS, tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32))
STAGED_BLOCK = BlockKind("gensim_tfw2v.make_block", worker_block_specs(STAGED_ROWS), stage)

"""A chunk → its block as every task makes it, so that only the ids of its words are sent.

The worker and all servers make the same block from the same bytes: the same words are dropped, and the same negatives
are drawn from the chunk's seed. For each batch they also know the distinct rows that it moves, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array, Int32Array
from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.blocks.chunk_task import prepare, sentences_of
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import BASICS, BlockBasics, basics_without_batches, zeros_for
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.arguments import objective_of, rates


class MovedRows(NamedTuple):
    """The distinct rows that each batch of a block moves in a table, and the N places that give a row its gradient."""

    order: Int32Array  # [S, N], the places of a batch sorted by row; those of one row keep their order
    sums: Int32Array  # [S, N], which of the batch's rows each of these places belongs to
    rows: Int32Array  # the rows of all batches, one batch after the other
    ends: Int32Array  # [S + 1], 0 and where the rows of each batch end


def moved_rows(ids: Int32Array) -> MovedRows:
    """Return the distinct rows of each batch of ids [S, R, N]."""
    of_batches = ids.reshape(len(ids), -1)
    order = np.argsort(of_batches, axis=1, kind="stable")
    ordered = np.take_along_axis(of_batches, order, 1)
    is_first = np.ones(ordered.shape, bool)
    is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return MovedRows(
        order=order.astype(np.int32),
        sums=np.cumsum(is_first, axis=1, dtype=np.int32) - np.int32(1),
        rows=ordered[is_first],
        ends=np.concatenate([[0], np.cumsum(is_first.sum(1))]).astype(np.int32),
    )


def tables_moved(model: WorkerModel, block: Block) -> tuple[MovedRows, MovedRows]:
    """Return the input rows and the output rows that each batch of a block moves: none of a frozen table."""
    assert block.candidate_ids is not None
    moved = objective_of(model.settings).moved_tables()
    inputs, outputs = (
        moved_rows(ids if table in moved else ids[..., :0])
        for table, ids in enumerate((block.input_ids, block.candidate_ids))
    )
    return inputs, outputs


def with_sentences(model: WorkerModel, assignment: Assignment) -> Assignment:
    """Return an assignment with the ids of its words, because servers cannot read an encoded corpus."""
    check(model, assignment)
    task = assignment.task
    return replace(assignment, task=replace(task, content=sentences_of(model.maker, task)))


# -- what a worker needs -----------------------------------------------------------------------------------------------


class ColumnBlock(NamedTuple):
    """A block as its worker's graph takes it."""

    left: Any  # [S, R, B], contexts before each token
    right: Any  # [S, R, B], contexts after each token
    candidates: Any  # [S, R, P + K], output rows: the widened run, and the run's negatives
    window: Any
    input_rows: Any  # the distinct input rows of all batches, one batch after the other
    input_ends: Any  # [S + 1], 0 and where the rows of each batch end
    moved: Any  # [S], distinct rows of both tables
    basics: BlockBasics


def _int(rank: int) -> tf.TensorSpec:
    return tf.TensorSpec([None] * rank, tf.int32)


_SPECS = ColumnBlock(_int(3), _int(3), _int(3), _int(0), _int(1), _int(1), _int(1), BASICS)


def column_block(model: WorkerModel, assignment: Assignment, metrics: Float64Array) -> ColumnBlock:
    """Return the assignment's block; one without batches if subsampling leaves no token."""
    check(model, assignment)
    prepared = prepare(model.maker, assignment.task)
    if prepared is None:
        return zeros_for(_SPECS)._replace(basics=basics_without_batches(assignment, metrics))
    block = prepared.block
    assert block.candidate_ids is not None
    inputs, outputs = tables_moved(model, block)
    scales = rates(model.settings, prepared, model.lock_factors)
    return ColumnBlock(
        left=block.left,
        right=block.right,
        candidates=block.candidate_ids,
        window=np.int32(block.window),
        input_rows=inputs.rows,
        input_ends=inputs.ends,
        moved=np.diff(inputs.ends) + np.diff(outputs.ends),
        basics=BlockBasics.of(block, scales, assignment, metrics),
    )


COLUMN_BLOCK = BlockKind("gensim_tfw2v.make_column_block", _SPECS, column_block)


# -- what a server needs -----------------------------------------------------------------------------------------------


class ServerBatch(NamedTuple):
    """A batch as a server's part of a graph takes it."""

    inputs: Any  # [1, R, B], input rows
    candidates: Any  # [1, R, P + K], output rows
    window: Any
    input_order: Any  # as `MovedRows` has them
    input_sums: Any
    input_rows: Any
    output_order: Any
    output_sums: Any
    output_rows: Any


SERVER_BATCH = ServerBatch(_int(3), _int(3), _int(0), *[_int(1)] * 6)


@dataclass(frozen=True)
class ServerBlock:
    """A block that a server keeps while it is trained."""

    lease_key: int
    block: Block | None  # None if subsampling leaves no token
    inputs: MovedRows | None
    outputs: MovedRows | None

    @classmethod
    def of(cls, model: WorkerModel, assignment: Assignment) -> ServerBlock:
        """Return the assignment's block."""
        check(model, assignment)
        prepared = prepare(model.maker, assignment.task)
        if prepared is None:
            return cls(assignment.lease_key, None, None, None)
        return cls(assignment.lease_key, prepared.block, *tables_moved(model, prepared.block))

    @property
    def batches(self) -> int:
        """The number of batches."""
        return 0 if self.block is None else len(self.block.pairs)

    def batch(self, number: int) -> ServerBatch:
        """Return copies of the arrays of a batch: a graph may write to the arrays that a Python function returns."""
        block, inputs, outputs = self.block, self.inputs, self.outputs
        assert block is not None and block.candidate_ids is not None and inputs is not None and outputs is not None
        span = slice(number, number + 1)

        def of_batch(moved: MovedRows) -> tuple[Int32Array, Int32Array, Int32Array]:
            rows = moved.rows[moved.ends[number] : moved.ends[number + 1]]
            return moved.order[number].copy(), moved.sums[number].copy(), rows.copy()

        return ServerBatch(
            block.input_ids[span].copy(),
            block.candidate_ids[span].copy(),
            np.int32(block.window),
            *of_batch(inputs),
            *of_batch(outputs),
        )

"""A chunk → its block as every task makes it, so that only the ids of its words are sent.

The worker and all servers make the same block from the same bytes: the same words are dropped, and the same negatives
are drawn from the chunk's seed. For each batch they also know the distinct rows that it moves, in the same order.
Servers keep blocks while these are trained, for graphs that call by name.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array, Int32Array, UInt8Array
from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.blocks.chunk_task import prepare, sentences_of
from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import BASICS, BlockBasics, basics_without_batches, zeros_for
from gensim_tfw2v.placement.tasks.block_factory import BlockFactory
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.arguments import objective_of, rates

READ_WORDS = "gensim_tfw2v.read_words"
KEEP_COLUMN_BLOCK = "gensim_tfw2v.keep_column_block"
COLUMN_BATCH = "gensim_tfw2v.column_batch"
DROP_COLUMN_BLOCK = "gensim_tfw2v.drop_column_block"
# More blocks than this are kept if they are in use: unused ones may be those of coordinators that have died.
_BLOCKS_KEPT = 256
_SECONDS_KEPT = 900.0


class MovedRows(NamedTuple):
    """The distinct rows that each batch of a block moves in a table, and the N places that give a row its gradient."""

    order: Int32Array  # [S, N], the places of a batch sorted by row; those of one row keep their order
    sums: Int32Array  # [S, N], which of the batch's rows each of these places belongs to
    rows: Int32Array  # the rows of all batches, one batch after the other
    ends: Int32Array  # [S + 1], 0 and where the rows of each batch end

    def of_batch(self, number: int) -> tuple[Int32Array, Int32Array, Int32Array]:
        """Return the order, the sums and the rows of one batch."""
        return self.order[number], self.sums[number], self.rows[self.ends[number] : self.ends[number + 1]]


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


def server_batches(model: WorkerModel, assignment: Assignment) -> list[ServerBatch]:
    """Return the batches of the assignment's block, none if subsampling leaves no token."""
    check(model, assignment)
    prepared = prepare(model.maker, assignment.task)
    if prepared is None:
        return []
    block = prepared.block
    assert block.candidate_ids is not None
    inputs, outputs = tables_moved(model, block)
    return [
        ServerBatch(
            block.input_ids[number : number + 1],
            block.candidate_ids[number : number + 1],
            np.int32(block.window),
            *inputs.of_batch(number),
            *outputs.of_batch(number),
        )
        for number in range(len(block.pairs))
    ]


class KeptBlocks:
    """Keeps the blocks in training where the tables are."""

    def __init__(self, factory: BlockFactory) -> None:
        self._factory = factory
        # By the lease's key and the job, the one that was used last at the end, with the time of that.
        self._blocks: OrderedDict[tuple[int, int], tuple[float, list[ServerBatch]]] = OrderedDict()
        self._lock = threading.Lock()

    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Return what graphs call, by name."""
        return {
            READ_WORDS: self.read_words,
            KEEP_COLUMN_BLOCK: self.keep,
            COLUMN_BATCH: self.batch,
            DROP_COLUMN_BLOCK: self.drop,
        }

    def read_words(self, name: bytes, assignment: Any) -> Any:
        """Return the bytes of an assignment with the ids of its words, because servers cannot read a corpus."""

        def with_sentences(model: WorkerModel, work: Assignment) -> UInt8Array:
            check(model, work)
            return encode(replace(work, task=replace(work.task, content=sentences_of(model.maker, work.task))))

        return self._factory.answer(name, assignment, with_sentences)

    def keep(self, name: bytes, assignment: Any, job: Any) -> np.bool_:
        """Make the block that an assignment describes, and keep it until it is dropped."""

        def make(model: WorkerModel, work: Assignment) -> tuple[int, list[ServerBatch]]:
            return work.lease_key, server_batches(model, work)

        lease_key, batches = self._factory.answer(name, assignment, make)
        with self._lock:
            self._use((lease_key, int(job)), batches)
            while len(self._blocks) > _BLOCKS_KEPT and self._is_oldest_unused():
                self._blocks.popitem(last=False)
        return np.bool_(True)

    def _use(self, block: tuple[int, int], batches: list[ServerBatch]) -> None:
        self._blocks[block] = time.monotonic(), batches
        self._blocks.move_to_end(block)

    def _is_oldest_unused(self) -> bool:
        used, _ = next(iter(self._blocks.values()))
        return time.monotonic() - used > _SECONDS_KEPT

    def batch(self, lease_key: Any, job: Any, batch: Any) -> Any:
        """Return the arrays of one of a kept block's batches."""
        with self._lock:
            _, batches = self._blocks.get((int(lease_key), int(job)), (0.0, []))
            if batches:
                self._use((int(lease_key), int(job)), batches)
        if not 0 <= batch < len(batches):
            raise TaskError(f"this server has no batch {batch} of the job {job}")
        # Copies, because a graph may write to the arrays that a Python function returns.
        return [values.copy() for values in batches[int(batch)]]

    def drop(self, lease_key: Any, job: Any, is_done: Any) -> np.bool_:
        """Drop a block if it is done; otherwise another worker may still need it."""
        if is_done:
            with self._lock:
                self._blocks.pop((int(lease_key), int(job)), None)
        return np.bool_(True)

"""A worker's model and its assignment → a block as arrays for the worker's graph, with rows numbered anew.

A worker trains on copies of the rows that its block touches, all in one matrix, in the order in which the shards send
them: from shard 0 rows of inputs, then of outputs, then of nodes, from shard 1 likewise, and so on. Row r of a table is
row r // S of shard r % S, so that frequent words, which have the smallest ids, are spread over all servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float32Array, Float64Array, Int32Array
from gensim_tfw2v.blocks.batches import Block, BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, PreparedBlock, prepare
from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.steps.arguments import block_tensors, lookups_for, rates
from gensim_tfw2v.steps.concurrent_updates import HOT_ROWS, HotRows, hot_rows_of
from gensim_tfw2v.steps.row_sharing import RowSharing
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.steps.signature import SIGNATURE, BlockTensors, Lookups, Rates

_Specs = TypeVar("_Specs")


@dataclass(frozen=True)
class WorkerModel:
    """All that a worker has to know of a model to make its blocks."""

    settings: StepSettings
    maker: BlockMaker
    words: int  # rows of inputs and of outputs
    nodes: int
    lock_factors: Float32Array


@dataclass(frozen=True)
class Assignment:
    """A chunk for a worker, with what the worker has to know besides its model."""

    lease_key: int  # of the tables that the block is trained on
    shards: int
    concurrent_blocks: int
    sharing: RowSharing
    task: ChunkTask


class BlockRows(NamedTuple):
    """The rows that a block touches, in the order of the worker's matrix."""

    numbers: Any  # [U], within their shards
    counts: Any  # [S, 3], how many each shard has of inputs, outputs, nodes


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


def check(model: WorkerModel, assignment: Assignment) -> None:
    """Raise TaskError if an assignment has ids of no word, or does not fit the model in another way."""
    content, sharing = assignment.task.content, assignment.sharing
    if isinstance(content, Sentences):
        ids, lengths = content.ids, content.lengths
        if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < model.words:
            raise TaskError(f"the sentences have ids from {ids.min()} to {ids.max()}, of {model.words} words")
        if lengths.min(initial=0) < 0 or int(lengths.sum(dtype=np.int64)) != ids.size:
            raise TaskError(f"the sentences do not end where their {ids.size} words do")
    smallest_table = min(model.words, model.nodes or model.words)
    if assignment.shards < 1 or not 0 <= sharing.rows <= smallest_table:
        raise TaskError(f"there are no tables of {assignment.shards} shards with {sharing.rows} shared rows")


class NeededRows(NamedTuple):
    """The rows that a block needs of a table."""

    ids: Sequence[Int32Array]  # none if it does not use the table
    table_rows: int
    shared: Int32Array  # ids of shared rows, which it needs whether it trains them or not

    def is_used(self) -> bool:
        """Return whether the block uses the table."""
        return bool(self.ids)

    def by_shard(self, shards: int) -> list[Int32Array]:
        """Return the distinct ids as numbers within their shards, for each shard."""
        if not self.ids:
            return [np.zeros(0, np.int32)] * shards
        is_needed = np.zeros(self.table_rows, bool)
        for ids in self.ids:
            is_needed[ids] = True
        is_needed[self.shared] = True
        return [np.flatnonzero(is_needed[shard::shards]).astype(np.int32) for shard in range(shards)]


def needed_rows(model: WorkerModel, block: Block, sharing: RowSharing) -> list[NeededRows]:
    """Return what a block needs of inputs, outputs and nodes."""
    outputs = [ids for ids in (block.candidate_ids, block.target_ids) if ids is not None]
    shared_words = sharing.ids(model.words, are_nodes=False)
    return [
        NeededRows([block.input_ids], model.words, shared_words),
        NeededRows(outputs, model.words, shared_words),
        NeededRows([block.tree.nodes] if block.tree else [], model.nodes, sharing.ids(model.nodes, are_nodes=True)),
    ]


def numbered(tables: Sequence[NeededRows], shards: int) -> tuple[list[Int32Array], BlockRows]:
    """Return for each table the place of each row in the worker's matrix, 0 for others; and the matrix's rows."""
    needed = [table.by_shard(shards) for table in tables]
    counts = np.array([[len(by_shard[shard]) for by_shard in needed] for shard in range(shards)], np.int32)
    starts = (np.cumsum(counts) - counts.reshape(-1)).reshape(counts.shape)
    places = []
    for number, (by_shard, table) in enumerate(zip(needed, tables, strict=True)):
        place = np.zeros(table.table_rows, np.int32)
        for shard, numbers in enumerate(by_shard):
            first = starts[shard, number]
            place[shard::shards][numbers] = np.arange(first, first + len(numbers), dtype=np.int32)
        places.append(place)
    numbers = np.concatenate([by_shard[shard] for shard in range(shards) for by_shard in needed])
    return places, BlockRows(numbers, counts)


def renumbered(block: Block, inputs: Int32Array, outputs: Int32Array, nodes: Int32Array) -> Block:
    """Return the block with places in the worker's matrix instead of ids."""
    return replace(
        block,
        input_ids=inputs[block.input_ids],
        candidate_ids=None if block.candidate_ids is None else outputs[block.candidate_ids],
        target_ids=None if block.target_ids is None else outputs[block.target_ids],
        tree=None if block.tree is None else replace(block.tree, nodes=nodes[block.tree.nodes]),
    )


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


def no_rows(shards: int) -> BlockRows:
    """Return the rows of a block that touches none."""
    return BlockRows(np.zeros(0, np.int32), np.zeros((shards, 3), np.int32))

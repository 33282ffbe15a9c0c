"""Rows that a block needs, numbered anew for the matrix of a worker.

A worker trains on copies of the rows that its block touches, all in one matrix, in the order in which the shards send
them: from shard 0 rows of inputs, then of outputs, then of nodes, from shard 1 likewise, and so on. Row r of a table is
row r // S of shard r % S, so that frequent words, which have the smallest ids, are spread over all servers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.placement.tasks.model import WorkerModel


class BlockRows(NamedTuple):
    """The rows that a block touches, in the order of the worker's matrix."""

    numbers: Any  # [U], within their shards
    counts: Any  # [S, 3], how many each shard has of inputs, outputs, nodes


BLOCK_ROWS = BlockRows(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 3], tf.int32))


@dataclass(frozen=True)
class NeededRows:
    """The rows that a block needs of a table."""

    ids: Sequence[Int32Array]  # none if it does not use the table
    table_rows: int

    @functools.cached_property
    def distinct(self) -> Int32Array:
        """The distinct ids in ascending order."""
        is_needed = np.zeros(self.table_rows if self.ids else 0, bool)
        for ids in self.ids:
            is_needed[ids] = True
        return np.flatnonzero(is_needed).astype(np.int32)

    def by_shard(self, shards: int) -> list[Int32Array]:
        """Return the distinct ids as numbers within their shards, for each shard."""
        if shards == 1:
            return [self.distinct]
        return [self.distinct[self.distinct % shards == shard] // shards for shard in range(shards)]


def needed_rows(model: WorkerModel, block: Block) -> list[NeededRows]:
    """Return what a block needs of inputs, outputs and nodes."""
    outputs = [ids for ids in (block.candidate_ids, block.target_ids) if ids is not None]
    return [
        NeededRows([block.input_rows()], model.inputs),
        NeededRows(outputs, model.words),
        NeededRows([block.tree.nodes] if block.tree else [], model.nodes),
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
    bags, are_rows = block.bags, block.bags is None or block.documents is not None
    return replace(
        block,
        input_ids=inputs[block.input_ids] if are_rows else block.input_ids,
        bags=None if bags is None else replace(bags, members=inputs[bags.members]),
        unique_rows=None if block.unique_rows is None else inputs[block.unique_rows],
        candidate_ids=None if block.candidate_ids is None else outputs[block.candidate_ids],
        target_ids=None if block.target_ids is None else outputs[block.target_ids],
        tree=None if block.tree is None else replace(block.tree, nodes=nodes[block.tree.nodes]),
    )


def chosen_rows(rows: BlockRows, places: Int32Array) -> BlockRows:
    """Return the rows at these places of the worker's matrix, which are in ascending order."""
    part = np.searchsorted(np.cumsum(rows.counts), places, side="right")  # shard by shard, table by table
    counts = np.bincount(part, minlength=rows.counts.size).reshape(rows.counts.shape)
    return BlockRows(rows.numbers[places], counts.astype(np.int32))


def table_of_each_row(rows: BlockRows) -> tf.Tensor:
    """Return in a graph which of inputs, outputs and nodes each row [U] is of."""
    shards, tables = tf.unstack(tf.shape(rows.counts))
    return tf.repeat(tf.tile(tf.range(tables), [shards]), tf.reshape(rows.counts, [-1]))


def no_rows(shards: int) -> BlockRows:
    """Return the rows of a block that touches none."""
    return BlockRows(np.zeros(0, np.int32), np.zeros((shards, 3), np.int32))

"""A part of a round in one process, as graphs: its block → the changes of the rows it trains; all changes → the tables.

The steps, and the scaling of changes, are those of a worker that trains a part of a round on a cluster.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.server_rows.numbering import BLOCK_ROWS, BlockRows
from gensim_tfw2v.placement.server_rows.shape import GraphShape
from gensim_tfw2v.placement.server_rows.staging import STAGED_BLOCK
from gensim_tfw2v.placement.server_rows.sums import add_by_table
from gensim_tfw2v.placement.server_rows.worker_training import WorkerTraining
from gensim_tfw2v.placement.tasks.block import WorkerBlock
from gensim_tfw2v.placement.tasks.graph_parts import concrete
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import kernel
from gensim_tfw2v.steps.rows import read_rows
from gensim_tfw2v.steps.side_by_side import side_by_side
from gensim_tfw2v.steps.signature import SIGNATURE, Objective, Tables

_CHANGES = tf.TensorSpec([None, None], tf.float32)


class TrainedPart(NamedTuple):
    """What a part's steps return."""

    batches: BatchMetrics
    most_moved: Any  # the word that moved most and how far [2], if steps were refused; otherwise -1 and 0
    changes: Any  # [U, D] of the rows that the part needs, in the order of its matrix


class RowChanges(NamedTuple):
    """A part's rows and their changes."""

    rows: BlockRows
    changes: Any


@functools.cache
def part_function(objective: Objective) -> tf.types.experimental.ConcreteFunction:
    """Return the graph function (tables, block) → `TrainedPart`, flat; it changes no row of the tables."""
    train_block = side_by_side(block_function(objective, kernel()))
    # All rows are here: there is one shard, and nothing is sent.
    shape = GraphShape(objective, 1, servers=0, connection=0, overlap=False, row_type="float32")

    def train(tables: Tables, block: WorkerBlock) -> list[tf.Tensor]:
        needed: BlockRows = block.extra.needed
        numbers = tf.split(needed.numbers, needed.counts[0], num=len(TABLES))
        start = tf.concat([read_rows(tables[table], numbers[table]) for table in objective.tables()], 0)
        batches, changes, most_moved = WorkerTraining(shape, train_block, block, start).run()
        flat: list[tf.Tensor] = tf.nest.flatten(TrainedPart(batches, most_moved, changes))
        return flat

    return concrete(train, SIGNATURE[0], STAGED_BLOCK.specs)


@functools.cache
def sum_function(objective: Objective, parts: int) -> tf.types.experimental.ConcreteFunction:
    """Return the graph function (tables, a `RowChanges` for each part) → number of changed rows, parts' rows summed.

    Each row gets its changes in the order of the parts, so timing cannot change their sum. Tables are changed side by
    side.
    """

    def add(tables: Tables, of_parts: tuple[RowChanges, ...]) -> tf.Tensor:
        added: list[tf.Tensor] = []
        for table in objective.moved_tables():
            before: list[tf.Tensor] = []
            for rows, changes in of_parts:
                with tf.control_dependencies(before):
                    before = add_by_table({table: tables[table]}, rows.counts[0], rows.numbers, changes)
                added += before
        return tf.add_n(added)

    return concrete(add, SIGNATURE[0], (RowChanges(BLOCK_ROWS, _CHANGES),) * parts)

"""A worker's part of a round → a block as arrays for the worker's graph; ids are rows of the worker's own tables."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float32Array, Float64Array, Int32Array
from gensim_tfw2v.blocks.chunk_task import PreparedBlock
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.block import WorkerBlock, worker_block_specs
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.placement.tasks.plain_block import block_on_own_tables
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.concurrent_updates import HOT_ROWS, HotRows, moment_weights, most_trained, strengths_by_row


class TrainedRows(NamedTuple):
    """The rows that a block trains, without shared rows, table after table."""

    rows: Any  # [U], within their tables
    strengths: Any  # [U], as in `concurrent_updates`
    counts: Any  # [3], how many rows are of inputs, outputs, nodes


class RoundRows(NamedTuple):
    """The rows of a block in its worker's tables."""

    hot: HotRows
    trained: TrainedRows


def _own_block(model: WorkerModel, assignment: Assignment, metrics: Float64Array) -> WorkerBlock:
    return block_on_own_tables(model, assignment, metrics, functools.partial(_rows_of, model, assignment))


def _rows_of(model: WorkerModel, assignment: Assignment, prepared: PreparedBlock | None) -> RoundRows:
    """Return the shared rows and those that a block trains most, and all rows that it trains except shared ones."""
    rows = max(model.inputs, model.words, model.nodes)
    if prepared is None:
        none = np.zeros(rows, np.float32)
        rate, strengths, moments = 0.0, (none, none, none), np.array([1, 0], np.float32)
    else:
        rate = float(prepared.learning_rates.mean())
        strengths = strengths_by_row(prepared.block, rows, model.settings)
        moments = moment_weights(prepared.block, model.settings)
    hot, trained = [], []
    moved = objective_of(model.settings).moved_tables()
    for table, (of_table, first) in enumerate(zip(strengths, _shared_rows(model, assignment), strict=True)):
        hot.append(most_trained(rate * of_table, first) if len(first) else (first, np.zeros(0, np.float32)))
        is_trained = of_table > (0 if table in moved else np.inf)  # rows of a frozen table stay where they are
        is_trained[first] = False
        found = np.flatnonzero(is_trained).astype(np.int32)
        # Rows that are trained at a rate of zero have no strength, and stay where they are.
        trained.append((found, of_table[found] * np.float32(rate)))
    return RoundRows(
        HotRows(*_joined(hot), np.float32(assignment.concurrent_blocks), moments), TrainedRows(*_joined(trained))
    )


def _shared_rows(model: WorkerModel, assignment: Assignment) -> list[Int32Array]:
    """Return the shared rows of inputs, outputs and nodes."""
    sharing, settings = assignment.sharing, model.settings
    none = np.zeros(0, np.int32)
    words = sharing.ids(model.words, are_nodes=False)
    return [
        words,
        words if settings.negative else none,
        sharing.ids(model.nodes, are_nodes=True) if settings.hierarchical_softmax else none,
    ]


def _joined(of_tables: list[tuple[Int32Array, Float32Array]]) -> tuple[Int32Array, Float32Array, Int32Array]:
    rows, strengths = (np.concatenate(arrays) for arrays in zip(*of_tables, strict=True))
    return rows, strengths, np.array([len(of_table) for of_table, _ in of_tables], np.int32)


_TRAINED_ROWS = TrainedRows(
    tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.float32), tf.TensorSpec([3], tf.int32)
)
OWN_BLOCK = BlockKind("gensim_tfw2v.make_own_block", worker_block_specs(RoundRows(HOT_ROWS, _TRAINED_ROWS)), _own_block)

"""Rows of one worker in graphs: what the graphs take, and the rows that all workers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.steps.row_sharing import RowSharing, first_shared_row
from gensim_tfw2v.steps.rows import read_rows, write_rows
from gensim_tfw2v.steps.signature import Objective

HANDLE = tf.TensorSpec([], tf.resource)
_NODES = TABLES.index("nodes")


@dataclass(frozen=True)
class RoundShape:
    """The values that a trace depends on: each combination has a trace of its own."""

    objective: Objective
    connection: int  # its number: tasks of a new connection do not have the functions of an older one
    row_type: str  # TensorFlow's name of the number format in which rows are sent
    sharing: RowSharing  # rows that are averaged after every part; none if a worker trains alone

    def tables(self) -> list[int]:
        """Return which of inputs, outputs and nodes the objective uses."""
        return self.objective.tables()

    def moved_tables(self) -> list[int]:
        """Return which of them change; only these have shared rows, and are averaged."""
        return self.objective.moved_tables()

    def moved(self, of_tables: Sequence[Any]) -> list[tuple[int, Any]]:
        """Return the tables that change, each with what belongs to it in a sequence with one value for each table."""
        moved = self.moved_tables()
        return [(table, own) for table, own in zip(self.tables(), of_tables, strict=True) if table in moved]


class WorkerHandles(NamedTuple):
    """Resource handles of one worker's variables, for each table in use."""

    current: tuple[Any, ...]  # [rows, D]
    base: tuple[Any, ...]  # [rows, D]
    strengths: tuple[Any, ...]  # [rows, 1], summed over the round's parts; more than 0 where a row may have changed
    start: Any  # [T * H, D], shared rows of tables that change, as they were before the part


def handle_specs(shape: RoundShape) -> WorkerHandles:
    of_tables = (HANDLE,) * len(shape.tables())
    return WorkerHandles(of_tables, of_tables, of_tables, HANDLE)


def _shared_ids(shape: RoundShape, table: int, handle: tf.Tensor) -> tf.Tensor:
    """Return the shared rows of a table: those of the most frequent words, or the tree's first nodes."""
    count = shape.sharing.rows
    size = tf.raw_ops.VariableShape(input=handle)[0]
    return tf.range(count) + first_shared_row(size, count, are_nodes=table == _NODES)


def shared_rows(shape: RoundShape, handles: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the shared rows [H, D] of each table that changes, given all tables' handles."""
    return [read_rows(handle, _shared_ids(shape, table, handle)) for table, handle in shape.moved(handles)]


def write_shared_rows(shape: RoundShape, handles: Sequence[tf.Tensor], values: tf.Tensor) -> list[tf.Tensor]:
    """Write the shared rows [T * H, D] of all tables that change, given all tables' handles."""
    moved = shape.moved(handles)
    of_tables = zip(moved, tf.split(values, len(moved)), strict=True)
    return [write_rows(handle, _shared_ids(shape, table, handle), rows) for (table, handle), rows in of_tables]


def strengths_of(handle: tf.Tensor) -> tf.Tensor:
    """Return the strengths [rows] of a table's rows."""
    found = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
    return tf.ensure_shape(found, [None, 1])[:, 0]

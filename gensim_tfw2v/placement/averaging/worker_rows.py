"""Rows of one worker in graphs: what the graphs take, and the rows that all workers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import tensorflow as tf

from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.tasks.graph_parts import HANDLE
from gensim_tfw2v.steps.row_sharing import RowSharing, first_shared_row
from gensim_tfw2v.steps.rows import read_rows, write_rows
from gensim_tfw2v.steps.signature import Objective

_NODES = TABLES.index("nodes")

_Own = TypeVar("_Own")


@dataclass(frozen=True)
class RoundShape:
    """The values that a trace depends on: each combination has a trace of its own."""

    objective: Objective
    connection: int  # its number: tasks of a new connection do not have the functions of an older one
    row_type: str  # TensorFlow's name of the number format in which rows are sent
    sharing: RowSharing  # rows that are averaged after every part; none if a worker trains alone

    def with_numbers(self, of_tables: Sequence[_Own]) -> list[tuple[int, _Own]]:
        """Return which of inputs, outputs and nodes the objective uses, each with its value in this sequence."""
        return list(zip(self.objective.tables(), of_tables, strict=True))

    def moved(self, of_tables: Sequence[_Own]) -> list[tuple[int, _Own]]:
        """Return the same for tables that change; only these have shared rows, and are averaged."""
        moved = self.objective.moved_tables()
        return [(table, own) for table, own in self.with_numbers(of_tables) if table in moved]


class TableHandles(NamedTuple):
    """Resource handles of one table of one worker."""

    current: Any  # [rows, D]
    base: Any  # [rows, D]
    strengths: Any  # [rows, 1], summed over the round's parts; more than 0 where a row may have changed


TABLE_HANDLES = TableHandles(HANDLE, HANDLE, HANDLE)


class WorkerHandles(NamedTuple):
    """Resource handles of one worker's variables."""

    tables: tuple[TableHandles, ...]  # those in use
    start: Any  # [T * H, D], shared rows of tables that change, as they were before the part

    @property
    def current(self) -> list[Any]:
        """The current table of each table."""
        return [table.current for table in self.tables]


def handle_specs(shape: RoundShape) -> WorkerHandles:
    return WorkerHandles((TABLE_HANDLES,) * len(shape.objective.tables()), HANDLE)


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

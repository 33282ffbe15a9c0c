"""Rows with the optimizer's state behind their vector, in any placement: tables there have a column more.

The state is where its row is, so it travels wherever rows travel, and designs need not know it. A model keeps it
beside its tables between trainings, in `ModelTables.states`. Tables that stay on servers keep their column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array, pieces
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.positions import BEGINNING, PassPosition
from gensim_tfw2v.placement.contract import ModelTables, Placement

STATE_SUFFIX = ".state"
"""What the name of a table's states adds to the table's."""


def with_states(placement: Placement) -> Placement:
    """Return a placement of the model's tables that trains rows with states in the given one."""
    return placement if placement.adds_states else _PlacementWithStates(placement)


def widened(tables: ModelTables) -> ModelTables:
    """Return tables with their states as their last column, zeros where there are none.

    Rows are put together when they are read, so that large tables need no second copy. Tables on servers have theirs
    there.
    """
    wide: dict[str, Any] = {
        name: _RowsWithStates(vectors, tables.states.get(name, np.zeros(len(vectors), np.float32)))
        for name, vectors in tables.in_process().items()
    }
    return replace(tables, **wide)


def widened_pieces(
    pieces: Iterable[tuple[int, Float32Array]], states: Float32Array
) -> Iterator[tuple[int, Float32Array]]:
    """Yield pieces of a table, each the number of its first row and the rows, with the states as their last column."""
    for first, rows in pieces:
        yield first, np.asarray(_RowsWithStates(rows, states[first : first + len(rows)]))


class _RowsWithStates:
    """Some rows of a matrix, with a column of states behind it."""

    def __init__(self, vectors: Float32Array, states: Float32Array) -> None:
        self._vectors, self._states = vectors, states
        self.shape = len(vectors), vectors.shape[1] + 1

    def __len__(self) -> int:
        return len(self._vectors)

    def __getitem__(self, rows: slice) -> _RowsWithStates:
        return _RowsWithStates(self._vectors[rows], self._states[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Float32Array:
        found: Float32Array = np.empty(self.shape, np.float32)
        found[:, :-1], found[:, -1] = self._vectors, self._states
        return found if dtype is None else found.astype(dtype, copy=False)

    def any(self) -> bool:
        """Return whether a number is not 0."""
        return bool(self._vectors.any() or self._states.any())


class _PlacementWithStates(Placement):
    """Has another placement train the model's tables with a column of states."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self.concurrency, self.can_fail = placement.concurrency, placement.can_fail
        self.reading_takes_long = placement.reading_takes_long
        self.epochs_may_overlap = placement.epochs_may_overlap
        self.trains_in_place = placement.trains_in_place
        self._row_counts: dict[str, int] = {}  # of each table

    @property
    def has_failed(self) -> bool:
        return self._placement.has_failed

    def load(self, tables: ModelTables) -> None:
        self._row_counts = {name: len(rows) for name, rows in tables.present().items()}
        self._placement.load(widened(tables))

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        return self._placement.train_chunk(task)

    def read_into(self, tables: ModelTables) -> None:
        for name, values in tables.copied().items():
            states = tables.states.get(name)
            for part in pieces(values):
                rows = self._placement.rows(name, part.start, part.stop)
                values[part] = rows[:, :-1]
                if states is not None:
                    states[part] = rows[:, -1]

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        rows = self._placement.rows(table.removesuffix(STATE_SUFFIX), first, end)
        return np.ascontiguousarray(rows[:, -1:] if table.endswith(STATE_SUFFIX) else rows[:, :-1])

    def row_states(self) -> Mapping[str, tuple[int, ...]]:
        return {name + STATE_SUFFIX: (rows, 1) for name, rows in self._row_counts.items()}

    def restore_tables(self, read: Callable[[str], Float32Array]) -> None:
        self._placement.restore_tables(read)

    def begin_epoch(self, epoch: int, begin: PassPosition = BEGINNING) -> None:
        self._placement.begin_epoch(epoch, begin)

    def end_epoch(self, epoch: int) -> None:
        self._placement.end_epoch(epoch)

    def own_tables(self) -> Mapping[str, tuple[int, ...]]:
        return self._placement.own_tables()

    def state(self) -> dict[str, Any]:
        return self._placement.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        self._placement.restore(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return self._placement.task_metrics()

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return self._placement.report(raw_words)

    def close(self) -> None:
        self._placement.close()

"""The tables of one worker: the base that all workers have alike, and the current ones that it trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.remote.tables import RemoteTables

if TYPE_CHECKING:
    from gensim_tfw2v.placement.averaging.worker_rows import WorkerHandles


class WorkerTables:
    """Makes, fills and frees a worker's tables.

    Current tables that a failed call may still write to are given up: new ones take their place.
    """

    def __init__(self, connection: Connection, worker: int) -> None:
        self._tables = RemoteTables(connection, 1, [("worker", worker)])
        self._names: list[str] = []  # of the base
        self._number = 0  # of the current tables
        self._start = self._tables.keep("start", np.zeros((0, 1), np.float32))

    @property
    def lease(self) -> str:
        """The name of the lease."""
        return self._tables.name

    def load(self, tables: Mapping[str, Float32Array]) -> None:
        """Set the tables to these values."""
        self._names = list(tables)
        for name, values in tables.items():
            self._tables.load(name, values)
        self.renew()

    def copy_from(self, other: WorkerTables) -> None:
        """Set the tables to the base of another worker, which sends it."""
        self._names = list(other._names)
        for name in self._names:
            self._tables.copy_from(other._tables, name)
        self.renew()

    def renew(self) -> None:
        """Replace the current tables by new ones with the values of the base."""
        if self._number:
            for table in [*self._current(), *self._strengths()]:
                self._tables.drop(table)
        self._number += 1
        for name, current, strengths in zip(self._names, self._current(), self._strengths(), strict=True):
            self._tables.make_copy(current, name)
            self._tables.make(strengths, self._tables.shape(name).rows, 1)

    def _current(self) -> list[str]:
        return [f"current {self._number}/{name}" for name in self._names]

    def _strengths(self) -> list[str]:
        return [f"strengths {self._number}/{name}" for name in self._names]

    def handles(self, names: Sequence[str]) -> WorkerHandles:
        """Return the handles of the tables of these names."""
        from gensim_tfw2v.placement.averaging.worker_rows import WorkerHandles

        def of(tables: Sequence[str]) -> tuple[object, ...]:
            found = dict(zip(self._names, tables, strict=True))
            return tuple(self._tables.handles(found[name])[0] for name in names)

        return WorkerHandles(of(self._current()), of(self._names), of(self._strengths()), self._start)

    def rows_of(self, name: str) -> int:
        """Return the number of rows of a table."""
        return self._tables.shape(name).rows

    def rows(self, name: str, first: int, end: int) -> Float32Array:
        """Return rows of the base."""
        return self._tables.rows(name, first, end)

    def read_into(self, name: str, values: Float32Array) -> None:
        """Copy a table of the base into an array of its shape."""
        self._tables.read_into(name, values)

    def renew_lease(self) -> None:
        """Renew the lease."""
        self._tables.renew_lease()

    def free(self) -> None:
        """Free the memory."""
        self._tables.free()

    def free_later(self) -> None:
        """Free the memory when tables are made next on this worker, which may not answer now."""
        self._tables.free_later()

"""The tables of one worker: the base, which is the same on all workers, and the current tables, which it trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.worker_tables import WorkerTables
from gensim_tfw2v.placement.remote.tables import RemoteTables

if TYPE_CHECKING:
    from gensim_tfw2v.placement.averaging.worker_rows import WorkerHandles


class AveragedTables(WorkerTables):
    """Fills a worker's tables; `tables` reads the base by the model's names.

    New current tables replace those that a failed call may still write to.

    Attributes
    ----------
    have_base : bool
        Whether the base is whole. Another worker may still be sending it.
    partners : Any
        The directions that the worker's last part found. None before its first part.
    """

    def __init__(self, connection: Connection, member: Member, timeout: float) -> None:
        super().__init__(connection, member, timeout)
        self.have_base = False
        self.partners: Any = None
        self._names: list[str] = []  # of the base
        self._number = 0  # of the current tables
        self._start: Any = None

    def made(self) -> RemoteTables:
        is_new = not self.are_made
        tables = super().made()
        if is_new:
            self._start = tables.keep("start", np.zeros((0, 1), np.float32))
        return tables

    def load(self, values: Mapping[str, Float32Array]) -> None:
        """Set the base and the current tables to these values."""
        self._names = list(values)
        super().load(values)
        self.have_base = True
        self.renew()

    def copy_from(self, other: AveragedTables) -> None:
        """Set the tables to the base of another worker, which sends it."""
        tables = self.made()
        self._names = list(other._names)
        for name in self._names:
            tables.copy_from(other.tables, name)
        self.have_base = True
        self.renew()

    def renew(self) -> None:
        """Replace the current tables by new ones with the values of the base."""
        if self._number:
            for table in [*self._current(), *self._strengths()]:
                self.tables.drop(table)
        self._number += 1
        for name, current, strengths in zip(self._names, self._current(), self._strengths(), strict=True):
            self.tables.make_copy(current, name)
            self.tables.make(strengths, self.tables.shape(name).rows, 1)

    def begin_anew(self) -> None:
        """Reset the current tables to the base, and drop the directions that parts found."""
        self.renew()
        self.partners = None

    def _current(self) -> list[str]:
        return [f"current {self._number}/{name}" for name in self._names]

    def _strengths(self) -> list[str]:
        return [f"strengths {self._number}/{name}" for name in self._names]

    def handles(self, names: Sequence[str]) -> WorkerHandles:
        """Return the handles of the tables of these names."""
        from gensim_tfw2v.placement.averaging.worker_rows import WorkerHandles

        def of(tables: Sequence[str]) -> tuple[object, ...]:
            found = dict(zip(self._names, tables, strict=True))
            return tuple(self.tables.handles(found[name])[0] for name in names)

        return WorkerHandles(of(self._current()), of(self._names), of(self._strengths()), self._start)

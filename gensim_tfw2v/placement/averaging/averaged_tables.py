"""The tables of one worker: the base, which is the same on all workers, and the current tables, which it trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.averaging.worker_rows import TableHandles, WorkerHandles
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.worker_tables import WorkerTables
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.steps.concurrent_updates import Partners


class AveragedTables(WorkerTables):
    """Fills a worker's tables; `tables` reads the base by the model's names.

    New current tables replace those that a failed call may still write to.

    Attributes
    ----------
    have_base : bool
        Whether the base is whole. Another worker may still be sending it.
    partners : Partners or None
        The directions that the worker's last part found. None before its first part.
    """

    def __init__(self, connection: Connection, member: Member, timeout: float) -> None:
        super().__init__(connection, member, timeout)
        self.have_base = False
        self.partners: Partners | None = None
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
            for name in self._names:
                for table in self._current_and_strengths(name):
                    self.tables.drop(table)
        self._number += 1
        for name in self._names:
            current, strengths = self._current_and_strengths(name)
            self.tables.make_copy(current, name)
            self.tables.make(strengths, self.tables.shape(name).rows, 1)

    def begin_anew(self) -> None:
        """Reset the current tables to the base, and drop the directions that parts found."""
        self.renew()
        self.partners = None

    def _current_and_strengths(self, name: str) -> tuple[str, str]:
        return f"current {self._number}/{name}", f"strengths {self._number}/{name}"

    def handles(self, names: Sequence[str]) -> WorkerHandles:
        """Return the handles of the tables of these names."""

        def of(name: str) -> TableHandles:
            current, strengths = self._current_and_strengths(name)
            return TableHandles(*(self.tables.handles(table)[0] for table in (current, name, strengths)))

        return WorkerHandles(tuple(map(of, names)), self._start)

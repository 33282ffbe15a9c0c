"""The tables of one sub-model on its worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Float32Array
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.worker_tables import WorkerTables
from gensim_tfw2v.placement.partition.draws import Draw
from gensim_tfw2v.placement.partition.merged_tables import TRAINED


class WorkerSubModel(WorkerTables):
    """Fills and reads the tables of a sub-model.

    Parameters
    ----------
    on_read : callable
        Called with the worker, the bytes of each table that was read, and when reading began.
    """

    def __init__(
        self,
        connection: Connection,
        member: Member,
        draw: Draw,
        timeout: float,
        on_read: Callable[[Member, int, float], None],
    ) -> None:
        super().__init__(connection, member, timeout)
        self.draw, self._on_read = draw, on_read

    @property
    def number(self) -> int:
        """The sub-model's number."""
        return self.draw.submodel

    def load(self, values: Mapping[str, Float32Array]) -> None:
        if not self.are_made:
            self.made().make(TRAINED, len(values["inputs"]), 1)
        super().load(values)

    def handles(self) -> tuple[tuple[Any, ...], Any]:
        """Return the handles of inputs, outputs and nodes, with inputs for missing ones, and that of trained words."""
        return self.handles_for_steps(), self.tables.handles(TRAINED)[0]

    def load_table(self, name: str, values: Float32Array) -> None:
        """Set one table to these values; raise TablesLost if the worker does not answer."""
        self.ask(lambda tables: tables.load(name, values))

    def read_table(self, name: str, values: Float32Array) -> None:
        """Write the current values of one table into an array; raise TablesLost if they cannot be read."""
        began = time.monotonic()
        self.ask(lambda tables: tables.read_into(name, values))
        self._on_read(self.member, values.nbytes, began)

    def rows(self, name: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of one table; raise TablesLost if they cannot be read."""
        began = time.monotonic()
        found = self.ask(lambda tables: tables.rows(name, first, end))
        self._on_read(self.member, found.nbytes, began)
        return found

    def trained(self) -> BoolArray:
        """Return for each word whether its input vector has been trained."""
        marks = np.empty((self.tables.shape(TRAINED).rows, 1), np.float32)
        self.read_table(TRAINED, marks)
        return np.asarray(marks[:, 0] > 0)

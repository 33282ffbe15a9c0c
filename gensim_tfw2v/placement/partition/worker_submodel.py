"""The tables of one sub-model on its worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Float32Array
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.worker_tables import WorkerTables
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.partition.merged_tables import TRAINED
from gensim_tfw2v.placement.partition.sampling import Draw
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_Result = TypeVar("_Result")


class SubModelLost(Exception):
    """A sub-model whose tables cannot be read."""

    def __init__(self, submodel: WorkerSubModel, reason: str) -> None:
        super().__init__(reason)
        self.submodel, self.reason = submodel, reason


class WorkerSubModel(WorkerTables):
    """Fills and reads the tables of a sub-model.

    Parameters
    ----------
    on_read : callable
        Gets the worker and the bytes of each table that was read.
    """

    def __init__(
        self,
        connection: Connection,
        member: Member,
        draw: Draw,
        timeout: float,
        on_read: Callable[[Member, int], None],
    ) -> None:
        super().__init__(connection, member, timeout)
        self.draw, self._on_read = draw, on_read
        self._names: list[str] = []

    @property
    def number(self) -> int:
        """The sub-model's number."""
        return self.draw.submodel

    def load(self, values: Mapping[str, Float32Array]) -> None:
        """Set the tables, which are made if there are none, to these values."""
        self._names = list(values)
        is_new = not self.are_made
        tables = self.made()
        if is_new:
            tables.make(TRAINED, len(values["inputs"]), 1)
        for name, of_table in values.items():
            tables.load(name, of_table)

    def handles(self) -> tuple[tuple[Any, ...], Any]:
        """Return the handles of inputs, outputs and nodes, with inputs for missing ones; and that of trained words."""
        names = [name if name in self._names else "inputs" for name in TABLES]
        return tuple(self.tables.handles(name)[0] for name in names), self.tables.handles(TRAINED)[0]

    def load_table(self, name: str, values: Float32Array) -> None:
        """Set one table to these values; raise SubModelLost if the worker does not answer."""
        self._unless_lost(lambda: self.tables.load(name, values))

    def read_table(self, name: str, values: Float32Array) -> None:
        """Write the current values of one table into an array; raise SubModelLost if they cannot be had."""
        self._unless_lost(lambda: self.tables.read_into(name, values))
        self._on_read(self.member, values.nbytes)

    def rows(self, name: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of one table; raise SubModelLost if they cannot be had."""
        found = self._unless_lost(lambda: self.tables.rows(name, first, end))
        self._on_read(self.member, found.nbytes)
        return found

    def _unless_lost(self, call: Callable[[], _Result]) -> _Result:
        if self.is_lost:
            raise SubModelLost(self, "it was lost")
        try:
            return self.while_answering(call)
        except (load_tensorflow().errors.OpError, ClusterError) as error:
            remote_functions.clear_error()
            raise SubModelLost(self, brief(error)) from error

    def trained(self) -> BoolArray:
        """Return for each word whether its input vector has been trained."""
        marks = np.empty((self.tables.shape(TRAINED).rows, 1), np.float32)
        self.read_table(TRAINED, marks)
        return np.asarray(marks[:, 0] > 0)

"""The tables of one sub-model on its worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Float32Array
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.health import wait_while_answering
from gensim_tfw2v.cluster.task import key_of
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.partition.draws import Draw
from gensim_tfw2v.placement.partition.merged_tables import TRAINED
from gensim_tfw2v.placement.remote.left_tables import free_when_next_are_made
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_Result = TypeVar("_Result")


class SubModelLost(Exception):
    """A sub-model whose tables cannot be read."""

    def __init__(self, submodel: WorkerSubModel, reason: str) -> None:
        super().__init__(reason)
        self.submodel, self.reason = submodel, reason


class WorkerSubModel:
    """Makes, fills, reads and frees the tables of a sub-model.

    Parameters
    ----------
    timeout : float
        Seconds without an answer after which its worker counts as lost.
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
        self.member, self.draw = member, draw
        self.is_lost = False
        self._connection, self._timeout, self._on_read = connection, timeout, on_read
        self._made: RemoteTables | None = None
        self._is_given_up = False
        self._names: list[str] = []

    @property
    def _tables(self) -> RemoteTables:
        assert self._made is not None
        return self._made

    @property
    def number(self) -> int:
        """The sub-model's number."""
        return self.draw.submodel

    @property
    def lease(self) -> str | None:
        """The name of the lease, None before there are tables."""
        return None if self._made is None else self._made.name

    @property
    def lease_key(self) -> int:
        """The number by which the worker renews the lease."""
        return key_of(self._tables.name)

    def load(self, tables: Mapping[str, Float32Array]) -> None:
        """Set the tables, which are made if there are none, to these values."""
        self._names = list(tables)
        if self._made is None:
            self._made = RemoteTables(self._connection, 1, [("worker", self.member.number)])
            if self._is_given_up:  # an interrupt has closed the placement while this thread was making them
                self.free_later()
            self._made.make(TRAINED, len(tables["inputs"]), 1)
        for name, values in tables.items():
            self._made.load(name, values)

    def handles(self) -> tuple[tuple[Any, ...], Any]:
        """Return the handles of inputs, outputs and nodes, with inputs for missing ones; and that of trained words."""
        names = [name if name in self._names else "inputs" for name in TABLES]
        return tuple(self._tables.handles(name)[0] for name in names), self._tables.handles(TRAINED)[0]

    def load_table(self, name: str, values: Float32Array) -> None:
        """Set one table to these values; raise SubModelLost if the worker does not answer."""
        self._unless_lost(lambda: self._tables.load(name, values))

    def read_table(self, name: str, values: Float32Array) -> None:
        """Write the current values of one table into an array; raise SubModelLost if they cannot be had."""
        self._unless_lost(lambda: self._tables.read_into(name, values))
        self._on_read(self.member, values.nbytes)

    def rows(self, name: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of one table; raise SubModelLost if they cannot be had."""
        found = self._unless_lost(lambda: self._tables.rows(name, first, end))
        self._on_read(self.member, found.nbytes)
        return found

    def _unless_lost(self, call: Callable[[], _Result]) -> _Result:
        if self.is_lost:
            raise SubModelLost(self, "it was lost")
        try:
            return self._while_answering(call)
        except (load_tensorflow().errors.OpError, ClusterError) as error:
            remote_functions.clear_error()
            raise SubModelLost(self, brief(error)) from error

    def trained(self) -> BoolArray:
        """Return for each word whether its input vector has been trained."""
        marks = np.empty((self._tables.shape(TRAINED).rows, 1), np.float32)
        self.read_table(TRAINED, marks)
        return np.asarray(marks[:, 0] > 0)

    def renew_lease(self) -> None:
        """Renew the lease."""
        if self._made is not None:
            self._while_answering(self._made.renew_lease)

    def free(self) -> None:
        """Free the memory; raise an error if the worker does not answer."""
        if self._made is not None:
            self._while_answering(self._made.free)

    def free_later(self) -> None:
        """Free the memory when tables are made next on this worker, which may not answer now."""
        self._is_given_up = True
        if self.lease is not None:
            free_when_next_are_made(self.lease)

    def _while_answering(self, call: Callable[[], _Result]) -> _Result:
        return wait_while_answering(call, {self.member.task: self.member.address}, self._timeout)

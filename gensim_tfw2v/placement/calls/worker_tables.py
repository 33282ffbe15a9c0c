"""Tables that one worker has: made when they are first needed, and freed at once, or later if it does not answer."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.health import wait_while_answering
from gensim_tfw2v.cluster.task import key_of
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_Result = TypeVar("_Result")

_RENEWAL_SECONDS = 20.0  # time that a worker may take to answer when its lease is renewed


class TablesLost(Exception):
    """Raised when a worker does not answer about its tables, or has lost them."""

    def __init__(self, tables: WorkerTables, reason: str) -> None:
        super().__init__(reason)
        self.member, self.reason = tables.member, reason


class WorkerTables:
    """Makes, fills and frees a worker's tables, and limits calls about them.

    Parameters
    ----------
    timeout : float
        Seconds without an answer after which the worker counts as lost.

    Attributes
    ----------
    is_lost : bool
        Whether the worker was lost, and the tables with it.
    """

    def __init__(self, connection: Connection, member: Member, timeout: float) -> None:
        self.member = member
        self.is_lost = False
        self._connection, self._timeout = connection, timeout
        self._made: RemoteTables | None = None
        self._is_given_up = False

    @property
    def are_made(self) -> bool:
        """Whether the worker has the tables."""
        return self._made is not None

    @property
    def lease(self) -> str | None:
        """The name of the lease, None before there are tables."""
        return None if self._made is None else self._made.name

    @property
    def lease_key(self) -> int:
        """The number by which the worker renews the lease."""
        return key_of(self.tables.name)

    @property
    def tables(self) -> RemoteTables:
        """The tables, once they are made."""
        assert self._made is not None
        return self._made

    def made(self) -> RemoteTables:
        """Return the tables, which are made if there are none."""
        if self._made is None:
            self._made = RemoteTables(self._connection, 1, [("worker", self.member.number)])
            if self._is_given_up:  # an interrupt has closed the placement while this thread was making them
                self.free_later()
        return self._made

    def load(self, values: Mapping[str, Float32Array]) -> None:
        """Set the tables, which are made if there are none, to these values; other tables stay as they are."""
        tables = self.made()
        for name, of_table in values.items():
            tables.load(name, of_table)

    def handles_for_steps(self) -> tuple[Any, ...]:
        """Return the handles of inputs, outputs and nodes, with inputs in place of tables that the model lacks."""
        return tuple((self.tables.handles(name) or self.tables.handles("inputs"))[0] for name in TABLES)

    def ask(self, call: Callable[[RemoteTables], _Result]) -> _Result:
        """Return what a call about the tables returns; raise TablesLost if the worker does not answer."""
        if self.is_lost:
            raise TablesLost(self, "it was lost")
        try:
            return self._wait(functools.partial(call, self.tables), self._timeout)
        except (load_tensorflow().errors.OpError, ClusterError) as error:
            remote_functions.clear_error()
            raise TablesLost(self, brief(error)) from error

    def renew_lease(self) -> None:
        """Renew the lease; raise an error if the worker does not answer."""
        made = self._made
        if made is not None:
            self._wait(made.renew_lease, _RENEWAL_SECONDS)

    def free(self) -> None:
        """Free the memory; raise an error if the worker does not answer."""
        if self._made is not None:
            self._wait(self._made.free, self._timeout)
            self._made = None

    def free_later(self) -> None:
        """Free the memory when tables are made next on this worker, which may not answer now."""
        self._is_given_up = True
        if self._made is not None:
            self._made.free_later()

    def _wait(self, call: Callable[[], _Result], seconds: float) -> _Result:
        return wait_while_answering(call, {self.member.task: self.member.address}, seconds)

"""The workers of a training that have tables of their own: who takes part, who was lost, and who is back."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.leases import Keepalive
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.waiting import MembersLost, Waiting
from gensim_tfw2v.placement.calls.worker_tables import WorkerTables
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

logger = logging.getLogger(__name__)

_Tables = TypeVar("_Tables", bound=WorkerTables)
_Result = TypeVar("_Result")

_CLOSING_SECONDS = 2.0


class Team(Generic[_Tables]):
    """Knows which workers take part, and frees their tables; safe to use from several threads.

    A worker takes part as long as it has tables.

    Parameters
    ----------
    timeout : float
        Seconds after which a worker that has not finished its call is left out.
    lost_with_all : str
        What is lost when all workers are lost, as worded in the error.
    after_loss : callable
        Returns the end of the log line about a lost worker, given the tables that it had.

    Attributes
    ----------
    waiting : Waiting
        Calls the workers.
    failure : ClusterError or None
        The error about the loss of all workers.
    """

    def __init__(
        self,
        connection: Connection,
        timeout: float,
        lost_with_all: str = "vectors",
        after_loss: Callable[[Sequence[_Tables]], str] = lambda lost: "",
    ) -> None:
        self._tf = load_tensorflow()
        self._connection, self._lost_with_all, self._after_loss = connection, lost_with_all, after_loss
        self.members = [Member(number, connection) for number in range(connection.workers)]
        self.waiting = Waiting(connection, timeout)
        self.failure: ClusterError | None = None
        self._keepalive: Keepalive | None = None
        self._is_loading = False
        self._tables: dict[Member, list[_Tables]] = {member: [] for member in self.members}
        self._lock = threading.Lock()  # guards the tables, and whether members are missed
        connection.trainings.add(self)

    # -- who takes part ------------------------------------------------------------------------------------------------

    def tables(self) -> list[_Tables]:
        """Return the tables of all workers that take part."""
        with self._lock:
            return [tables for own in self._tables.values() for tables in own]

    def tables_of(self, member: Member) -> list[_Tables]:
        """Return the tables of a worker, an empty list if it does not take part."""
        with self._lock:
            return list(self._tables[member])

    def own_tables(self, member: Member) -> _Tables:
        """Return the tables of a worker that has exactly one set of them."""
        (own,) = self.tables_of(member)
        return own

    def taking_part(self) -> list[Member]:
        """Return the workers that take part."""
        return [member for member in self.members if self.tables_of(member)]

    def add(self, tables: _Tables) -> None:
        """Let a worker take part with these tables, which may not be made yet."""
        with self._lock:
            self._tables[tables.member].append(tables)

    def can_be_called(self, member: Member) -> bool:
        """Return whether a worker accepts calls; one that was restarted is connected again first."""
        is_busy = self._connection.worker_locks.is_busy(member.number)  # with a call of another training
        return not is_busy and answers(member.address) and self.waiting.can_be_called(member)

    def is_back(self, member: Member) -> bool:
        """Return whether a worker that was lost can be called again."""
        return member.has_come_back() and self.can_be_called(member)

    def record_return(self, member: Member) -> None:
        """Record that a worker can be called; it may have been lost before, in this training or in an earlier one."""
        self._connection.worker_locks.abandoned.discard(member.number)
        if member.is_missed:
            logger.warning("%s is back", member.name)
        member.is_missed = False

    def leave_out(self, reasons: Mapping[Member, str]) -> list[_Tables]:
        """Continue without some workers, free their tables when they answer again, and return these tables."""
        lost: list[_Tables] = []
        with self._lock:
            for member, reason in reasons.items():
                own, self._tables[member] = self._tables[member], []
                for tables in own:
                    tables.is_lost = True
                    tables.free_later()
                if not member.is_missed:
                    logger.warning("%s is gone (%s)%s", member.name, reason, self._after_loss(own))
                member.is_missed = True
                member.registration.forget()  # if it comes back, it is another process
                lost += own
        return lost

    def raise_if_none_is_left(self, when: str) -> None:
        """Raise ClusterError if no worker takes part; `when` is what was to be done, as worded in the error."""
        if self.failure is not None:
            raise self.failure
        if not self.tables():
            raise self.declare_lost(f"none was left to {when}")

    def declare_lost(self, reason: str) -> ClusterError:
        """Return the error about the loss of all workers, which all later calls raise."""
        self.failure = ClusterError(
            f"all workers were lost, and the {self._lost_with_all} with them; the model keeps the vectors of its last "
            "finished epoch. Start the workers again and call train() for the epochs left. The reason: " + reason
        )
        return self.failure

    # -- calls ---------------------------------------------------------------------------------------------------------

    def each(
        self, kind: str, members: Sequence[Member], function: Callable[[Member, Any], _Result]
    ) -> Mapping[Member, _Result]:
        """Return the function's results for these workers, except for workers that are lost and now left out."""
        if not members:
            return {}
        try:
            return self.waiting.each(kind, members, function).values
        except MembersLost as lost:
            self.leave_out(lost.reasons)
            return lost.values

    @contextlib.contextmanager
    def loading(self) -> Iterator[None]:
        """Free tables later if an error or an interrupt ends the training while they are being loaded.

        Threads may still be loading them then.
        """
        self._is_loading = True
        yield
        self._is_loading = False

    # -- leases and the end --------------------------------------------------------------------------------------------

    def keep_alive(self) -> None:
        """Renew the leases on all tables from now on."""
        if self._keepalive is None:
            self._keepalive = Keepalive(self._renew_leases)

    def _renew_leases(self) -> None:
        for tables in self.tables():
            try:
                tables.renew_lease()
            except (self._tf.errors.OpError, ClusterError) as error:  # the next call detects that the worker is lost
                logger.debug("%s: %s", tables.member.name, error)

    def leases(self) -> list[str]:
        """Return the names of all leases."""
        return [tables.lease for tables in self.tables() if tables.lease is not None]

    def close(self) -> None:
        """Free all tables, later where a worker does not answer now, and end the threads of all workers."""
        if self._keepalive is not None:
            self._keepalive.end()
        try:
            for tables in self.tables():
                self._free(tables)
        finally:
            deadline = time.monotonic() + _CLOSING_SECONDS
            for member in self.members:
                member.close(deadline - time.monotonic())
            self._connection.trainings.discard(self)

    def _free(self, tables: _Tables) -> None:
        """Free tables, later if their worker does not answer now."""
        if self._is_loading or self.failure is not None:
            tables.free_later()
            return
        try:
            tables.free()
        except (self._tf.errors.OpError, ClusterError) as error:
            logger.info("the tables on %s are freed later: %s", tables.member.name, error)
            tables.free_later()

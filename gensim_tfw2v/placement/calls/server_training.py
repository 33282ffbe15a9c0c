"""The common part of trainings with tables on servers: the tables, the workers' model and calls, and the end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.leases import Keepalive
from gensim_tfw2v.cluster.notice_reader import NoticeReader
from gensim_tfw2v.cluster.task import key_of
from gensim_tfw2v.placement.calls.dispatch import Dispatcher
from gensim_tfw2v.placement.calls.program import Program, TrainedTables
from gensim_tfw2v.placement.calls.tickets import Tickets, first_generations
from gensim_tfw2v.placement.contract import ModelTables, RemoteStore
from gensim_tfw2v.placement.remote.table_shape import shards_for
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.tasks.assignment import Assignment, Request
from gensim_tfw2v.placement.tasks.cluster_metrics import ClusterMetrics
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.placement.tasks.model import EncodedModel, WorkerModel
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.settings import StepSettings

logger = logging.getLogger(__name__)

_Result = TypeVar("_Result")

MakeTables = Callable[[Connection, int, int], RemoteTables]
"""Takes the connection, the most rows of a table and its columns; returns tables for these."""


def row_tables(connection: Connection, rows: int, columns: int) -> RemoteTables:
    """Return tables whose rows are spread over the servers."""
    return RemoteTables(connection, shards_for(rows, columns, connection.servers))


class ServerTraining:
    """One training on servers and workers.

    Parameters
    ----------
    dispatcher : Dispatcher
        Hands blocks to workers.
    program : Program
        What workers run.
    make_tables : callable
        Makes the tables, unless they are on the servers already.
    has_changing_workers : bool
        Whether workers may join and leave.

    Attributes
    ----------
    model_name : str
        Name by which workers know the model, once tables are loaded.
    lease_key : int
        Key of the lease on the tables, once they are loaded.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: StepSettings,
        maker: BlockMaker,
        program: Program,
        make_tables: MakeTables = row_tables,
        has_changing_workers: bool = False,
    ) -> None:
        self.connection = connection = dispatcher.connection
        self.dispatcher = dispatcher
        self.model_name, self.lease_key = "", 0
        self._settings, self._maker, self._program, self._make_tables = settings, maker, program, make_tables
        self._metrics: ClusterMetrics | None = None
        self._tables: RemoteTables | None = None
        self._trained: TrainedTables | None = None
        self._store: RemoteStore | None = None  # has tables that are on the servers before and after training
        self._keepalive: Keepalive | None = None  # renews the lease on other tables
        self._is_loading = self._is_closed = False
        connection.trainings.add(self)
        self._notices = NoticeReader(connection) if has_changing_workers else None

    @property
    def has_failed(self) -> bool:
        """Whether a server, and its part of the tables, was lost."""
        return self.dispatcher.servers.failure is not None

    @property
    def tables(self) -> RemoteTables:
        """The tables, once they are loaded."""
        assert self._tables is not None
        return self._tables

    def call_servers(self, function: Callable[[], _Result]) -> _Result:
        """Return what operations on servers return; if a server is lost, raise ClusterError now and in later calls."""
        return self.dispatcher.servers.call(function)

    def call_servers_alone(self, function: Callable[[], _Result]) -> _Result:
        """Do the same as `call_servers`, while no task is being connected again."""
        with self.connection.worker_locks.hold_servers():
            return self.call_servers(function)

    # -- tables --------------------------------------------------------------------------------------------------------

    def load(self, tables: ModelTables) -> None:
        """Fill the tables, making them if there are none, and have workers run the program on them from now on."""
        self._is_loading = True  # stays so after an interrupt, when a thread may still load them
        trained, self.model_name = self.call_servers(lambda: self._fill_servers(tables))
        self._is_loading = False
        self.lease_key = key_of(trained.tables.name)
        self._program.begin(trained)
        if self._metrics is None:
            self._metrics = self._program.new_metrics()
        self.dispatcher.begin(self._program, trained, self._metrics)

    def _fill_servers(self, tables: ModelTables) -> tuple[TrainedTables, str]:
        """Send the tables and the model; return where they are, and the model's name."""
        trained = self._trained = self._trained or self._made_for(tables)
        for name, values in tables.in_process().items():
            trained.tables.load(name, values)
        model = EncodedModel.of(WorkerModel.of(self._settings, self._maker, tables))
        self._program.keep(trained.tables, model.data)
        return trained, model.name

    def _made_for(self, tables: ModelTables) -> TrainedTables:
        """Return tables for a model; they are filled already if the servers had them before."""
        if (store := tables.store) is not None:
            self._store = store
            self.dispatcher.servers.has_backup = False
            made: RemoteTables = store.tables_on(self.connection, self._settings.have_states)
        else:
            rows = max(map(len, tables.in_process().values()))
            made = self._kept_alive(self._make_tables(self.connection, rows, tables.inputs.shape[1]))
        self._tables = made
        version = made.keep("version", np.int64(0))
        generations = first_generations(self.connection.workers)
        return TrainedTables(made, version, Tickets(generations, made.keep_on_all("generations", generations)))

    def _kept_alive(self, made: RemoteTables) -> RemoteTables:
        """Return tables that only this training needs; their lease is renewed as long as they exist."""
        if self._is_closed:  # an interrupt has closed the training while this thread was making them
            made.free_later()
        else:
            self._keepalive = Keepalive(made.renew_lease)
        return made

    def read_into(self, tables: ModelTables) -> None:
        """Write the current values into the arrays of this process."""

        def read() -> None:
            for name, values in tables.in_process().items():
                self.tables.read_into(name, values)

        self.call_servers(read)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of a table."""
        return self.call_servers(lambda: self.tables.rows(table, first, end))

    # -- blocks --------------------------------------------------------------------------------------------------------

    def request(
        self,
        task: ChunkTask,
        in_flight: int,
        cores: int = 1,
        block_words: int | None = None,
    ) -> Request:
        """Return a worker's request for a chunk, which is trained while others are; `in_flight` counts all of them.

        At most `cores` of the worker's cores train it, in blocks of `block_words` raw words, or all at once.
        """
        assignment = Assignment(
            self.lease_key, self.tables.shards, in_flight, NOT_SHARED, task, cores=cores, block_words=block_words
        )
        return Request(self.model_name, encode(assignment))

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        """Return the metrics of each task so far."""
        return {} if self._metrics is None else self._metrics.tasks()

    def report(self, raw_words: int) -> dict[str, Any] | None:
        """Return the report of a training of `raw_words` words, None before tables are loaded."""
        if self._metrics is None:
            return None
        periods = {} if self._notices is None else {"periods": self._metrics.periods(raw_words)}
        return {**self._metrics.report(raw_words), **periods}

    # -- end -----------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Free the tables that only this training needed."""
        self._is_closed = True
        try:
            self._release_tables(all_ended=self.dispatcher.close())
        finally:
            self.connection.trainings.discard(self)
            if self._notices is not None:
                self._notices.end()

    def _release_tables(self, all_ended: bool) -> None:
        """Free the tables that only this training needed; `all_ended` says that no worker can still use them."""
        if self._keepalive is not None:
            self._keepalive.end()
        if self._store is not None:
            if self.has_failed:
                self._store.forget()
            else:
                self.call_servers(self._program.empty)
        elif self._tables is not None:
            if not self.has_failed and not self._is_loading:
                self._free(self._tables, may_be_used=not all_ended)
            else:
                self._tables.free_later()
        self._tables = None

    def _free(self, tables: RemoteTables, may_be_used: bool) -> None:
        """Free the tables now, or later if a server is lost; values that are needed have been read by now."""
        try:
            self.call_servers(lambda: tables.free(may_be_used))
        except ClusterError as error:
            cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
            logger.warning("tables on the servers are freed when the next training begins: %s", brief(cause))
            tables.free_later()

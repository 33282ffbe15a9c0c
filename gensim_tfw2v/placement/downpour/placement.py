"""Tables on parameter servers, steps on workers: a worker trains a block on copies of the rows that it needs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.keepalive import Keepalive
from gensim_tfw2v.placement.contract import TABLES, ModelTables, Placement
from gensim_tfw2v.placement.downpour.ramp_up import RampUp
from gensim_tfw2v.placement.remote.server_matrix import ServerMatrix, ServerStore
from gensim_tfw2v.placement.server_rows.slots import Slots
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.cluster_metrics import ClusterMetrics
from gensim_tfw2v.placement.tasks.model import EncodedModel, WorkerModel
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.row_sharing import NOT_SHARED, RowSharing
from gensim_tfw2v.steps.settings import StepSettings

if TYPE_CHECKING:
    from gensim_tfw2v.placement.calls.work import RemoteTraining
    from gensim_tfw2v.placement.remote.tables import RemoteTables
    from gensim_tfw2v.placement.server_rows.shape import GraphShape

logger = logging.getLogger(__name__)


class ClusterPlacement(Placement):
    """Trains on the workers of a cluster; blocks in flight do not see each other's changes until these are pushed.

    Parameters
    ----------
    concurrency : int
        Blocks in flight. If it exceeds the number of workers, a worker makes its next block and pulls that block's
        rows while it trains. If it is 1, blocks are trained in their order as in one process.
    timeout : float
        Seconds after which a block that its worker has not finished goes to another worker.
    ramp_up : RampUp, optional
        How many blocks may be in flight at the start of the training. Default: as for a training of unknown length.
    row_type : str
        TensorFlow's name for the numbers that rows and their changes travel as.
    sharing : RowSharing
        How blocks in flight share the rows that all of them train.
    slots : int
        Blocks whose changes servers can keep until these are added; 0 if changes are added at once.
    """

    can_fail = True

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        connection: Connection,
        concurrency: int,
        timeout: float,
        ramp_up: RampUp | None = None,
        row_type: str = "float32",
        sharing: RowSharing = NOT_SHARED,
        slots: int = 0,
    ) -> None:
        self._tf = load_tensorflow()
        from gensim_tfw2v.placement.calls.dispatch import Dispatcher

        self.concurrency = concurrency
        self._metrics: ClusterMetrics | None = None
        self._connection = connection
        self._settings = settings
        self._maker = maker
        self._tables: Any = None
        self._store: ServerStore | None = None  # of tables that are on the servers before and after training
        self._keepalive: Keepalive | None = None  # of other tables
        self._is_loading = self._is_closed = False
        self._lease_key: Any = None
        self._model_name: Any = None
        self._vector_size = self._fewest_rows = 0
        self._row_type = row_type
        self._sharing = sharing
        self._slot_count = slots
        self._slots: Slots | None = None
        self._ramp_up = ramp_up or RampUp(concurrency, share_rows=sharing.parts > 1)
        self._overlap = concurrency > connection.workers
        self._dispatcher = Dispatcher(connection, self._overlap, timeout)
        connection.trainings.add(self)

    @property
    def has_failed(self) -> bool:
        """Whether a server, and its part of the tables, was lost."""
        return self._dispatcher.servers.failure is not None

    def load(self, tables: ModelTables) -> None:
        self._vector_size = tables.inputs.shape[1]
        self._fewest_rows = min(map(len, tables.present().values()))
        self._is_loading = True  # stays so after an interrupt, when a thread may still load them
        prepared = self._dispatcher.servers.call(lambda: self._fill_servers(tables))
        self._is_loading = False
        self._prepare(*prepared)

    def _fill_servers(self, tables: ModelTables) -> tuple[str, Any]:
        """Send the tables, and return the name of the model and the handle of its bytes."""
        from gensim_tfw2v.placement.calls.tickets import Tickets, first_generations

        if self._tables is None:
            self._tables = self._tables_for(tables)
            self._version = self._tables.keep("version", np.int64(0))
            generations = first_generations(self._connection.workers)
            self._tickets = Tickets(generations, self._tables.keep_on_all("generations", generations))
            if self._slot_count:
                self._slots = Slots(self._tables, self._slot_count, self._vector_size, self._row_type)
        on_servers = self._tables
        for name, values in _local(tables).items():
            on_servers.load(name, values)
        model = EncodedModel.of(WorkerModel.of(self._settings, self._maker, tables))
        return model.name, self._keep_model(model.data)

    def _keep_model(self, model: Any) -> Any:
        """Return the handle of the model's bytes on the first server."""
        return self._tables.keep("model", model)

    def _tables_for(self, tables: ModelTables) -> RemoteTables:
        """Return the model's tables on the servers, made if there are none."""
        from gensim_tfw2v.placement.remote.table_shape import shards_for
        from gensim_tfw2v.placement.remote.tables import RemoteTables

        if isinstance(tables.inputs, ServerMatrix):
            self._store = tables.inputs.store
            self._dispatcher.servers.has_backup = False
            kept: RemoteTables = self._store.tables_on(self._connection)
            return kept
        rows = max(len(values) for values in _local(tables).values())
        return self._kept_alive(
            RemoteTables(self._connection, shards_for(rows, self._vector_size, self._connection.servers))
        )

    def _kept_alive(self, made: RemoteTables) -> RemoteTables:
        """Return tables that training alone needs, with a lease that is renewed as long as they are there."""
        if self._is_closed:  # an interrupt has closed the placement while this thread was making them
            made.free_later()
        else:
            self._keepalive = Keepalive(made.renew_lease)
        return made

    def _prepare(self, model_name: str, model: Any) -> None:
        """Prepare the graphs, and what is sent with every chunk."""
        from gensim_tfw2v.cluster.task import key_of
        from gensim_tfw2v.placement.calls.work import RemoteTraining
        from gensim_tfw2v.placement.remote.handles import Handles
        from gensim_tfw2v.placement.server_rows.shape import GraphShape
        from gensim_tfw2v.steps.arguments import objective_of

        servers, shards = self._connection.servers, self._tables.shards
        self._sharing = self._sharing.over(shards, self._fewest_rows)
        shape = GraphShape(
            objective_of(self._settings),
            shards,
            servers,
            self._connection.number,
            self._overlap,
            self._row_type,
            self._sharing,
            has_slots=self._slots is not None,
        )
        tables = tuple(tuple(self._tables.handles(TABLES[table])) for table in shape.tables())
        handles = Handles(tables, self._version, self._tickets.handles)
        slots = () if self._slots is None else self._slots.handles
        training = RemoteTraining(self._tables.name, handles, model, self._tables.probe, self._tickets, slots)
        if self._metrics is None:
            vector_bytes = self._vector_size * self._tf.as_dtype(self._row_type).size
            exchanges, rows = self._sharing.parts - 1, self._sharing.rows * len(tables)
            self._metrics = ClusterMetrics(self._connection.workers, servers, vector_bytes, exchanges, rows)
        self._lease_key, self._model_name = key_of(self._tables.name), model_name
        self._begin(shape, training, self._metrics)

    def _begin(self, shape: GraphShape, training: RemoteTraining, metrics: ClusterMetrics) -> None:
        """Have workers use these graphs and tables from now on."""
        from gensim_tfw2v.placement.server_rows.block_graphs import worker_graphs

        if self._slots is not None:
            self._slots.prepare(shape, training.handles)
        self._dispatcher.begin(worker_graphs(shape), training, metrics)

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        with self._ramp_up.block() as in_flight:
            report: BlockReport = self._dispatcher.train(self._request(task, in_flight))
        return report.trained()

    def _request(self, task: ChunkTask, in_flight: int) -> Any:
        from gensim_tfw2v.placement.tasks.assignment import Assignment, Request
        from gensim_tfw2v.placement.tasks.codec import encode

        assignment = Assignment(self._lease_key, self._tables.shards, in_flight, self._sharing, task)
        return Request(self._model_name, encode(assignment))

    def _add_slots(self, numbers: Sequence[int]) -> None:
        """Have the servers add the changes in these slots to the tables, in the order of the slots."""
        assert self._slots is not None
        slots, wanted = self._slots, np.zeros(self._slot_count, bool)
        wanted[numbers] = True
        with self._connection.worker_locks.hold_servers():
            self._dispatcher.servers.call(lambda: slots.add(wanted))

    def read_into(self, tables: ModelTables) -> None:
        def read() -> None:
            for name, values in _local(tables).items():
                self._tables.read_into(name, values)

        self._dispatcher.servers.call(read)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        rows: Float32Array = self._dispatcher.servers.call(lambda: self._tables.rows(table, first, end))
        return rows

    def state(self) -> dict[str, Any]:
        return {"blocks": self._ramp_up.done, "lease": self._tables.name}

    def restore(self, state: Mapping[str, Any]) -> None:
        from gensim_tfw2v.placement.remote.left_tables import take_over

        self._ramp_up.done = int(state.get("blocks", 0))
        take_over(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return {} if self._metrics is None else self._metrics.tasks()

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return None if self._metrics is None else self._metrics.report(raw_words)

    def close(self) -> None:
        self._is_closed = True
        try:
            self._release_tables(all_ended=self._dispatcher.close())
        finally:
            self._connection.trainings.discard(self)

    def _release_tables(self, all_ended: bool) -> None:
        """Free the tables that training alone needed; `all_ended` says that no worker can still use them."""
        if self._keepalive is not None:
            self._keepalive.end()
        if self._store is not None:
            if self.has_failed:
                self._store.forget()
            elif self._slots is not None:
                self._dispatcher.servers.call(self._slots.empty)
        elif self._tables is not None:
            if not self.has_failed and not self._is_loading:
                self._free_tables(may_be_used=not all_ended)
            else:
                self._tables.free_later()
        self._tables = None

    def _free_tables(self, may_be_used: bool) -> None:
        """Free the tables now, or later if a server is lost: whoever needs their values has them by now."""
        try:
            self._dispatcher.servers.call(lambda: self._tables.free(may_be_used))
        except ClusterError as error:
            cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
            logger.warning("tables on the servers are freed when the next training begins: %s", brief(cause))
            self._tables.free_later()


def _local(tables: ModelTables) -> dict[str, Float32Array]:
    """Return the tables that the model has in this process."""
    return {name: values for name, values in tables.present().items() if not isinstance(values, ServerMatrix)}

"""Tables cut by columns on parameter servers: workers get products of vectors, and return the gradients of scores."""

from __future__ import annotations

import contextlib
import itertools
import queue
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.columns.exchanged import ColumnMetrics
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.downpour.placement import ClusterPlacement
from gensim_tfw2v.placement.downpour.ramp_up import RampUp
from gensim_tfw2v.steps.settings import StepSettings

if TYPE_CHECKING:
    from gensim_tfw2v.placement.remote.tables import RemoteTables

_LANES = 2  # of a block's batches, trained side by side: one computes while messages of the other are under way
# Servers know blocks by them: those of another process, which may have had tables of the same name, begin elsewhere.
_job_numbers = itertools.count(1 + secrets.randbelow(2**30))


class ColumnPlacement(ClusterPlacement):
    """Trains batch by batch on columns that stay on the servers.

    Parameters
    ----------
    concurrency : int
        Blocks in flight. If it is 1, their batches are trained in their order as in one process.
    number_type : str
        TensorFlow's name for the numbers that products and their gradients travel as.
    """

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        connection: Connection,
        concurrency: int,
        timeout: float,
        number_type: str = "float32",
    ) -> None:
        concurrency = min(concurrency, connection.workers)
        # Servers have every batch before the next one: blocks in flight need no slow start.
        ramp_up = RampUp(concurrency, share_rows=True)
        super().__init__(settings, maker, connection, concurrency, timeout, ramp_up, number_type)
        self._lanes = 1 if self.concurrency == 1 else _LANES
        self._counters: list[Any] = []  # of each slot: handles by lane and server
        self._free_slots: queue.SimpleQueue[int] = queue.SimpleQueue()
        for slot in range(self.concurrency):
            self._free_slots.put(slot)

    def load(self, tables: ModelTables) -> None:
        if tables.inputs.shape[1] < self._connection.servers:
            raise ValueError(
                f"vector_size={tables.inputs.shape[1]} gives not every one of {self._connection.servers} parameter "
                "servers a column; take fewer servers, or longer vectors"
            )
        super().load(tables)

    def _tables_for(self, tables: ModelTables) -> RemoteTables:
        from gensim_tfw2v.placement.columns.column_tables import ColumnTables

        return self._kept_alive(ColumnTables(self._connection))

    def _keep_model(self, model: Any) -> Any:
        """Return the handles of the model's bytes on all servers, which make blocks, too."""
        from gensim_tfw2v.placement.columns.batch_counters import FIRST_COUNTER

        keep = self._tables.keep_on_all
        self._counters = [
            tuple(tuple(keep(f"progress/{slot}/{lane}", FIRST_COUNTER)) for lane in range(self._lanes))
            for slot in range(self.concurrency)
        ]
        return tuple(keep("models", model))

    def _prepare(self, model_name: str, model: Any) -> None:
        from gensim_tfw2v.cluster.task import key_of
        from gensim_tfw2v.placement.calls.work import RemoteTraining
        from gensim_tfw2v.placement.columns.column_graphs import ColumnGraphShape, ColumnHandles, column_graphs

        tables, servers, hits = self._tables, self._connection.servers, self._settings.mask_accidental_hits
        shape = ColumnGraphShape(servers, self._connection.number, self._row_type, self._lanes, hits)
        inputs, outputs = (tuple(tables.handles(name)) for name in ("inputs", "outputs"))
        handles: Any = ColumnHandles(inputs, outputs, self._version, self._tickets.handles)
        slots: Any = tuple(self._counters)
        training = RemoteTraining(tables.name, handles, model, tables.probe, self._tickets, slots)
        if self._metrics is None:
            number_bytes = self._tf.as_dtype(self._row_type).size
            self._metrics = ColumnMetrics(self._connection.workers, servers, number_bytes)
        self._dispatcher.begin(column_graphs(shape), training, self._metrics)
        self._lease_key, self._model_name = key_of(tables.name), model_name

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        with self._ramp_up.block() as in_flight, self._slot() as slot:
            job = self._dispatcher.start(self._request(task, in_flight), slot)
            self._dispatcher.wait([job])
            return job.result.result().report.trained()

    @contextlib.contextmanager
    def _slot(self) -> Iterator[int]:
        """Yield the number of a slot that no other block uses meanwhile."""
        slot = self._free_slots.get()
        try:
            yield slot
        finally:
            self._free_slots.put(slot)

    def _request(self, task: ChunkTask, in_flight: int) -> Any:
        request = super()._request(task, in_flight)
        number = np.array([next(_job_numbers)], "<i4").view(np.uint8)
        return request._replace(assignment=np.concatenate([request.assignment, number]))

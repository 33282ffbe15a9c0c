"""Tables cut by columns on parameter servers: workers get products of vectors, and return the gradients of scores."""

from __future__ import annotations

import contextlib
import itertools
import queue
import secrets
from collections.abc import Iterator

import numpy as np

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.calls.server_placement import ServerPlacement
from gensim_tfw2v.placement.calls.server_training import ServerTraining
from gensim_tfw2v.placement.columns.column_program import ColumnProgram
from gensim_tfw2v.placement.columns.column_tables import ColumnTables
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.steps.settings import StepSettings

# Servers know blocks by these numbers. They begin at a random number, because another process may have had tables of
# the same name.
_job_numbers = itertools.count(1 + secrets.randbelow(2**30))


class ColumnPlacement(ServerPlacement):
    """Trains batch by batch on columns that stay on the servers.

    Parameters
    ----------
    concurrency : int
        Blocks in flight.
    lanes : int
        Lanes that a block's batches are cut into, which are trained side by side. One lane of one block trains batches
        in their order, as one process does.
    number_type : str
        TensorFlow's name of the number format in which products and their gradients are sent.
    """

    _ramp_up: RampUp

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        connection: Connection,
        concurrency: int,
        lanes: int,
        timeout: float,
        number_type: str = "float32",
    ) -> None:
        self.concurrency = blocks = min(concurrency, connection.workers)
        self._program = ColumnProgram(connection, number_type, settings.mask_accidental_hits, lanes, blocks)
        training = ServerTraining(connection, settings, maker, self._program, timeout, make_tables=_column_tables)
        # Servers have every batch before the next one: blocks in flight need no slow start.
        super().__init__(training, RampUp(blocks, share_rows=True))
        self._free_places: queue.SimpleQueue[int] = queue.SimpleQueue()
        for place in range(blocks):
            self._free_places.put(place)

    def load(self, tables: ModelTables) -> None:
        servers = self.training.connection.servers
        if tables.inputs.shape[1] < servers:
            raise ValueError(
                f"vector_size={tables.inputs.shape[1]} leaves some of {servers} parameter servers without a column; "
                "take fewer servers, or longer vectors"
            )
        super().load(tables)

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        dispatcher = self.training.dispatcher
        with self._ramp_up.block() as in_flight, self._place() as place:
            job = dispatcher.start(self._request(task, in_flight), place)
            dispatcher.wait([job])
            return job.result.result().report.trained()

    @contextlib.contextmanager
    def _place(self) -> Iterator[int]:
        """Yield the number of counters that no other block uses meanwhile."""
        place = self._free_places.get()
        try:
            yield place
        finally:
            self._free_places.put(place)

    def _request(self, task: ChunkTask, in_flight: int) -> Request:
        request = self.training.request(task, in_flight)
        number = np.array([next(_job_numbers)], "<i4").view(np.uint8)
        return request._replace(assignment=np.concatenate([request.assignment, number]))


def _column_tables(connection: Connection, rows: int, columns: int) -> ColumnTables:
    """Return tables whose columns are spread over the servers."""
    return ColumnTables(connection)

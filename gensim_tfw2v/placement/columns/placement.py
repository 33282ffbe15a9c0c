"""Tables cut by columns on parameter servers: workers get products of vectors, and return the gradients of scores.

`_Program` has what workers run to train on servers' columns, and what servers keep for each block in training.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import secrets
from collections.abc import Iterator, Sequence

import numpy as np

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.calls.dispatch import Dispatcher
from gensim_tfw2v.placement.calls.program import Handle, Program, TrainedTables
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.calls.server_placement import ServerPlacement
from gensim_tfw2v.placement.calls.server_training import ServerTraining
from gensim_tfw2v.placement.columns.batch_counters import FIRST_COUNTER
from gensim_tfw2v.placement.columns.column_graphs import ColumnGraphShape, ColumnHandles, Exchanged, column_graphs
from gensim_tfw2v.placement.columns.column_maths import OfTables
from gensim_tfw2v.placement.columns.column_tables import ColumnTables
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_report import BlockReport, ServersReport
from gensim_tfw2v.placement.tasks.cluster_metrics import ClusterMetrics, Traffic
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.settings import StepSettings

# Servers know blocks by these numbers. They begin at a random number, because another process may have had tables of
# the same name.
_job_numbers = itertools.count(1 + secrets.randbelow(2**30))

_SQUARE_BYTES = 4  # of a row's squares, and of its rate
# From or to each server: whether the loop continues, the batch, products, gradients, squares, rates and an answer.
_MESSAGES_OF_A_BATCH, _MESSAGES_OF_A_BLOCK = 7, 4


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
        shape = ColumnGraphShape(
            connection.servers, connection.number, number_type, lanes, settings.mask_accidental_hits
        )
        self._program = _Program(connection, shape, blocks)
        dispatcher = Dispatcher(connection, timeout)
        training = ServerTraining(dispatcher, settings, maker, self._program, make_tables=_column_tables)
        # Servers have every batch before the next one: blocks in flight need no slow start.
        super().__init__(training, RampUp(blocks, blocks_for_one_more=0))
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
    return ColumnTables(connection)


class _Program(Program):
    """Has workers train the batches of a block, one after the other in each lane.

    Each of the `blocks` in flight has counters of its own; their number is the place of its job.
    """

    model: tuple[Handle, ...]
    handles: ColumnHandles

    def __init__(self, connection: Connection, shape: ColumnGraphShape, blocks: int) -> None:
        self.counters: tuple[tuple[tuple[Handle, ...], ...], ...] = ()  # of each block, in each lane, on each server
        self._connection, self._shape, self._blocks = connection, shape, blocks

    def keep(self, tables: RemoteTables, model: UInt8Array) -> None:
        def counter(block: int, lane: int) -> tuple[Handle, ...]:
            return tuple(tables.keep_on_all(f"progress/{block}/{lane}", FIRST_COUNTER))

        lanes = range(self._shape.lanes)
        self.counters = tuple(tuple(counter(block, lane) for lane in lanes) for block in range(self._blocks))
        self.model = tuple(tables.keep_on_all("models", model))  # servers make blocks, too

    def begin(self, trained: TrainedTables) -> None:
        tables = tuple(map(OfTables, *(trained.tables.handles(name) for name in ("inputs", "outputs"))))
        self.handles = ColumnHandles(tables, trained.version, trained.tickets.handles)
        self.graphs = column_graphs(self._shape)

    def new_metrics(self) -> ClusterMetrics:
        number_bytes = load_tensorflow().as_dtype(self._shape.number_type).size
        return _Metrics(self._connection.cores(1), self._shape.servers, number_bytes)

    def handles_of(self, place: int | None) -> ColumnHandles:
        return self.handles if place is None else self.handles._replace(counters=self.counters[place])


class _Metrics(ClusterMetrics):
    def __init__(self, cores: Sequence[int], servers: int, number_bytes: int) -> None:
        super().__init__(cores, servers, 0)
        self._number_bytes = number_bytes  # of a product that is sent

    def _traffic(self, block: BlockReport, of_servers: ServersReport) -> Traffic:
        exchanged, servers = Exchanged(*map(int, of_servers.exchanged)), len(self._servers)
        numbers = self._number_bytes * exchanged.products + _SQUARE_BYTES * exchanged.squares
        return Traffic(
            pulled=servers * numbers,
            pushed=servers * (numbers + exchanged.id_bytes),
            messages=_MESSAGES_OF_A_BATCH * len(block.pairs) + _MESSAGES_OF_A_BLOCK,
        )

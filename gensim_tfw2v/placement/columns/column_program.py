"""What workers run to train on servers' columns, and what servers keep for each block in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.calls.program import Handle, Program, TrainedTables
from gensim_tfw2v.placement.columns.exchanged import ColumnMetrics
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

if TYPE_CHECKING:
    from gensim_tfw2v.placement.columns.column_graphs import ColumnHandles

Counters = tuple[tuple[Handle, ...], ...]
"""The counters of one block: handles by lane and server."""


class ColumnProgram(Program):
    """Has workers train the batches of a block, one after the other in each lane.

    Parameters
    ----------
    number_type : str
        TensorFlow's name of the number format in which products and their gradients are sent.
    mask_hits : bool
        Whether negatives often equal their own target and must be masked.
    lanes : int
        Number of lanes that a block's batches are cut into.
    blocks : int
        Blocks in flight. Each one has counters of its own; their number is the place of its job.
    """

    model: tuple[Handle, ...]
    handles: ColumnHandles

    def __init__(self, connection: Connection, number_type: str, mask_hits: bool, lanes: int, blocks: int) -> None:
        self.counters: tuple[Counters, ...] = ()  # of each block
        self._connection, self._number_type, self._mask_hits = connection, number_type, mask_hits
        self._lanes, self._blocks = lanes, blocks

    def keep(self, tables: RemoteTables, model: UInt8Array) -> None:
        from gensim_tfw2v.placement.columns.batch_counters import FIRST_COUNTER

        def counter(block: int, lane: int) -> tuple[Handle, ...]:
            return tuple(tables.keep_on_all(f"progress/{block}/{lane}", FIRST_COUNTER))

        lanes = range(self._lanes)
        self.counters = tuple(tuple(counter(block, lane) for lane in lanes) for block in range(self._blocks))
        self.model = tuple(tables.keep_on_all("models", model))  # servers make blocks, too

    def begin(self, trained: TrainedTables) -> None:
        from gensim_tfw2v.placement.columns.column_graphs import ColumnGraphShape, ColumnHandles, column_graphs

        servers, number = self._connection.servers, self._connection.number
        shape = ColumnGraphShape(servers, number, self._number_type, self._lanes, self._mask_hits)
        inputs, outputs = (tuple(trained.tables.handles(name)) for name in ("inputs", "outputs"))
        self.handles = ColumnHandles(inputs, outputs, trained.version, trained.tickets.handles)
        self.graphs = column_graphs(shape)

    def new_metrics(self) -> ColumnMetrics:
        number_bytes = load_tensorflow().as_dtype(self._number_type).size
        return ColumnMetrics(self._connection.cores(1), self._connection.servers, number_bytes)

    def handles_of(self, place: int | None) -> ColumnHandles:
        return self.handles if place is None else self.handles._replace(counters=self.counters[place])

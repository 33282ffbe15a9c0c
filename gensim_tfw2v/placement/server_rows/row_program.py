"""What workers run to train, or to read, copies of servers' rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.calls.program import Handle, Program, TrainedTables, WorkerGraphs
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.server_rows.shape import GraphShape, Handles, RowTraining
from gensim_tfw2v.placement.server_rows.slots import Slots
from gensim_tfw2v.placement.tasks.cluster_metrics import ClusterMetrics
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.settings import StepSettings


def training_graphs(shape: GraphShape) -> WorkerGraphs:
    """Return the graphs that train a block on copies of its rows."""
    from gensim_tfw2v.placement.server_rows.block_graphs import worker_graphs

    return worker_graphs(shape)


class RowProgram(Program):
    """Has workers get copies of the rows that their blocks need.

    Parameters
    ----------
    how : RowTraining
        How workers train.
    slots : int
        Blocks whose changes servers can keep until these are added; 0 if changes are added at once. The place of a job
        is the number of its slot.
    cores : int
        The most cores of a worker that train a block.
    graphs : callable
        Returns the graphs for a shape.

    Attributes
    ----------
    slots : Slots or None
    shape : GraphShape
        What the graphs depend on, once the program has begun.
    handles : Handles
        Handles of the tables and what belongs to them.
    """

    model: Handle
    shape: GraphShape
    handles: Handles

    def __init__(
        self,
        connection: Connection,
        settings: StepSettings,
        how: RowTraining,
        slots: int = 0,
        cores: int = 1,
        graphs: Callable[[GraphShape], WorkerGraphs] = training_graphs,
    ) -> None:
        self.slots: Slots | None = None
        self._connection, self._settings, self._graphs_for = connection, settings, graphs
        self._how, self._slot_count, self._cores, self._vector_size = how, slots, cores, 0

    def keep(self, tables: RemoteTables, model: UInt8Array) -> None:
        self._vector_size = tables.shape(TABLES[0]).columns
        if self._slot_count and self.slots is None:
            self.slots = Slots(tables, self._slot_count, self._vector_size, self._how.row_type)
        self.model = tables.keep("model", model)

    def begin(self, trained: TrainedTables) -> None:
        from gensim_tfw2v.steps.arguments import objective_of

        tables = trained.tables
        self.shape = GraphShape(
            objective_of(self._settings),
            tables.shards,
            self._connection.servers,
            self._connection.number,
            has_slots=self.slots is not None,
            **vars(self._how),
        )
        used = tuple(tuple(tables.handles(TABLES[table])) for table in self.shape.tables())
        self.handles = Handles(used, trained.version, trained.tickets.handles)
        self.graphs = self._graphs_for(self.shape)

    def new_metrics(self) -> ClusterMetrics:
        vector_bytes = self._vector_size * load_tensorflow().as_dtype(self._how.row_type).size
        moved = self.shape.moved_tables()
        cores, servers = self._connection.cores(self._cores), self._connection.servers
        return ClusterMetrics(cores, servers, vector_bytes, self._how.corrects, moved)

    def use_tables(self, handles: tuple[tuple[Any, ...], ...]) -> None:
        """Have workers use tables with these handles, of the same shards, until tables are loaded again."""
        self.handles = self.handles._replace(tables=handles)

    def handles_of(self, place: int | None) -> Handles:
        if place is None:
            return self.handles
        assert self.slots is not None
        return self.handles._replace(slot=self.slots.handles[place])

    def empty(self) -> None:
        if self.slots is not None:
            self.slots.empty()

"""L-BFGS on a cluster: vectors and their sums on parameter servers, losses and gradients of portions on workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.corpus.passes import BEGINNING, PassPosition
from gensim_tfw2v.placement.calls.server_placement import ServerPlacement
from gensim_tfw2v.placement.calls.server_training import ServerTraining
from gensim_tfw2v.placement.contract import TABLES, ModelTables
from gensim_tfw2v.placement.lbfgs.descent import COORDINATOR, Descent, fingerprint, is_whole_after, trained
from gensim_tfw2v.placement.lbfgs.descent_settings import Settings
from gensim_tfw2v.placement.lbfgs.portion_runs import PortionRuns
from gensim_tfw2v.placement.lbfgs.vector_space import vector_names
from gensim_tfw2v.placement.server_rows.row_program import RowProgram
from gensim_tfw2v.steps.settings import StepSettings

if TYPE_CHECKING:
    from gensim_tfw2v.placement.calls.program import WorkerGraphs
    from gensim_tfw2v.placement.lbfgs.server_vectors import ServerVectors
    from gensim_tfw2v.placement.server_rows.shape import GraphShape

_NAME_LENGTH = 16  # of a model, in the request of every portion


class ClusterDescent(ServerPlacement):
    """Descends on the workers and servers of a cluster. The model's tables there are the last accepted point.

    Parameters
    ----------
    timeout : float
        Seconds after which a portion that its worker has not finished goes to another worker.
    own : Settings
        The settings of the descent besides the model's steps.
    """

    epochs_may_overlap = False

    def __init__(
        self, settings: StepSettings, maker: BlockMaker, connection: Connection, timeout: float, own: Settings
    ) -> None:
        workers = connection.workers
        self._most_ahead = 3 * workers
        runs = self._most_ahead + 2 * workers
        self._program = RowProgram(connection, settings, slots=runs, graphs=_gradient_graphs)
        training = ServerTraining(connection, settings, maker, self._program, timeout)
        super().__init__(training)
        self.concurrency = 2 * workers  # so that a worker that is done finds the next portion waiting
        self._own = own
        self._runs = PortionRuns(training.dispatcher, runs)
        self._descent: Descent | None = None
        self._known: dict[str, int] = {}  # fingerprint of the model's tables
        self._is_next_whole = True

    def load(self, tables: ModelTables) -> None:
        if self._descent is not None and fingerprint(tables) == self._known:
            return
        super().load(tables)
        if self._descent is None:
            self._make_vectors()
            self._descent = Descent(self._vectors, self._own.history, self._most_ahead)
        if tables.outputs is not None and not tables.outputs.any():
            self.training.call_servers(lambda: self.training.tables.fill_randomly("outputs", self._own.seed))
        self._descent.minimizer.restart()

    def _make_vectors(self) -> None:
        """Make the vectors of a descent beside the tables, and the graph that adds a slot to one of them."""
        from gensim_tfw2v.placement.lbfgs.server_vectors import ServerVectors
        from gensim_tfw2v.placement.lbfgs.vector_graphs import vector_graphs
        from gensim_tfw2v.placement.server_rows.sums import slot_graph

        shape, call, tables = self._program.shape, self.training.call_servers, self.training.tables
        names, used = vector_names(self._own.history), [TABLES[table] for table in shape.tables()]
        graphs = vector_graphs(shape)
        self._vectors: ServerVectors = call(lambda: ServerVectors(tables, names, used, graphs, call))
        self._add_one = slot_graph(shape, 1)

    def begin_epoch(self, epoch: int, begin: PassPosition = BEGINNING) -> None:
        descent = self._progress()
        descent.begin(self._is_next_whole)
        self._is_next_whole = True
        self._runs.begin()
        self._program.use_tables(self._vectors.slices[descent.minimizer.trial])

    def end_epoch(self, epoch: int) -> None:
        self._progress().end()

    def _progress(self) -> Descent:
        assert self._descent is not None  # tables are loaded
        return self._descent

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        descent, number = self._progress(), task.entropy[-1]
        is_last = descent.begin_portion()
        try:
            if descent.is_whole:
                descent.order.admit(number)
            return self._evaluate(task, number, is_last)
        except BaseException:
            descent.order.fail()
            raise

    def _evaluate(self, task: ChunkTask, number: int, is_last: bool) -> TrainedChunk:
        from gensim_tfw2v.placement.lbfgs.portion_request import fixed, pack
        from gensim_tfw2v.placement.tasks.assignment import Request

        descent, training = self._progress(), self.training
        packed = pack(training.lease_key, training.tables.shards, fixed(task))
        found = self._runs.run(Request(training.model_name[:_NAME_LENGTH], packed), is_last)
        if descent.is_whole:
            descent.order.add(number, lambda: self._add(found.place))
        else:
            self._runs.free(found.place)
        report = found.finished.report
        losses = np.asarray(report.batches.losses)
        descent.end_portion(losses)
        preparing, *stepping = map(float, report.seconds)
        return trained(losses, report.pairs, int(report.tokens), preparing, sum(stepping))

    def _add(self, place: int) -> None:
        """Have the servers add the gradient of a run to that of the trial point."""
        sums = self._vectors.slices[self._progress().minimizer.trial_gradient]
        handles = self._program.handles_of(place)._replace(tables=sums)

        def add() -> None:
            wanted = (remote_functions.sent_to(device, np.ones(1, bool)) for device in self._vectors.devices)
            self._add_one(handles, (handles.slot,), tuple(wanted)).numpy()

        self.training.call_servers_alone(add)
        self._runs.free(place)

    def read_into(self, tables: ModelTables) -> None:
        super().read_into(tables)
        self._known = fingerprint(tables)

    def state(self) -> dict[str, Any]:
        return {**super().state(), **({} if self._descent is None else self._descent.state())}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._is_next_whole = is_whole_after(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        if self._descent is None:
            return super().task_metrics()
        own = {**self._descent.metrics()[COORDINATOR], **self._runs.report()}
        return {**super().task_metrics(), COORDINATOR: own}

    def report(self, raw_words: int) -> dict[str, Any] | None:
        found = super().report(raw_words)
        if found is None or self._descent is None:
            return found
        return {**found, "lbfgs": {**self._descent.report(), **self._runs.report()}, "tasks": self.task_metrics()}


def _gradient_graphs(shape: GraphShape) -> WorkerGraphs:
    from gensim_tfw2v.placement.lbfgs.portion_graphs import gradient_graphs

    return gradient_graphs(shape)

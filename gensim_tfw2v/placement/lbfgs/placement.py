"""L-BFGS on a cluster: vectors and their sums on parameter servers, losses and gradients of portions on workers."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.corpus.positions import BEGINNING, PassPosition
from gensim_tfw2v.placement.calls.dispatch import Dispatcher
from gensim_tfw2v.placement.calls.server_placement import ServerPlacement
from gensim_tfw2v.placement.calls.server_training import ServerTraining
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.lbfgs.descent import DescentPlacement
from gensim_tfw2v.placement.lbfgs.portion import fixed, pack
from gensim_tfw2v.placement.lbfgs.portion_graphs import gradient_graphs
from gensim_tfw2v.placement.lbfgs.portion_runs import PortionRuns
from gensim_tfw2v.placement.lbfgs.server_vectors import ServerVectors
from gensim_tfw2v.placement.server_rows.row_program import RowProgram
from gensim_tfw2v.placement.server_rows.shape import RowTraining
from gensim_tfw2v.placement.server_rows.sums import slot_graph
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.steps.settings import StepSettings

_NAME_LENGTH = 16  # of a model, in the request of every portion


class ClusterDescent(DescentPlacement, ServerPlacement):
    """Descends on the workers and servers of a cluster. The model's tables there are the last accepted point.

    Parameters
    ----------
    timeout : float
        Seconds after which a portion that its worker has not finished goes to another worker.
    history, seed : int
        As in `DescentPlacement`.
    """

    _vectors: ServerVectors

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        connection: Connection,
        timeout: float,
        history: int,
        seed: int,
    ) -> None:
        workers = connection.workers
        most_ahead = 3 * workers
        places = most_ahead + 2 * workers
        self._program = RowProgram(connection, settings, RowTraining(), slots=places, graphs=gradient_graphs)
        training = ServerTraining(Dispatcher(connection, timeout), settings, maker, self._program)
        ServerPlacement.__init__(self, training)
        DescentPlacement.__init__(self, history, seed, most_ahead)
        self.concurrency = 2 * workers  # so that a worker that is done finds the next portion waiting
        self._runs = PortionRuns(training.dispatcher, places)

    def _set_point(self, tables: ModelTables) -> ServerVectors:
        self.training.load(tables)
        if self._minimizer is None:
            shape = self._program.shape
            self._vectors = ServerVectors(self.training.tables, self._history, shape, self.training.call_servers)
            self._add_one = slot_graph(shape, 1)
        return self._vectors

    def _fill_outputs_randomly(self) -> None:
        self.training.call_servers(lambda: self.training.tables.fill("outputs", self._seed))

    def begin_epoch(self, epoch: int, begin: PassPosition = BEGINNING) -> None:
        super().begin_epoch(epoch, begin)
        self._runs.begin()
        self._program.use_tables(self._vectors.slices[self.minimizer.trial])

    def _evaluate(self, task: ChunkTask, number: int, is_last: bool) -> TrainedChunk:
        training = self.training
        packed = pack(training.lease_key, training.tables.shards, fixed(task))
        found = self._runs.run(Request(training.model_name[:_NAME_LENGTH], packed), is_last)
        if self._is_whole:
            self._order.add(number, lambda: self._add(found.place))
        else:
            self._runs.free(found.place)
        report = found.finished.report
        preparing, *stepping = map(float, report.seconds)
        losses = np.asarray(report.batches.losses)
        return self._counted(losses, report.pairs, int(report.tokens), preparing, sum(stepping))

    def _add(self, place: int) -> None:
        """Have the servers add the gradient of a run to that of the trial point."""
        sums = self._vectors.slices[self.minimizer.trial_gradient]
        handles = self._program.handles_of(place)._replace(tables=sums)

        def add() -> None:
            wanted = (remote_functions.sent_to(device, np.ones(1, bool)) for device in self._vectors.devices)
            self._add_one(handles, (handles.slot,), tuple(wanted)).numpy()

        self.training.call_servers_alone(add)
        self._runs.free(place)

    def read_into(self, tables: ModelTables) -> None:
        super().read_into(tables)
        self._remember(tables)

    def _counts_of_runs(self) -> dict[str, int]:
        return self._runs.report()

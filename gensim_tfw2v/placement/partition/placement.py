"""Sub-models on the workers of a cluster: each worker trains its own, and no worker waits for another one."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gensim_tfw2v.arrays import Float32Array, UInt8Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_parts import together
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.corpus.positions import BEGINNING, PassPosition
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.own_tables import OwnTablesCalls
from gensim_tfw2v.placement.calls.own_tables_metrics import OwnTablesMetrics
from gensim_tfw2v.placement.calls.team import Team
from gensim_tfw2v.placement.calls.waiting import MembersLost
from gensim_tfw2v.placement.calls.worker_tables import TablesLost
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.partition.draws import Draw, Partition
from gensim_tfw2v.placement.partition.share_block import ShareAssignment, share_graphs
from gensim_tfw2v.placement.partition.submodels import SubModelPlacement
from gensim_tfw2v.placement.partition.worker_submodel import WorkerSubModel
from gensim_tfw2v.placement.remote.left_tables import take_over
from gensim_tfw2v.placement.state import PlacementState
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.placement.tasks.model import EncodedModel, WorkerModel
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.settings import StepSettings

logger = logging.getLogger(__name__)

_CHUNKS_IN_FLIGHT = 4  # a worker may be this many chunks ahead of the slowest one
_TURN_SECONDS = 60.0  # after this time, the thread of an earlier chunk must have ended with an error


class PartitionPlacement(SubModelPlacement):
    """Trains sub-models on the workers of a cluster.

    Sub-models are given in turn to the workers that answer at the beginning. A lost worker's sub-models are lost for
    this training, and the others continue without them.

    Parameters
    ----------
    timeout : float
        Seconds after which a worker that has not finished its share is left out.
    cores : int
        The most cores of a worker that train a share.
    """

    concurrency = _CHUNKS_IN_FLIGHT
    can_fail = True

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        connection: Connection,
        timeout: float,
        partition: Partition,
        cores: int = 1,
    ) -> None:
        super().__init__(maker, partition, settings.have_states)
        self._settings, self._connection, self._timeout = settings, connection, timeout
        self._team: Team[WorkerSubModel] = Team(connection, timeout, "sub-models", _and_with_it)
        self._cores = cores
        self._metrics = OwnTablesMetrics(connection.cores(cores))
        self._calls: OwnTablesCalls | None = None  # that train the loaded model
        self._turns = threading.Condition()  # guards the next two
        self._missing: list[int] = []  # chunks that come before the next one, in their order
        self._next_chunk = 0

    @property
    def has_failed(self) -> bool:
        """Whether all sub-models were lost."""
        return self._team.failure is not None

    # -- tables --------------------------------------------------------------------------------------------------------

    def _load(self, tables: ModelTables) -> None:
        is_first = self._calls is None
        with self._team.loading():
            model = EncodedModel.of(WorkerModel.of(self._settings, self._maker, tables))
            graphs = share_graphs(objective_of(self._settings), self._connection.number)
            self._calls = OwnTablesCalls(model, graphs)
            if is_first:
                self._place_submodels()
            values = tables.present()

            def load(member: Member, _: Any) -> None:
                for submodel in self._team.tables_of(member):
                    submodel.load(values)

            try:
                self._team.waiting.each("load", self._team.taking_part(), load)
            except MembersLost as lost:
                self._leave_out(lost.reasons)
        self._team.keep_alive()
        self._team.raise_if_none_is_left("load")
        self._metrics.begin(self._team.taking_part())

    def _place_submodels(self) -> None:
        team = self._team
        ready = [member for member in team.members if team.can_be_called(member)]
        if not ready:
            raise team.declare_lost("none was left to load")
        for member in ready:
            team.record_return(member)
        for draw in self._partition.draws():
            member = ready[draw.submodel % len(ready)]
            self._counts[draw.submodel].worker = member.task
            if not self._is_lost_with(draw.submodel):
                on_read = self._metrics.add_read
                team.add(WorkerSubModel(self._connection, member, draw, 2 * self._timeout, on_read))
        if len(ready) < len(team.members):
            names = ", ".join(member.name for member in team.members if member not in ready)
            logger.warning("%s: no answer; the other workers train all sub-models", names)

    def _left(self) -> Sequence[WorkerSubModel]:
        return sorted(self._team.tables(), key=lambda submodel: submodel.number)

    def _load_former(self) -> None:
        try:
            super()._load_former()
        except TablesLost as lost:
            self._leave_out({lost.member: lost.reason})
            raise self._team.declare_lost(f"{lost.member.name} could not load its tables") from lost

    def read_into(self, tables: ModelTables) -> None:
        while True:
            self._team.raise_if_none_is_left("send tables")
            try:
                super().read_into(tables)
            except TablesLost as lost:
                self._leave_out({lost.member: lost.reason})
            else:
                return

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        try:
            return super().rows(table, first, end)
        except TablesLost as lost:
            self._leave_out({lost.member: lost.reason})
            raise ClusterError(f"{lost.member.name} is gone: {lost.reason}") from lost

    # -- training ------------------------------------------------------------------------------------------------------

    def begin_epoch(self, epoch: int, begin: PassPosition = BEGINNING) -> None:
        with self._turns:
            self._missing, self._next_chunk = sorted(begin.missing), begin.chunks

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        own_calls = self._calls
        assert own_calls is not None
        messages = {submodel: self._message(submodel, task) for submodel in self._team.tables()}
        reports: dict[WorkerSubModel, BlockReport] = {}

        def train(member: Member, calls: Any) -> None:
            if member.number in self._connection.worker_locks.abandoned:  # since an earlier chunk
                raise ClusterError(f"{member.name} hangs")
            for submodel in self._team.tables_of(member):
                message = messages.pop(submodel)
                self._metrics.begin_block(member)
                report = own_calls.train(member, submodel.handles(), message, calls)
                self._metrics.add_block(member, report, message.nbytes)
                reports[submodel] = report

        with self._turn_of(task.entropy[-1]):
            self._team.raise_if_none_is_left("train")
            calls = self._team.waiting.begin(self._team.taking_part(), train)
        try:
            self._team.waiting.results("train", calls)
        except MembersLost as lost:
            self._leave_out(lost.reasons)
        self._team.raise_if_none_is_left("train")
        in_order = sorted(reports, key=lambda submodel: submodel.number)
        trained = {submodel.number: reports[submodel].trained() for submodel in in_order}
        self._count(trained)
        return together(list(trained.values()))

    def _message(self, submodel: WorkerSubModel, task: ChunkTask) -> UInt8Array:
        """Return the message about a sub-model's share of a chunk, before its worker is free.

        The share of a span is drawn on the worker, which reads the span. Other shares are drawn here, so that no
        sentence is sent to a worker that does not train it.
        """
        draw: Draw | None = submodel.draw
        if isinstance(task.content, Sentences):
            task, draw = submodel.draw.task_of(task, task.content), None
        return encode(ShareAssignment(submodel.lease_key, 1, 1, NOT_SHARED, task, draw, cores=self._cores))

    @contextlib.contextmanager
    def _turn_of(self, chunk: int) -> Iterator[None]:
        """Wait until the chunks before this one have gone to the workers, so that all train them in the same order."""
        with self._turns:
            if not self._turns.wait_for(lambda: chunk <= min([self._next_chunk, *self._missing]), _TURN_SECONDS):
                logger.warning("chunk %i is trained before an earlier one; other runs with this seed differ", chunk)
            try:
                yield
            finally:
                if chunk in self._missing:
                    self._missing.remove(chunk)
                self._next_chunk = max(self._next_chunk, chunk + 1)
                self._turns.notify_all()

    def _leave_out(self, reasons: Mapping[Member, str]) -> None:
        self._metrics.leave_out(reasons)
        with self._lock:
            for submodel in self._team.leave_out(reasons):
                counts = self._counts[submodel.number]
                counts.lost += counts.words

    # -- state and end -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        return PlacementState(leases=tuple(self._team.leases()), own=super().state()).to_json()

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        take_over(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return self._metrics.tasks()

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return {**self._metrics.report(raw_words), **(super().report(raw_words) or {})}

    def close(self) -> None:
        self._team.close()


def _and_with_it(lost: Sequence[WorkerSubModel]) -> str:
    """Return the end of the log line about a worker that had these sub-models."""
    return f", and sub-model {', '.join(str(submodel.number) for submodel in lost)} with it"

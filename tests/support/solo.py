"""A design of its own, made of the library alone: one worker has all tables, and trains one block after the other.

It shows how little a design needs. Nothing in the package knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.health import raise_if_no_worker_answers
from gensim_tfw2v.placement.block_size import choose_block_words
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.own_tables import OwnTablesCalls
from gensim_tfw2v.placement.calls.own_tables_metrics import OwnTablesMetrics
from gensim_tfw2v.placement.calls.team import Team
from gensim_tfw2v.placement.calls.worker_tables import TablesLost, WorkerTables
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.remote.left_tables import take_over
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.request import ClusterRequest, PlacementChoice
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.placement.tasks.model import EncodedModel, WorkerModel
from gensim_tfw2v.placement.tasks.plain_block import plain_graphs
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.settings import StepSettings

_Result = TypeVar("_Result")


def choose_solo(request: ClusterRequest) -> PlacementChoice:
    """Return the cluster's worker; raise ClusterError if none answers."""
    connection, size, timeout = request.connection, request.size, request.options.timeout
    raise_if_no_worker_answers(connection.addresses["worker"])
    words = size.chunk_words or choose_block_words(size.total_words, 1, size.batch_words)
    return PlacementChoice(
        words, None, lambda settings, maker: Solo(settings, maker, connection, timeout), connection.addresses
    )


class Solo(Placement):
    """Trains on the first worker that answers. If it is lost, another one takes up the training's last state."""

    concurrency = 1
    can_fail = True

    def __init__(self, settings: StepSettings, maker: BlockMaker, connection: Connection, timeout: float) -> None:
        self._settings, self._maker, self._connection, self._timeout = settings, maker, connection, timeout
        self._team: Team[WorkerTables] = Team(connection, timeout)
        self._calls: Any = None  # `OwnTablesCalls` of the model that is loaded
        self._metrics = OwnTablesMetrics(connection.cores(1))

    @property
    def has_failed(self) -> bool:
        return self._team.failure is not None

    def load(self, tables: ModelTables) -> None:
        team, values = self._team, tables.present()
        model = EncodedModel.of(WorkerModel.of(self._settings, self._maker, tables))
        self._calls = OwnTablesCalls(model, plain_graphs(objective_of(self._settings), self._connection.number))
        with team.loading():
            if not team.tables():
                self._choose_worker()
            team.each("load", team.taking_part(), lambda member, _: team.own_tables(member).load(values))
        team.keep_alive()
        team.raise_if_none_is_left("load")

    def _choose_worker(self) -> None:
        if ready := [member for member in self._team.members if self._team.can_be_called(member)]:
            self._team.record_return(ready[0])
            self._team.add(WorkerTables(self._connection, ready[0], 2 * self._timeout))

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        def train(member: Member, calls: Any) -> BlockReport:
            own = self._team.own_tables(member)
            message = encode(Assignment(own.lease_key, 1, 1, NOT_SHARED, task))
            self._metrics.begin_block(member)
            report: BlockReport = self._calls.train(member, [own.handles_for_steps()], message, calls)
            self._metrics.add_block(member, report, message.nbytes)
            return report

        trained = self._team.each("train", self._team.taking_part(), train)
        self._team.raise_if_none_is_left("train")
        (report,) = trained.values()
        return report.trained()

    def read_into(self, tables: ModelTables) -> None:
        for name, values in tables.present().items():
            self._ask(lambda own, name=name, values=values: own.read_into(name, values))

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        return self._ask(lambda own: own.rows(table, first, end))

    def _ask(self, call: Callable[[RemoteTables], _Result]) -> _Result:
        self._team.raise_if_none_is_left("send its rows")
        try:
            return self._team.tables()[0].ask(call)
        except TablesLost as lost:
            self._team.leave_out({lost.member: lost.reason})
            raise self._team.declare_lost(f"{lost.member.name} has not sent its rows") from lost

    def state(self) -> dict[str, Any]:
        return {"leases": self._team.leases()}

    def restore(self, state: Mapping[str, Any]) -> None:
        take_over(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return self._metrics.tasks()

    def report(self, raw_words: int) -> dict[str, Any]:
        return self._metrics.report(raw_words)

    def close(self) -> None:
        self._team.close()

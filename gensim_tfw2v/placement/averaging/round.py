"""One round: workers train parts of a chunk, average shared rows after each part, and average all rows at the end."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.blocks.chunk_parts import parts_of, together
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk, words_of
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import ShardReader
from gensim_tfw2v.placement.averaging.averaged_tables import AveragedTables
from gensim_tfw2v.placement.averaging.exchange import WorkerPiece, rows_graph, shared_rows_graph
from gensim_tfw2v.placement.averaging.member_graphs import worker_graphs
from gensim_tfw2v.placement.averaging.round_metrics import RoundMetrics
from gensim_tfw2v.placement.averaging.worker_rows import RoundShape, TableHandles, WorkerHandles
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.team import Team
from gensim_tfw2v.placement.calls.waiting import MembersLost
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.placement.tasks.model import EncodedModel
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.concurrent_updates import Partners, no_partners
from gensim_tfw2v.steps.row_sharing import NOT_SHARED, RowSharing
from gensim_tfw2v.steps.signature import Objective

_NO_SENTENCES = Sentences(np.zeros(0, np.int32), np.zeros(0, np.int32))


@dataclass(frozen=True)
class RoundSettings:
    """How workers share a chunk."""

    step_words: int  # raw words that all workers together train between two averages of shared rows
    most_part_words: int  # raw words of one worker's part, which must fit its memory
    first_words: int  # raw words of the first rounds
    sharing: RowSharing
    row_type: str  # TensorFlow's name of the number format in which rows are sent
    cores: int = 1  # of a worker, at most, that train a part


class Rounds:
    """Runs rounds of one model on the workers that take part."""

    def __init__(
        self,
        team: Team[AveragedTables],
        settings: RoundSettings,
        model: EncodedModel,
        reader: ShardReader | None,
        objective: Objective,
        connection_number: int,
        metrics: RoundMetrics,
    ) -> None:
        self._tf = load_tensorflow()
        self._team, self._waiting = team, team.waiting
        self._settings, self._model, self._reader, self._metrics = settings, model, reader, metrics
        self._objective, self._number = objective, connection_number
        self._names = [TABLES[table] for table in objective.tables()]

    def train(self, task: ChunkTask, members: Sequence[Member]) -> tuple[TrainedChunk, MembersLost | None]:
        """Train a chunk; its result becomes the base of all these workers, except those that are returned as lost.

        Raise MembersLost if workers are lost before the round is whole. The current tables of all workers are then
        useless.
        """
        began = time.monotonic()
        shape = self._shape(members)
        self._register(shape, members)
        parts = self._parts(task, len(members))
        reports: list[list[BlockReport]] = [[] for _ in members]
        averaging, lost = 0.0, None
        nothing = replace(task, content=_NO_SENTENCES)
        for step in range(max(map(len, parts))):
            # A worker without a part also receives an assignment, so that its changes count from the beginning of this
            # step.
            tasks = {
                member: own[step] if step < len(own) else nothing for member, own in zip(members, parts, strict=True)
            }
            for member, report in self._train_parts(shape, tasks).items():
                if tasks[member] is not nothing:
                    reports[members.index(member)].append(report)
            trained = time.monotonic()
            if not all(is_finite(report) for of_member in reports for report in of_member):
                break  # training ends
            if shape.sharing.rows:
                self._average_shared_rows(shape, members)
            averaging += time.monotonic() - trained
        else:
            trained = time.monotonic()
            if len(members) > 1:
                self._average_rows(shape, members)
            lost = self._keep(shape, members)
            averaging += time.monotonic() - trained
            self._metrics.add_round(words_of(task), time.monotonic() - began, averaging, len(members))
        return together([report.trained() for of_member in reports for report in of_member]), lost

    def _shape(self, members: Sequence[Member]) -> RoundShape:
        """Return the shape of the graphs; a worker alone shares no rows."""
        tables = self._team.own_tables(members[0]).tables
        rows = min(tables.shape(name).rows for name in self._names)
        sharing = self._settings.sharing.within(rows) if len(members) > 1 else NOT_SHARED
        return RoundShape(self._objective, self._number, self._settings.row_type, sharing)

    def _handles(self, member: Member) -> WorkerHandles:
        return self._team.own_tables(member).handles(self._names)

    def _register(self, shape: RoundShape, members: Sequence[Member]) -> None:
        name = self._model.name
        unknowing = [member for member in members if not member.registration.knows(name)]

        def register(member: Member, calls: Any) -> None:
            member.registration.ensure(name, lambda: self._send(shape, member, calls))

        if unknowing:
            self._waiting.each("register", unknowing, register)

    def _send(self, shape: RoundShape, member: Member, calls: Any) -> None:
        sent = remote_functions.local(self._model.name), remote_functions.local(self._model.data)
        with self._tf.device(_device(member)):
            calls.run(worker_graphs(shape).register_model, *sent).numpy()

    def _parts(self, task: ChunkTask, workers: int) -> list[list[ChunkTask]]:
        """Return the parts of each worker, in the order in which it trains them."""
        words = words_of(task)
        steps = max(1, -(-words // (workers * self._settings.most_part_words)))
        if workers > 1:
            steps = max(steps, round(words / self._settings.step_words))
        parts = parts_of(task, workers * steps, self._reader)
        bounds = [len(parts) * worker // workers for worker in range(workers + 1)]
        return [parts[first:end] for first, end in itertools.pairwise(bounds)]

    def _train_parts(self, shape: RoundShape, tasks: dict[Member, ChunkTask]) -> dict[Member, BlockReport]:
        graphs, name = worker_graphs(shape), self._model.name
        sent_bytes: dict[Member, int] = {}

        def train(member: Member, calls: Any) -> Any:
            own = self._team.own_tables(member)
            data = encode(
                Assignment(own.lease_key, 1, len(tasks), shape.sharing, tasks[member], cores=self._settings.cores)
            )
            sent_bytes[member] = data.nbytes
            sent = remote_functions.local(name), remote_functions.local(data)

            def train_part() -> Any:
                with self._tf.device(_device(member)):
                    report, partners = calls.run(
                        graphs.train, own.handles(self._names), *sent, _partners_of(own, self._tf)
                    )
                numbers = report.numpy()
                own.partners = partners  # only once the call has succeeded
                return numbers

            return member.registration.call(name, lambda: self._send(shape, member, calls), train_part)

        found = self._waiting.each("train", list(tasks), train)
        reports = {}
        for member, numbers in found.values.items():
            try:
                reports[member] = BlockReport.from_array(numbers, 0)
            except ValueError as error:
                raise ClusterError(f"{member.name}: {error}") from None
            self._metrics.add_part(member, reports[member], sent_bytes[member])
        self._metrics.add_meeting(found.finished)
        return reports

    def _average_shared_rows(self, shape: RoundShape, members: Sequence[Member]) -> None:
        graph = shared_rows_graph(shape, tuple(map(_device, members)))
        handles = tuple(map(self._handles, members))

        def average(calls: Any) -> None:
            calls.run(graph, *handles).numpy()

        self._waiting.together("average shared rows", members, average)
        self._metrics.add_shared_rows(list(members), shape.sharing.rows * len(shape.objective.moved_tables()))

    def _average_rows(self, shape: RoundShape, members: Sequence[Member]) -> None:
        """Scale changes and average all rows of all tables, piece by piece."""
        graphs, graph = worker_graphs(shape), rows_graph(shape, tuple(map(_device, members)))

        def scale(member: Member, calls: Any) -> None:
            own, workers = self._team.own_tables(member), remote_functions.local(np.float32(len(members)))
            with self._tf.device(_device(member)):
                calls.run(graphs.scale, own.handles(self._names), _partners_of(own, self._tf), workers).numpy()

        self._waiting.each("scale", members, scale)
        for handles, first, end in self._pieces(shape, members):

            def average(calls: Any, handles: Any = handles, first: int = first, end: int = end) -> Int64Array:
                bounds = np.array([first, end], np.int32)
                pieces = [
                    WorkerPiece(of_table, remote_functions.sent_to(_device(member), bounds))
                    for member, of_table in zip(members, handles, strict=True)
                ]
                found: Int64Array = calls.run(graph, *pieces).numpy()
                return found

            sent = self._waiting.together("average", members, average)
            self._metrics.add_rows(list(members), sent)

    def _pieces(
        self, of_round: RoundShape, members: Sequence[Member]
    ) -> Iterator[tuple[tuple[TableHandles, ...], int, int]]:
        """Yield each worker's handles of a table, the first row of a piece and its end, for all pieces that change."""
        of_members = list(map(self._handles, members))
        tables = self._team.own_tables(members[0]).tables
        for _, number in of_round.moved(range(len(self._names))):
            handles = tuple(own.tables[number] for own in of_members)
            shape = tables.shape(self._names[number])
            step = max(1, tuning.AVERAGED_NUMBERS_AT_ONCE // shape.columns)
            for first in range(0, shape.rows, step):
                yield handles, first, min(first + step, shape.rows)

    def _keep(self, shape: RoundShape, members: Sequence[Member]) -> MembersLost | None:
        """Make the current rows the base of all workers, and return the workers lost meanwhile.

        The round is whole as soon as the first worker has kept its rows: no other worker then returns to its former
        base.
        """
        graphs = worker_graphs(shape)

        def keep(member: Member, calls: Any) -> None:
            with self._tf.device(_device(member)):
                calls.run(graphs.keep, self._handles(member)).numpy()

        try:
            self._waiting.each("keep", members, keep)
        except MembersLost as lost:
            return lost
        except self._tf.errors.OpError as error:  # it is unknown which workers have kept their rows
            raise ClusterError(f"workers answer but cannot keep the result of a round: {brief(error)}") from error
        return None


def _device(member: Member) -> str:
    return device("worker", member.number)


def _partners_of(tables: AveragedTables, tf: Any) -> Partners:
    """Return the directions that a worker's last part found, no directions before its first part."""
    if tables.partners is None:
        with tf.device(None):
            tables.partners = no_partners()
    return tables.partners


def is_finite(trained: BlockReport | TrainedChunk) -> bool:
    """Return whether no step was refused."""
    batches = trained.batches
    return bool(np.isfinite(batches.losses + batches.touched_rows).all())

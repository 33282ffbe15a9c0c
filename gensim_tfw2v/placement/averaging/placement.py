"""Tables on every worker, and on no server: workers train parts of a chunk, and then average their rows."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_parts import parts_of, together
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk, words_of
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.placement.averaging.averaged_tables import AveragedTables
from gensim_tfw2v.placement.averaging.round import Rounds, RoundSettings, is_finite
from gensim_tfw2v.placement.averaging.round_metrics import RoundMetrics
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.team import Team
from gensim_tfw2v.placement.calls.waiting import MembersLost
from gensim_tfw2v.placement.calls.worker_tables import TablesLost
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.remote.left_tables import take_over
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.state import PlacementState
from gensim_tfw2v.placement.tasks.model import EncodedModel, WorkerModel
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.settings import StepSettings

logger = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_TRIALS = 3  # attempts at a round that fails although all workers answer
_REST_SECONDS = 1.0  # pause after such a failure


class AveragingPlacement(Placement):
    """Trains rounds on the workers of a cluster.

    Parameters
    ----------
    timeout : float
        Seconds after which a worker that has not finished its part is left out.
    """

    concurrency = 1
    can_fail = True

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        connection: Connection,
        timeout: float,
        rounds: RoundSettings,
    ) -> None:
        self._tf = load_tensorflow()
        self._settings, self._maker, self._connection, self._timeout = settings, maker, connection, timeout
        self._round_settings = rounds
        self._team: Team[AveragedTables] = Team(
            connection, timeout, after_loss=lambda _: "; the others train without it until it is back"
        )
        self._rounds: Rounds | None = None
        self._metrics: RoundMetrics | None = None
        self._words = 0  # trained so far

    @property
    def has_failed(self) -> bool:
        """Whether all workers, and the tables with them, were lost."""
        return self._team.failure is not None

    # -- tables --------------------------------------------------------------------------------------------------------

    def load(self, tables: ModelTables) -> None:
        model = EncodedModel.of(WorkerModel.of(self._settings, self._maker, tables))
        settings, connection = self._round_settings, self._connection
        if self._metrics is None:
            bytes_of_row = tables.inputs.shape[1] * self._tf.as_dtype(settings.row_type).size
            self._metrics = RoundMetrics(connection.cores(settings.cores), bytes_of_row)
            self._team.keep_alive()
        objective, reader = objective_of(self._settings), self._maker.reader
        self._rounds = Rounds(self._team, settings, model, reader, objective, connection.number, self._metrics)
        team, values = self._team, tables.present()
        with team.loading():
            self._leave_out_late_workers()
            for member in team.members:
                if not (member.is_missed or team.tables_of(member) or team.can_be_called(member)):
                    team.leave_out({member: "it does not answer"})
            ready = [member for member in team.members if not member.is_missed or self._is_back(member)]
            for member in ready:
                if not team.tables_of(member):
                    self._add(member)
            team.each("load", ready, lambda member, _: team.own_tables(member).load(values))
            for member in team.taking_part():
                team.record_return(member)
        team.raise_if_none_is_left("load")

    def _add(self, member: Member) -> AveragedTables:
        """Return new tables of a worker, and let the worker take part from now on."""
        tables = AveragedTables(self._connection, member, 2 * self._timeout)
        self._team.add(tables)
        return tables

    def read_into(self, tables: ModelTables) -> None:
        def read(base: RemoteTables) -> None:
            for name, values in tables.present().items():
                base.read_into(name, values)

        self._from_any(read)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        return self._from_any(lambda base: base.rows(table, first, end))

    def _from_any(self, read: Callable[[RemoteTables], _Result]) -> _Result:
        """Return what `read` returns for the base of one worker, or of another worker if the first does not answer."""
        for own in self._team.tables():
            if not own.have_base:
                continue
            try:
                return own.ask(read)
            except TablesLost as lost:  # the next round leaves the worker out
                logger.warning("%s has not sent its rows: %s", lost.member.name, lost.reason)
        raise self._team.failure or self._team.declare_lost("no worker sends its rows")

    # -- rounds --------------------------------------------------------------------------------------------------------

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        trained: list[TrainedChunk] = []
        # None is longer than all words trained before it, unless that is tiny: otherwise each worker would learn on its
        # own what random vectors teach.
        rounds = [task] if self._connection.workers == 1 else list(self._halved(task, self._words))
        for of_round in rounds:
            trained.append(self._train_round(of_round))
            if not is_finite(trained[-1]):
                break  # training ends
            self._words += words_of(of_round)
        return together(trained)

    def _halved(self, task: ChunkTask, words_before: int) -> Iterator[ChunkTask]:
        is_short = words_of(task) <= max(words_before, self._round_settings.first_words)
        halves = [task] if is_short else parts_of(task, 2, self._maker.reader)
        if len(halves) == 1:
            yield task
        else:
            yield from self._halved(halves[0], words_before)
            yield from self._halved(halves[1], words_before + words_of(halves[0]))

    def _train_round(self, task: ChunkTask) -> TrainedChunk:
        assert self._rounds is not None
        trials = 0
        while True:
            self._take_back()
            members = self._team.taking_part()
            self._team.raise_if_none_is_left("train")
            try:
                trained, lost = self._rounds.train(task, members)
            except MembersLost as too_few:
                self._team.leave_out(too_few.reasons)
            except self._tf.errors.OpError as error:
                trials += 1
                if trials >= _TRIALS:
                    self._cut_off(members, error)
                    trials = 0
                time.sleep(_REST_SECONDS)
            else:
                if lost is not None:
                    self._team.leave_out(lost.reasons)
                return trained
            # All workers return to the base, which each of them kept from the last whole round.
            self._team.each(
                "renew", self._team.taking_part(), lambda member, _: self._team.own_tables(member).begin_anew()
            )

    def _cut_off(self, members: Sequence[Member], error: Exception) -> None:
        """Continue without the last worker, if an error of connections shows that not all of them reach each other."""
        errors = self._tf.errors
        is_of_link = isinstance(error, (errors.UnavailableError, errors.AbortedError, errors.DeadlineExceededError))
        if len(members) == 1 or not is_of_link:
            raise ClusterError(f"workers cannot average their rows, and all of them answer: {brief(error)}") from error
        members[-1].is_cut_off = True
        reason = f"all answer, and a link between workers may be broken: {brief(error)}"
        self._team.leave_out({members[-1]: reason})

    def _take_back(self) -> None:
        """Let lost workers that have come back take part again, with tables from a worker that was not lost."""
        for member in self._team.members:
            others = self._team.taking_part()
            if member.is_missed and others and self._is_back(member):
                began = time.monotonic()
                if self._copies(self._team.own_tables(others[0]), self._add(member)):
                    self._team.record_return(member)
                    logger.info("%s received its tables in %.1f s", member.name, time.monotonic() - began)

    def _leave_out_late_workers(self) -> None:
        for member in self._team.members:
            if member.address in self._connection.late and not member.is_missed:
                member.is_missed = True
                logger.warning(
                    "%s did not answer when this process connected, so the other workers cannot average with it; "
                    "distribution='averaging' trains without it until this process is started again",
                    member.name,
                )

    def _is_back(self, member: Member) -> bool:
        may_be = member.address not in self._connection.late and not member.is_cut_off
        return may_be and self._team.is_back(member)

    def _copies(self, source: AveragedTables, new: AveragedTables) -> bool:
        """Copy another worker's base to a worker's new tables; if that fails, leave the worker out and return False."""
        try:
            self._team.waiting.together("copy", [source.member, new.member], lambda _: new.copy_from(source))
        except MembersLost as lost:
            self._team.leave_out({new.member: str(lost), **lost.reasons})
        except self._tf.errors.OpError as error:
            self._team.leave_out({new.member: brief(error)})
        return not new.is_lost

    # -- state and end -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        return PlacementState(leases=tuple(self._team.leases()), own={"words": self._words}).to_json()

    def restore(self, state: Mapping[str, Any]) -> None:
        self._words = int(state.get("words", 0))
        take_over(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return {} if self._metrics is None else self._metrics.tasks()

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return None if self._metrics is None else self._metrics.report(raw_words)

    def close(self) -> None:
        self._team.close()

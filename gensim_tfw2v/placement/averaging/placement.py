"""Tables on every worker, and on no server: workers train parts of a chunk, and then average their rows."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_parts import parts_of, together
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.health import answers, wait_while_answering
from gensim_tfw2v.cluster.keepalive import Keepalive
from gensim_tfw2v.placement.averaging.member import AveragingMember
from gensim_tfw2v.placement.averaging.round import Rounds, RoundSettings, is_finite, words_of
from gensim_tfw2v.placement.averaging.round_metrics import RoundMetrics
from gensim_tfw2v.placement.averaging.worker_tables import WorkerTables
from gensim_tfw2v.placement.calls.waiting import MembersLost, Waiting
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.remote.left_tables import free_when_next_are_made, take_over
from gensim_tfw2v.placement.tasks.model import EncodedModel, WorkerModel
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.settings import StepSettings

logger = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_TRIALS = 3  # of a round that fails while all workers answer
_REST_SECONDS = 1.0  # after such a failure
_ANSWER_SECONDS = 20.0  # that a worker may take to answer when its lease is renewed
_CLOSING_SECONDS = 2.0


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
        self._members = [AveragingMember(number, connection) for number in range(connection.workers)]
        self._waiting = Waiting(connection, timeout)
        self._rounds: Rounds | None = None
        self._metrics: RoundMetrics | None = None
        self._model: EncodedModel | None = None
        self._words = 0  # trained so far
        self._failure: ClusterError | None = None
        self._keepalive: Keepalive | None = None
        self._is_closed = self._is_loading = False
        connection.trainings.add(self)

    @property
    def has_failed(self) -> bool:
        """Whether all workers, and the tables with them, were lost."""
        return self._failure is not None

    # -- tables --------------------------------------------------------------------------------------------------------

    def load(self, tables: ModelTables) -> None:
        self._is_loading = True  # stays so after an interrupt, when threads may still load them
        self._model = EncodedModel.of(WorkerModel.of(self._settings, self._maker, tables))
        values = tables.present()
        if self._metrics is None:
            vector_size = tables.inputs.shape[1]
            bytes_of_row = vector_size * self._tf.as_dtype(self._round_settings.row_type).size
            self._metrics = RoundMetrics(self._connection.workers, bytes_of_row)
            self._rounds = Rounds(
                self._waiting,
                self._round_settings,
                self._maker,
                objective_of(self._settings),
                self._connection.number,
                self._metrics,
                vector_size,
            )
            self._keepalive = Keepalive(self._renew_leases)
        for member in self._members:
            if member.tables is None and not member.is_missed and not self._can_be_called(member):
                self._leave_out(MembersLost({member: "it does not answer"}))
        ready = [member for member in self._members if not member.is_missed or self._is_back(member)]
        self._on_each("load", ready, lambda member, _: self._tables_for(member).load(values))
        for member in self._taking_part():
            self._welcome(member)
        self._is_loading = False
        self._raise_if_none_is_left("load")

    def _tables_for(self, member: AveragingMember) -> WorkerTables:
        """Return a worker's tables, made if there are none."""
        if member.tables is None:
            made = WorkerTables(self._connection, member.number)
            if self._is_closed:  # an interrupt has closed the placement while this thread was making them
                made.free_later()
            member.tables = made
            member.partners = None
            member.registration.forget()
        return member.tables

    def read_into(self, tables: ModelTables) -> None:
        def read(of_worker: WorkerTables) -> None:
            for name, values in tables.present().items():
                of_worker.read_into(name, values)

        self._from_any(read)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        return self._from_any(lambda of_worker: of_worker.rows(table, first, end))

    def _from_any(self, read: Callable[[WorkerTables], _Result]) -> _Result:
        """Return what is read from the base of a worker, of another one if the first does not answer."""
        for member in self._members:
            tables = member.tables
            if tables is not None:
                try:
                    reading = functools.partial(read, tables)
                    return wait_while_answering(reading, {member.task: member.address}, 2 * self._timeout)
                except (self._tf.errors.OpError, ClusterError) as error:  # the next round leaves it out
                    remote_functions.clear_error()
                    logger.warning("%s has not sent its rows: %s", member.name, brief(error))
        raise self._failure or self._declare_lost("no worker sends its rows")

    # -- rounds --------------------------------------------------------------------------------------------------------

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        trained: list[TrainedChunk] = []
        for of_round in self._rounds_of(task):
            trained.append(self._train_round(of_round))
            if not is_finite(trained[-1]):
                break  # training ends
            self._words += words_of(of_round)
        return together(trained)

    def _rounds_of(self, task: ChunkTask) -> list[ChunkTask]:
        """Return a chunk cut into rounds: at most as long as all that has been trained before each, if not tiny.

        What random vectors teach is then learnt once, and not by each worker.
        """
        if self._connection.workers == 1:
            return [task]
        return list(self._halved(task, self._words))

    def _halved(self, task: ChunkTask, words_before: int) -> Iterator[ChunkTask]:
        words = words_of(task)
        if words <= max(words_before, self._round_settings.first_words):
            yield task
            return
        halves = parts_of(task, 2, self._maker.reader)
        if len(halves) == 1:
            yield task
            return
        yield from self._halved(halves[0], words_before)
        yield from self._halved(halves[1], words_before + words_of(halves[0]))

    def _train_round(self, task: ChunkTask) -> TrainedChunk:
        assert self._rounds is not None and self._model is not None
        trials = 0
        while True:
            self._take_back()
            members = self._taking_part()
            self._raise_if_none_is_left("train")
            try:
                trained, lost = self._rounds.train(task, self._model, members)
            except MembersLost as too_few:
                self._leave_out(too_few)
            except self._tf.errors.OpError as error:
                trials += 1
                if trials >= _TRIALS:
                    raise ClusterError(
                        f"workers cannot average their rows, and all of them answer: {brief(error)}"
                    ) from error
                time.sleep(_REST_SECONDS)
            else:
                if lost is not None:
                    self._leave_out(lost)
                return trained
            self._begin_anew()

    def _taking_part(self) -> list[AveragingMember]:
        return [member for member in self._members if member.tables is not None]

    def _begin_anew(self) -> None:
        """Have all workers go back to the base, which each of them has from the last round that was whole."""
        self._on_each("renew", self._taking_part(), lambda member, _: self._tables_for(member).renew())
        for member in self._taking_part():
            member.partners = None

    def _take_back(self) -> None:
        """Have workers take part again that were lost and have come back, with tables from one that was not."""
        for member in self._members:
            others = self._taking_part()
            if member.is_missed and others and self._is_back(member):
                source = others[0]
                began = time.monotonic()

                def copy(_: Any, member: AveragingMember = member, source: AveragingMember = source) -> None:
                    assert source.tables is not None
                    self._tables_for(member).copy_from(source.tables)

                try:
                    self._waiting.together("copy", [member, source], copy)
                except MembersLost as lost:
                    self._leave_out(lost)
                except self._tf.errors.OpError as error:
                    self._leave_out(MembersLost({member: brief(error)}))
                else:
                    self._welcome(member)
                    logger.info("%s has got its tables in %.1f s", member.name, time.monotonic() - began)

    def _welcome(self, member: AveragingMember) -> None:
        """Have a worker take part again that has got its tables."""
        self._connection.worker_locks.abandoned.discard(member.number)
        if member.is_missed:
            logger.warning("%s is back", member.name)
        member.is_missed = False

    def _is_back(self, member: AveragingMember) -> bool:
        """Return whether a worker that was lost can be called again."""
        return member.has_come_back() and self._can_be_called(member)

    def _can_be_called(self, member: AveragingMember) -> bool:
        is_busy = self._connection.worker_locks.is_busy(member.number)  # with a call of another training
        return not is_busy and answers(member.address) and self._waiting.can_be_called(member)

    def _on_each(
        self, kind: str, members: Sequence[AveragingMember], function: Callable[[AveragingMember, Any], Any]
    ) -> None:
        """Call a function for each of these workers, and leave those out that are lost."""
        try:
            if members:
                self._waiting.each(kind, members, function)
        except MembersLost as lost:
            self._leave_out(lost)

    def _leave_out(self, lost: MembersLost) -> None:
        """Go on without some workers, and free their tables when they answer again."""
        for member, reason in lost.reasons.items():
            if member.tables is not None:
                free_when_next_are_made(member.tables.lease)
            member.tables = None
            if not member.is_missed:
                logger.warning("%s is gone (%s); the others train without it until it is back", member.name, reason)
            member.is_missed = True

    def _raise_if_none_is_left(self, when: str) -> None:
        if self._failure is not None:
            raise self._failure
        if not self._taking_part():
            raise self._declare_lost(f"none was left to {when}")

    def _declare_lost(self, reason: str) -> ClusterError:
        self._failure = ClusterError(
            "all workers were lost, and the vectors with them; the model keeps the vectors of its last finished epoch. "
            f"Start the workers again and call train() for the epochs left. The reason: {reason}"
        )
        return self._failure

    # -- state and end -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        return {
            "words": self._words,
            "leases": [tables.lease for member in self._members if (tables := member.tables) is not None],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self._words = int(state.get("words", 0))
        take_over(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return {} if self._metrics is None else self._metrics.tasks()

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return None if self._metrics is None else self._metrics.report(raw_words)

    def _renew_leases(self) -> None:
        for member in self._members:
            tables = member.tables
            if tables is not None:
                try:
                    wait_while_answering(tables.renew_lease, {member.task: member.address}, _ANSWER_SECONDS)
                except (self._tf.errors.OpError, ClusterError) as error:  # the next round leaves it out
                    logger.debug("%s: %s", member.name, error)

    def close(self) -> None:
        self._is_closed = True
        if self._keepalive is not None:
            self._keepalive.end()
        try:
            for member in self._members:
                self._free(member)
        finally:
            deadline = time.monotonic() + _CLOSING_SECONDS
            for member in self._members:
                member.close(deadline - time.monotonic())
            self._connection.trainings.discard(self)

    def _free(self, member: AveragingMember) -> None:
        """Free a worker's tables, later if it does not answer now."""
        tables, member.tables = member.tables, None
        if tables is None:
            return
        if self._is_loading or self.has_failed:
            tables.free_later()
            return
        try:
            wait_while_answering(tables.free, {member.task: member.address}, 2 * self._timeout)
        except (self._tf.errors.OpError, ClusterError) as error:
            logger.info("the tables on %s are freed later: %s", member.name, error)
            tables.free_later()

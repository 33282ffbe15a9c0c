"""Sub-models on the workers of a cluster: each worker trains its own, and no worker waits for another one."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_parts import together
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.keepalive import Keepalive
from gensim_tfw2v.placement.interface import ModelTables
from gensim_tfw2v.placement.parameter_servers.block_report import BlockReport
from gensim_tfw2v.placement.parameter_servers.tables import take_over
from gensim_tfw2v.placement.partition.metrics import PartitionMetrics
from gensim_tfw2v.placement.partition.sampling import Partition
from gensim_tfw2v.placement.partition.shares import Shares
from gensim_tfw2v.placement.partition.submodels import SubModelPlacement
from gensim_tfw2v.placement.partition.worker_submodel import SubModelLost, WorkerSubModel
from gensim_tfw2v.placement.worker_calls.member import Member
from gensim_tfw2v.placement.worker_calls.waiting import MembersLost, Waiting
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.settings import StepSettings

logger = logging.getLogger(__name__)

_CHUNKS_IN_FLIGHT = 4  # a worker may be so many chunks ahead of the slowest one
_TURN_SECONDS = 60.0  # after which the thread of an earlier chunk must have ended with an error
_ANY_CHUNK = sys.maxsize  # no chunk waits for an earlier one
_CLOSING_SECONDS = 2.0


class PartitionPlacement(SubModelPlacement):
    """Trains sub-models on the workers of a cluster.

    Sub-models go in turn to the workers that answer at the beginning. A lost worker's sub-models are lost for this
    training: the others go on without them.

    Parameters
    ----------
    timeout : float
        Seconds after which a worker that has not finished its share is left out.
    """

    concurrency = _CHUNKS_IN_FLIGHT
    can_fail = True

    def __init__(
        self, settings: StepSettings, maker: BlockMaker, connection: Connection, timeout: float, partition: Partition
    ) -> None:
        super().__init__(maker, partition)
        self._tf = load_tensorflow()
        self._settings, self._connection, self._timeout = settings, connection, timeout
        self._members = [Member(number, connection) for number in range(connection.workers)]
        self._waiting = Waiting(connection, timeout)
        self._metrics = PartitionMetrics(connection.workers)
        self._submodels: list[WorkerSubModel] = []
        self._shares: Shares | None = None
        self._failure: ClusterError | None = None
        self._keepalive: Keepalive | None = None
        self._turns = threading.Condition()  # guards the number of the next chunk
        self._next_chunk = 0
        self._first_chunk = 0  # of the next epoch to begin; above 0 if another placement has begun it
        self._is_loading = False
        connection.trainings.add(self)

    @property
    def has_failed(self) -> bool:
        """Whether all sub-models were lost."""
        return self._failure is not None

    # -- tables --------------------------------------------------------------------------------------------------------

    def _load(self, tables: ModelTables) -> None:
        self._is_loading = True  # stays so after an interrupt, when threads may still load them
        self._shares = Shares(self._settings, self._maker, tables, self._connection.number, self._metrics)
        if not self._submodels:
            self._place_submodels()
        values = tables.present()

        def load(member: Member, _: Any) -> None:
            for submodel in self._submodels_of(member):
                submodel.load(values)

        try:
            self._waiting.each("load", self._taking_part(), load)
        except MembersLost as lost:
            self._leave_out(lost.reasons)
        self._is_loading = False
        if self._keepalive is None:
            self._keepalive = Keepalive(self._renew_leases)
        self._raise_if_none_is_left("load")

    def _place_submodels(self) -> None:
        """Give each sub-model to one of the workers that can be called."""
        ready = [member for member in self._members if self._can_be_called(member)]
        self._connection.worker_locks.abandoned -= {member.number for member in ready}
        if not ready:
            raise self._declare_lost("none was left to load")
        for draw in self._partition.draws():
            member = ready[draw.submodel % len(ready)]
            submodel = WorkerSubModel(self._connection, member, draw, 2 * self._timeout, self._metrics.add_read)
            submodel.is_lost = self._is_lost_with(submodel.number)
            self._counts[submodel.number].worker = member.task
            self._submodels.append(submodel)
        if len(ready) < len(self._members):
            names = ", ".join(member.name for member in self._members if member not in ready)
            logger.warning("%s: no answer; the other workers train all sub-models", names)

    def _can_be_called(self, member: Member) -> bool:
        is_busy = self._connection.worker_locks.is_busy(member.number)  # with a call of another training
        return not is_busy and answers(member.address) and self._waiting.can_be_called(member)

    def _left(self) -> Sequence[WorkerSubModel]:
        with self._lock:
            return [submodel for submodel in self._submodels if not submodel.is_lost]

    def _submodels_of(self, member: Member) -> list[WorkerSubModel]:
        return [submodel for submodel in self._left() if submodel.member is member]

    def _taking_part(self) -> list[Member]:
        return list(dict.fromkeys(submodel.member for submodel in self._left()))

    def _load_former(self) -> None:
        try:
            super()._load_former()
        except SubModelLost as lost:
            self._leave_out({lost.submodel.member: lost.reason})
            raise self._declare_lost(f"{lost.submodel.member.name} could not take its tables up") from lost

    def read_into(self, tables: ModelTables) -> None:
        while True:
            self._raise_if_none_is_left("send tables")
            try:
                super().read_into(tables)
            except SubModelLost as lost:
                self._leave_out({lost.submodel.member: lost.reason})
            else:
                return

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        try:
            return super().rows(table, first, end)
        except SubModelLost as lost:
            self._leave_out({lost.submodel.member: lost.reason})
            raise ClusterError(f"{lost.submodel.member.name} is gone: {lost.reason}") from lost

    # -- training ------------------------------------------------------------------------------------------------------

    def begin_epoch(self, epoch: int) -> None:
        with self._turns:
            self._next_chunk, self._first_chunk = self._first_chunk, 0

    def end_epoch(self, epoch: int) -> None:
        with self._turns:
            self._next_chunk = 0

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        shares = self._shares
        assert shares is not None
        reports: dict[WorkerSubModel, BlockReport] = {}

        def train(member: Member, calls: Any) -> None:
            if member.number in self._connection.worker_locks.abandoned:  # since an earlier chunk
                raise ClusterError(f"{member.name} hangs")
            for submodel in self._submodels_of(member):
                reports[submodel] = shares.train(submodel, task, calls)

        with self._turn_of(task.entropy[-1]):
            self._raise_if_none_is_left("train")
            calls = self._waiting.begin(self._taking_part(), train)
        try:
            self._waiting.results("train", calls)
        except MembersLost as lost:
            self._leave_out(lost.reasons)
        self._raise_if_none_is_left("train")
        trained = {submodel.number: reports[submodel].trained() for submodel in self._submodels if submodel in reports}
        self._count(trained)
        return together(list(trained.values()))

    @contextlib.contextmanager
    def _turn_of(self, chunk: int) -> Iterator[None]:
        """Wait until the chunks before this one have gone to the workers, so that all train them in one order."""
        with self._turns:
            self._turns.wait_for(lambda: chunk <= self._next_chunk, _TURN_SECONDS)
            try:
                yield
            finally:
                self._next_chunk = max(self._next_chunk, chunk + 1)
                self._turns.notify_all()

    def _leave_out(self, reasons: Mapping[Member, str]) -> None:
        """Go on without the sub-models of some workers, and free their tables when they answer again."""
        with self._lock:
            lost = [submodel for submodel in self._submodels if submodel.member in reasons and not submodel.is_lost]
            for submodel in lost:
                submodel.is_lost = True
                counts = self._counts[submodel.number]
                counts.lost += counts.words
                submodel.free_later()
        for member in dict.fromkeys(submodel.member for submodel in lost):
            numbers = ", ".join(str(submodel.number) for submodel in lost if submodel.member is member)
            logger.warning("%s is gone (%s), and sub-model %s with it", member.name, reasons[member], numbers)

    def _raise_if_none_is_left(self, when: str) -> None:
        if self._failure is not None:
            raise self._failure
        if not self._left():
            raise self._declare_lost(f"none was left to {when}")

    def _declare_lost(self, reason: str) -> ClusterError:
        self._failure = ClusterError(
            "all workers were lost, and the sub-models with them; the model keeps the vectors of its last finished "
            f"epoch. Start the workers again and call train() for the epochs left. The reason: {reason}"
        )
        return self._failure

    # -- state and end -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        leases = [submodel.lease for submodel in self._left() if submodel.lease is not None]
        return {**super().state(), "leases": leases, "next_chunk": self._next_chunk}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._first_chunk = int(state.get("next_chunk", _ANY_CHUNK))
        take_over(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return self._metrics.tasks()

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return {**self._metrics.report(raw_words), **(super().report(raw_words) or {})}

    def _renew_leases(self) -> None:
        for submodel in self._left():
            try:
                submodel.renew_lease()
            except (self._tf.errors.OpError, ClusterError) as error:  # the next share finds it lost
                logger.debug("%s: %s", submodel.member.name, error)

    def close(self) -> None:
        if self._keepalive is not None:
            self._keepalive.end()
        try:
            for submodel in self._left():
                self._free(submodel)
        finally:
            deadline = time.monotonic() + _CLOSING_SECONDS
            for member in self._members:
                member.close(deadline - time.monotonic())
            self._connection.trainings.discard(self)

    def _free(self, submodel: WorkerSubModel) -> None:
        """Free a sub-model's tables, later if its worker does not answer now."""
        if self._is_loading or self.has_failed:
            submodel.free_later()
            return
        try:
            submodel.free()
        except (self._tf.errors.OpError, ClusterError) as error:
            logger.info("the tables on %s are freed later: %s", submodel.member.name, error)
            submodel.free_later()

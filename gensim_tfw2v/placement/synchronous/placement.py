"""Tables on parameter servers, steps on workers, in rounds: a round's changes are added when its parts are trained."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_parts import parts_of, together
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.placement.calls.dispatch import Dispatcher
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.calls.server_placement import ServerPlacement
from gensim_tfw2v.placement.calls.server_training import ServerTraining
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.request import ClusterRequest
from gensim_tfw2v.placement.server_rows.row_program import RowProgram
from gensim_tfw2v.placement.server_rows.shape import RowTraining
from gensim_tfw2v.placement.synchronous.round_clock import RoundClock
from gensim_tfw2v.placement.synchronous.round_size import RoundSize
from gensim_tfw2v.steps.settings import StepSettings

if TYPE_CHECKING:
    from gensim_tfw2v.placement.calls.work import Job
    from gensim_tfw2v.placement.server_rows.slots import Slots


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a round that a worker trains."""

    job: Job
    slot: int


class RoundPlacement(ServerPlacement):
    """Trains a chunk as a round: cuts it into parts, and adds their changes in the parts' order.

    All parts of a round start from the same version of the tables. Their changes wait in slots on the servers. With
    backup workers, a round ends without the last parts. These are late: their changes are added at the end of the round
    in which they arrive.

    Parameters
    ----------
    rounds : RoundSize
        The size of a round after the ramp-up. The first rounds of a training have fewer parts.
    row_type : str
        TensorFlow's name of the number format in which rows and their changes are sent.
    share_present : callable
        Returns the share of the workers that is there, or always 1 if fewer of them are to train as many parts.
    """

    _ramp_up: RampUp

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        request: ClusterRequest,
        rounds: RoundSize,
        row_type: str,
        share_present: Callable[[], float],
    ) -> None:
        connection, options, parts = request.connection, request.options, rounds.parts
        self._maker, self._parts, self._backup_workers = maker, parts, options.of_design["backup_workers"]
        # As many chunks as parts may wait for a late part; one more is the present round.
        self.concurrency = 1 + self._backup_workers
        how = RowTraining(row_type=row_type, steps_on=request.device)
        self._program = RowProgram(connection, settings, how, slots=parts)
        dispatcher, changes = Dispatcher(connection, options.timeout), request.has_changing_workers
        training = ServerTraining(dispatcher, settings, maker, self._program, has_changing_workers=changes)
        total_parts = parts * rounds.in_training(request.size)
        super().__init__(training, RampUp(parts, total_parts, share_present=share_present))
        self._clock = RoundClock(connection.workers)
        self._turn = threading.Lock()  # held during a round; guards the next
        self._running: list[_Part] = []  # parts that are not in the tables yet

    def load(self, tables: ModelTables) -> None:
        super().load(tables)
        self._slots.prepare(self._program.shape, self._program.handles)

    @property
    def _slots(self) -> Slots:
        assert self._program.slots is not None  # tables are loaded
        return self._program.slots

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        with self._turn:
            parts = self._train_round(task)
        jobs = [part.job for part in parts]
        if not set(parts).isdisjoint(self._running):
            self.training.dispatcher.wait(jobs)
            with self._turn:  # a round that ran meanwhile may have added them
                self._add_finished()
        return together([job.result.result().report.trained() for job in jobs])

    def _train_round(self, task: ChunkTask) -> list[_Part]:
        """Return the parts of a round at its end."""
        side_by_side = self._ramp_up.limit()
        self._clock.begin(task.content)
        used = {part.slot for part in self._running}
        free = [slot for slot in range(self._parts) if slot not in used]
        tasks = parts_of(task, side_by_side - len(self._running), self._maker.reader)
        in_flight = len(tasks) + len(self._running)
        start, request = self.training.dispatcher.start, self.training.request
        parts = [_Part(start(request(own, in_flight), slot), slot) for own, slot in zip(tasks, free, strict=False)]
        self._running += parts
        # While few parts are trained side by side, idle workers stand by.
        late = min(self._backup_workers, side_by_side - 1)
        self.training.dispatcher.wait([part.job for part in self._running], late)
        self._clock.end_waiting([part.job.result for part in self._running])
        self._add_finished()
        self._ramp_up.count(self._parts)  # a round counts as this many blocks, however it is cut
        self._clock.end()
        return parts

    def _add_finished(self) -> None:
        """Add to the tables the changes of all parts that have arrived."""
        finished = [part for part in self._running if part.job.result.done()]
        # A part that has failed raises its error where its chunk waits.
        slots = [part.slot for part in finished if part.job.result.exception() is None]
        if slots:
            wanted = np.zeros(self._parts, bool)
            wanted[slots] = True
            self.training.call_servers_alone(lambda: self._slots.add(wanted))
        self._running = [part for part in self._running if part not in finished]

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        waits = self._clock.tasks()
        return {task: {**found, **waits.get(task, {})} for task, found in super().task_metrics().items()}

    def report(self, raw_words: int) -> dict[str, Any] | None:
        found = super().report(raw_words)
        return None if found is None else {**found, "tasks": self.task_metrics(), "rounds": self._clock.report()}

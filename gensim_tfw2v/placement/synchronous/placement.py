"""Tables on parameter servers, steps on workers, in rounds: a round's changes are added when its parts are trained."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_parts import parts_of, together
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.downpour.placement import ClusterPlacement
from gensim_tfw2v.placement.downpour.ramp_up import RampUp
from gensim_tfw2v.placement.synchronous.round_clock import RoundClock
from gensim_tfw2v.steps.settings import StepSettings

if TYPE_CHECKING:
    from gensim_tfw2v.placement.calls.work import Job


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a round that a worker trains."""

    job: Job
    slot: int


class RoundPlacement(ClusterPlacement):
    """Trains a chunk as a round: cuts it into a part for each worker, and adds their changes in the parts' order.

    All parts of a round start from the same version of the tables. Their changes wait in slots on the servers. With
    backup workers, a round ends without the last parts. These are late: their changes are added at the end of the round
    in which they come.

    Parameters
    ----------
    workers : int
        Parts of a round, in the end: the first rounds of a training have fewer.
    backup_workers : int
        Parts that may be late at a time, fewer than `workers`.
    total_rounds : float
        Rounds of the whole training, about; 0 if not known.
    """

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        connection: Connection,
        workers: int,
        backup_workers: int,
        timeout: float,
        total_rounds: float = 0.0,
        row_type: str = "float32",
    ) -> None:
        # As many chunks as parts may wait for a late part; one more is the present round.
        concurrency = 1 + backup_workers
        ramp_up = RampUp(workers, workers * total_rounds)
        super().__init__(settings, maker, connection, concurrency, timeout, ramp_up, row_type, slots=workers)
        self._workers, self._backup_workers = workers, backup_workers
        self._clock = RoundClock(connection.workers)
        self._turn = threading.Lock()  # held during a round; guards the next
        self._running: list[_Part] = []  # parts that are not in the tables yet

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        with self._turn:
            parts = self._train_round(task)
        jobs = [part.job for part in parts]
        if not set(parts).isdisjoint(self._running):
            self._dispatcher.wait(jobs)
            with self._turn:  # a round that ran meanwhile may have added them
                self._add_finished()
        return together([job.result.result().report.trained() for job in jobs])

    def _train_round(self, task: ChunkTask) -> list[_Part]:
        """Return the parts of a round at its end."""
        side_by_side = self._ramp_up.limit()
        self._clock.begin(task.content)
        used = {part.slot for part in self._running}
        free = [slot for slot in range(self._workers) if slot not in used]
        tasks = parts_of(task, side_by_side - len(self._running), self._maker.reader)
        in_flight = len(tasks) + len(self._running)
        parts = [
            _Part(self._dispatcher.start(self._request(own, in_flight), slot), slot)
            for own, slot in zip(tasks, free, strict=False)
        ]
        self._running += parts
        # While few parts are trained side by side, idle workers stand by.
        late = min(self._backup_workers, side_by_side - 1)
        self._dispatcher.wait([part.job for part in self._running], late)
        self._clock.end_waiting([part.job.result for part in self._running])
        self._add_finished()
        self._ramp_up.count(self._workers)  # a round has as many words as so many blocks, in whichever parts
        self._clock.end()
        return parts

    def _add_finished(self) -> None:
        """Add the changes of all parts that have come to the tables."""
        finished = [part for part in self._running if part.job.result.done()]
        # A part that has failed raises its error where its chunk waits.
        slots = [part.slot for part in finished if part.job.result.exception() is None]
        if slots:
            self._add_slots(slots)
        self._running = [part for part in self._running if part not in finished]

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        waits = self._clock.tasks()
        return {task: {**found, **waits.get(task, {})} for task, found in super().task_metrics().items()}

    def report(self, raw_words: int) -> dict[str, Any] | None:
        found = super().report(raw_words)
        return None if found is None else {**found, "tasks": self.task_metrics(), "rounds": self._clock.report()}

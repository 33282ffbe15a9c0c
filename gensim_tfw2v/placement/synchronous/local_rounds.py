"""Rounds in one process: threads train the parts of a round from the same tables, whose changes are summed in order.

Neither the parts nor the order of the sums depend on the number of threads, so one seed gives the same vectors with any
number of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_parts import parts_of, together
from gensim_tfw2v.blocks.chunk_task import NOTHING_TRAINED, BatchMetrics, ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.task import METRIC_NAMES
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.local.calls import Calls
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.state import PlacementState
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.settings import StepSettings


@dataclass(frozen=True)
class _Part:
    """The result of a part, and its changes until they are added to the tables: `RowChanges`, None if it has none."""

    trained: TrainedChunk
    changes: Any


class LocalRounds(LocalPlacement):
    """Trains a chunk as a round: cuts it into parts, trains these side by side, and adds their changes in their order.

    Parameters
    ----------
    calls : Calls
        How many parts are trained at a time; no vector depends on it.
    parts : int
        Parts of a round after the ramp-up. The first rounds of a training have fewer.
    total_rounds : float
        Approximate number of rounds of the whole training; 0 if not known.
    """

    def __init__(
        self, settings: StepSettings, maker: BlockMaker, calls: Calls, parts: int, total_rounds: float = 0.0
    ) -> None:
        super().__init__(settings, maker, calls)
        from gensim_tfw2v.placement.server_rows import staging
        from gensim_tfw2v.placement.synchronous import part_graphs

        # The usual threads train parts: one waits for Python's lock, or makes its block, while the others train.
        self._threads = ThreadPoolExecutor(min(self.concurrency, parts), thread_name_prefix="tfw2v-part")
        self.concurrency = 1  # one round after the other
        self._parts, self._ramp_up = parts, RampUp(parts, parts * total_rounds)
        self._staging, self._graphs = staging, part_graphs
        self._model: WorkerModel | None = None

    def load(self, tables: ModelTables) -> None:
        super().load(tables)
        self._model = WorkerModel.of(self._settings, self._maker, tables)

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        tasks = parts_of(task, self._ramp_up.limit(), self._maker.reader)
        parts = list(self._threads.map(lambda own: self._train_part(own, len(tasks)), tasks))
        self._add([part.changes for part in parts if part.changes is not None])
        self._ramp_up.count(self._parts)  # a round counts as this many blocks, however it is cut
        return together([part.trained for part in parts])

    def _train_part(self, task: ChunkTask, in_flight: int) -> _Part:
        """Train a part of a round that has `in_flight` parts, on a copy of its rows."""
        assert self._model is not None
        began = time.perf_counter()
        assignment = Assignment(0, 1, in_flight, NOT_SHARED, task)
        block = self._staging.stage(self._model, assignment, np.zeros(len(METRIC_NAMES)))
        made = time.perf_counter()
        if not block.basics.tokens:
            return _Part(NOTHING_TRAINED, None)
        *metrics, most_moved, changes = self._call(self._graphs.part_function(self._objective), block)
        word, distance = most_moved.numpy().tolist()
        trained = TrainedChunk(
            tokens=int(block.basics.tokens),
            batches=BatchMetrics(*(np.asarray(metric.numpy()) for metric in metrics)),
            measured=block.basics.rates.measured,
            pairs=block.basics.pairs,
            seconds_preparing=made - began,
            seconds_stepping=time.perf_counter() - made,
            most_moved=None if word < 0 else (int(word), distance),
        )
        return _Part(trained, self._graphs.RowChanges(block.extra.needed, changes))

    def _add(self, changes: Sequence[Any]) -> None:
        """Add the parts' changes to the tables, in the parts' order."""
        if not changes:
            return
        self._call(self._graphs.sum_function(self._objective, len(changes)), changes).numpy()

    def state(self) -> dict[str, Any]:
        return PlacementState(blocks=self._ramp_up.done).to_json()

    def restore(self, state: Mapping[str, Any]) -> None:
        self._ramp_up.done = PlacementState.from_json(state).blocks or 0

    def close(self) -> None:
        self._threads.shutdown()
        super().close()

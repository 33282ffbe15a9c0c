"""Sub-models in this process: each chunk is trained for one sub-model after the other, on tables of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_parts import together
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, ChunkTask, PreparedBlock, TrainedChunk, sentences_of
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.local.calls import Calls, calls_of_one_core
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.partition.draws import Partition, trained_words
from gensim_tfw2v.placement.partition.merged_tables import TRAINED
from gensim_tfw2v.placement.partition.submodels import SubModelPlacement
from gensim_tfw2v.steps.settings import StepSettings


class LocalSubModel(LocalPlacement):
    """The tables of one sub-model, and which words it has trained."""

    def __init__(self, number: int, settings: StepSettings, maker: BlockMaker, calls: Calls) -> None:
        super().__init__(settings, maker, calls)
        self.number = number
        self._is_trained: BoolArray = np.zeros(0, bool)

    def load(self, tables: ModelTables) -> None:
        super().load(tables)
        if not self._is_trained.size:
            self._is_trained = np.zeros(len(tables.inputs), bool)

    def load_table(self, name: str, values: Float32Array) -> None:
        if name == TRAINED:
            self._is_trained = values[:, 0] > 0
        else:
            super().load_table(name, values)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        if table == TRAINED:
            return self._is_trained[first:end, None].astype(np.float32)
        return super().rows(table, first, end)

    def train_prepared(self, prepared: PreparedBlock) -> BatchMetrics:
        self._is_trained[trained_words(prepared.block)] = True
        return super().train_prepared(prepared)

    def trained(self) -> BoolArray:
        """Return for each word whether its input vector has been trained."""
        return np.array(self._is_trained)


class LocalPartitionPlacement(SubModelPlacement):
    """Trains sub-models in this process on `workers` cores, or on all cores if there are fewer."""

    can_fail = has_failed = False

    def __init__(self, settings: StepSettings, maker: BlockMaker, workers: int, partition: Partition) -> None:
        super().__init__(maker, partition, settings.have_states)
        self._submodels: list[LocalSubModel] = []
        self._settings, self._calls = settings, calls_of_one_core(workers)
        self.concurrency = self._make_submodel(0).concurrency

    def _make_submodel(self, number: int) -> LocalSubModel:
        return LocalSubModel(number, self._settings, self._maker, self._calls)

    def _load(self, tables: ModelTables) -> None:
        if not self._submodels:
            # Some may have been lost with a worker of the cluster on which training began.
            left = (number for number in range(self._partition.submodels) if not self._is_lost_with(number))
            self._submodels = list(map(self._make_submodel, left))
        for submodel in self._submodels:
            submodel.load(tables)

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        sentences = sentences_of(self._maker, task)
        submodels, draws = self._submodels, self._partition.draws()
        trained: dict[int, TrainedChunk] = {}
        # Threads begin with different sub-models, so that they seldom change the same rows.
        for place in range(len(submodels)):
            submodel = submodels[(task.entropy[-1] + place) % len(submodels)]
            trained[submodel.number] = submodel.train_chunk(draws[submodel.number].task_of(task, sentences))
        self._count(trained)
        return together([trained[submodel.number] for submodel in submodels])

    def _left(self) -> Sequence[LocalSubModel]:
        return self._submodels

    def close(self) -> None:
        for submodel in self._submodels:
            submodel.close()

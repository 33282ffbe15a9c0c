"""Sub-models in this process: each chunk is trained for one sub-model after the other, on tables of its own."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from gensim_tfw2v.arrays import BoolArray
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_parts import together
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, ChunkTask, PreparedBlock, TrainedChunk, sentences_of
from gensim_tfw2v.placement.interface import ModelTables
from gensim_tfw2v.placement.local import LocalPlacement
from gensim_tfw2v.placement.partition.sampling import Partition
from gensim_tfw2v.placement.partition.submodels import SubModelCounts, SubModelPlacement
from gensim_tfw2v.placement.partition.trained_words import trained_words
from gensim_tfw2v.steps.settings import StepSettings


class LocalSubModel(LocalPlacement):
    """The tables of one sub-model, and which words it has trained."""

    _is_trained: BoolArray = np.zeros(0, bool)

    def load(self, tables: ModelTables) -> None:
        super().load(tables)
        if not self._is_trained.size:
            self._is_trained = np.zeros(len(tables.inputs), bool)

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
        super().__init__(maker, partition)
        self._submodels = [LocalSubModel(settings, maker, workers) for _ in range(partition.submodels)]
        self._draws = partition.draws()
        self.concurrency = self._submodels[0].concurrency
        self._of_submodels = [SubModelCounts(worker=None) for _ in self._submodels]
        self._lock = threading.Lock()  # guards the counts

    def _load(self, tables: ModelTables) -> None:
        for submodel in self._submodels:
            submodel.load(tables)

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        sentences = sentences_of(self._maker, task)
        count = len(self._submodels)
        trained: dict[int, TrainedChunk] = {}
        # Threads begin with different sub-models, so that they seldom change the same rows.
        for place in range(count):
            number = (task.entropy[-1] + place) % count
            share = self._draws[number].task_of(task, sentences)
            trained[number] = self._submodels[number].train_chunk(share)
        with self._lock:
            for number, of_submodel in trained.items():
                counts = self._of_submodels[number]
                counts.words += of_submodel.tokens
                counts.seconds += of_submodel.seconds_preparing + of_submodel.seconds_stepping
        return together([trained[number] for number in range(count)])

    def _left(self) -> Sequence[LocalSubModel]:
        return self._submodels

    def _counts(self) -> Sequence[SubModelCounts]:
        with self._lock:
            return list(self._of_submodels)

    def close(self) -> None:
        for submodel in self._submodels:
            submodel.close()

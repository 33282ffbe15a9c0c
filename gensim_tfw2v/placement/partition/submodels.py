"""What a placement of sub-models does wherever they train: one set of tables goes in, and one comes out."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.interface import ModelTables, Placement
from gensim_tfw2v.placement.partition.merged_tables import SubModelTables, merge_tables
from gensim_tfw2v.placement.partition.sampling import Partition


@dataclass
class SubModelCounts:
    """What one sub-model has trained."""

    worker: str | None  # the task that has it; None: this process
    words: int = 0  # that subsampling kept
    seconds: float = 0.0
    lost: int = 0  # words of its share that the merged vectors lack, about


class SubModelPlacement(Placement):
    """Trains sub-models, all from the tables that are loaded, and merges them whenever tables are read.

    Tables that are loaded as they were read leave the sub-models as they are: a look at the model between two epochs
    changes nothing.
    """

    epochs_may_overlap = False  # sub-models that are read at the end of an epoch have trained no later one

    def __init__(self, maker: BlockMaker, partition: Partition) -> None:
        self._maker, self._partition = maker, partition
        self._merged: str | None = None  # the digest of the tables that were read last
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._lock_factors = np.ones(1, np.float32)

    @abstractmethod
    def _load(self, tables: ModelTables) -> None:
        """Set the tables of all sub-models to these values."""

    @abstractmethod
    def _left(self) -> Sequence[SubModelTables]:
        """Return the sub-models that are not lost."""

    @abstractmethod
    def _counts(self) -> Sequence[SubModelCounts]:
        """Return the counts of all sub-models."""

    def load(self, tables: ModelTables) -> None:
        if self._merged == _digest(tables):
            return
        self._shapes = {name: values.shape for name, values in tables.present().items()}
        self._lock_factors = np.array(tables.lock_factors, np.float32)
        self._load(tables)

    def read_into(self, tables: ModelTables) -> None:
        merge_tables(self._left(), tables, self._partition.merge, self._maker.tree)
        self._merged = _digest(tables)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        found = {name: np.empty(shape, np.float32) for name, shape in self._shapes.items()}
        self.read_into(
            ModelTables(found["inputs"], found.get("outputs"), found.get("nodes"), lock_factors=self._lock_factors)
        )
        return found[table][first:end]

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return {"submodels": [asdict(counts) for counts in self._counts()]}

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return {}


def _digest(tables: ModelTables) -> str:
    """Return what tells tables from others."""
    found = hashlib.sha256()
    for values in (*tables.present().values(), tables.lock_factors):
        found.update(np.ascontiguousarray(values).view(np.uint8).data)
    return found.hexdigest()

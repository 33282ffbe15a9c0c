"""The common part of placements of sub-models, wherever they train: one set of tables goes in, and one comes out."""

from __future__ import annotations

import hashlib
import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import TrainedChunk
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.partition.draws import Partition
from gensim_tfw2v.placement.partition.merged_tables import TRAINED, SubModelTables, merge_tables
from gensim_tfw2v.placement.row_states import widened


@dataclass
class SubModelCounts:
    """Counts of what one sub-model has trained."""

    worker: str | None = None  # the task that has it; None: this process
    words: int = 0  # words that subsampling kept
    seconds: float = 0.0
    lost: int = 0  # about how many words of its share the merged vectors lack


class SubModelPlacement(Placement):
    """Trains sub-models, all from the tables that are loaded, and merges them whenever tables are read.

    If the tables to load equal those that were read last, the sub-models stay as they are: reading the model between
    two epochs changes nothing. A checkpoint has the tables of all sub-models beside the model's.

    Parameters
    ----------
    have_states : bool
        Whether rows of sub-models have the optimizer's state behind their vector. Merging leaves states out.
    """

    reading_takes_long = True  # it merges the sub-models
    epochs_may_overlap = False  # sub-models that are read at the end of an epoch have trained no later one
    adds_states = True

    def __init__(self, maker: BlockMaker, partition: Partition, have_states: bool) -> None:
        self._maker, self._partition, self._have_states = maker, partition, have_states
        self._merged: str | None = None  # the digest of the tables that were read last
        self._rows: tuple[Any, ModelTables] | None = None  # merged tables whose rows are read, and their moment
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._lock_factors = np.ones(1, np.float32)
        self._lock = threading.RLock()  # guards the next one, and what is lost
        self._counts = [SubModelCounts() for _ in range(partition.submodels)]
        self._former: Mapping[str, Any] = {}  # the state of a placement that no longer exists
        self._read_former: Callable[[str], Float32Array] | None = None  # reads its own tables

    @abstractmethod
    def _load(self, tables: ModelTables) -> None:
        """Set the tables of all sub-models to these values."""

    @abstractmethod
    def _left(self) -> Sequence[SubModelTables]: ...  # those that are not lost

    def load(self, tables: ModelTables) -> None:
        if self._merged == _digest(tables):
            return
        self._shapes = {name: values.shape for name, values in tables.present().items()}
        self._lock_factors = np.array(tables.lock_factors, np.float32)
        self._rows = None
        self._load(widened(tables) if self._have_states else tables)
        self._load_former()

    def _load_former(self) -> None:
        """Load the tables that the sub-models had in a placement that no longer exists."""
        read, self._read_former = self._read_former, None
        if read is not None:
            for submodel in self._left():
                for name in (*self._shapes, TRAINED):
                    submodel.load_table(name, read(_own_name(submodel.number, name)))

    def read_into(self, tables: ModelTables) -> None:
        if self._rows is not None and self._rows[0] == self._moment():
            for name, values in self._rows[1].present().items():
                np.copyto(getattr(tables, name), values)
        else:
            merge_tables(self._left(), tables, self._partition.merge, self._maker.tree)
        for states in tables.states.values():
            states.fill(0.0)  # those of sub-models are not merged
        self._merged = _digest(tables)

    def _moment(self) -> list[tuple[int, int]]:
        """Return a value that changes whenever sub-models are trained or lost."""
        return [(submodel.number, self._counts[submodel.number].words) for submodel in self._left()]

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        if table not in self._shapes:
            number, name = _parts(table)
            submodel = next((submodel for submodel in self._left() if submodel.number == number), None)
            if submodel is None:  # it was lost since `own_tables` was called
                raise ClusterError(f"sub-model {number} is lost")
            return submodel.rows(name, first, end)
        moment = self._moment()
        if self._rows is None or self._rows[0] != moment:
            found = {name: np.empty(shape, np.float32) for name, shape in self._shapes.items()}
            tables = ModelTables(found["inputs"], found.get("outputs"), found.get("nodes"), self._lock_factors)
            self.read_into(tables)
            self._rows = moment, tables
        return self._rows[1].present()[table][first:end]

    def own_tables(self) -> Mapping[str, tuple[int, ...]]:
        shapes: dict[str, tuple[int, ...]] = {
            name: (rows, columns + self._have_states) for name, (rows, columns) in self._shapes.items()
        }
        shapes[TRAINED] = (self._shapes["inputs"][0], 1)
        return {_own_name(submodel.number, name): shape for submodel in self._left() for name, shape in shapes.items()}

    def state(self) -> dict[str, Any]:
        return {
            "rate": self._partition.rate,
            "counts": self._report_of_submodels(),
            "left": [submodel.number for submodel in self._left()],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self._former = state
        if state.get("counts"):
            self._counts = [SubModelCounts(**{**counts, "worker": None}) for counts in state["counts"]]
            # The former placement may have chosen their number by its number of workers.
            self._partition = replace(self._partition, submodels=len(self._counts), rate=state["rate"])

    def restore_tables(self, read: Callable[[str], Float32Array]) -> None:
        self._read_former = read

    def _is_lost_with(self, submodel: int) -> bool:
        """Return whether a sub-model was lost with a worker of the placement whose tables are taken over."""
        return self._read_former is not None and submodel not in self._former.get("left", (submodel,))

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return {"submodels": self._report_of_submodels()}

    def _report_of_submodels(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(counts) for counts in self._counts]

    def _count(self, trained: Mapping[int, TrainedChunk]) -> None:
        """Count a chunk; a lost sub-model's share is taken to be as large as the others'."""
        mean = sum(of_submodel.tokens for of_submodel in trained.values()) // max(1, len(trained))
        with self._lock:
            left = {submodel.number for submodel in self._left()}
            for number, counts in enumerate(self._counts):
                own = trained.get(number)
                if own is not None:
                    counts.words += own.tokens
                    counts.seconds += own.seconds_preparing + own.seconds_stepping
                if number not in left:
                    counts.lost += mean if own is None else own.tokens


def _own_name(submodel: int, table: str) -> str:
    return f"submodel{submodel}.{table}"


def _parts(name: str) -> tuple[int, str]:
    """Return the sub-model and the table of a name that `_own_name` made."""
    submodel, table = name.removeprefix("submodel").split(".")
    return int(submodel), table


def _digest(tables: ModelTables) -> str:
    found = hashlib.sha256()
    for values in (*tables.present().values(), tables.lock_factors):
        found.update(np.ascontiguousarray(values).view(np.uint8).data)
    return found.hexdigest()

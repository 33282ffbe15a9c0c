"""What a model and a training rely on, wherever tables live: matrices, and the placement that trains them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.positions import BEGINNING, PassPosition

TABLES = ("inputs", "outputs", "nodes")

Contents = Callable[[str, bool], Iterable[tuple[int, Float32Array]]]
"""Takes the name of a table, and whether rows end with the optimizer's state.

It returns the table's pieces: the number of the first row, and the rows.
"""


class RemoteStore(ABC):
    """Keeps a model's matrices on tasks of a cluster, also between trainings."""

    first_state: float = 0.0  # the optimizer's state of initial rows, if rows have one

    @property
    @abstractmethod
    def is_untrained(self) -> bool:
        """Whether the next tables that are made have initial rows."""

    @abstractmethod
    def begin_with(self, contents: Contents) -> None:
        """Drop the present tables; the next training makes tables that hold these contents."""

    @abstractmethod
    def check_states(self, have_states: bool) -> None:
        """Raise ValueError if rows of the present tables lack the optimizer's state, or must not have it."""

    @abstractmethod
    def tables_on(self, connection: Any, have_states: bool) -> Any:
        """Return the `RemoteTables` on the tasks of this connection, which are made if there are none."""

    @abstractmethod
    def rows(self, name: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of the table of this name, without states."""

    @abstractmethod
    def forget(self) -> None:
        """Drop tables that are lost; the next training makes new ones."""

    @abstractmethod
    def free(self) -> None:
        """Free the tasks' memory; the next training makes new tables."""


class RemoteMatrix(ABC):
    """A matrix that is not in this process. It returns single rows and slices of rows, and refuses to become an array.

    Attributes
    ----------
    store : RemoteStore
        Has all matrices of the model.
    """

    store: RemoteStore
    shape: tuple[int, int]

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def __getitem__(self, rows: Any) -> Float32Array:
        """Return a row, or the rows of a slice without step."""

    @abstractmethod
    def refuse(self) -> NoReturn:
        """Raise the RuntimeError that says how else to read the vectors."""


def check_is_here(matrix: Any) -> None:
    """Raise RuntimeError, as pickling would, if a matrix that is needed as a whole is not in this process."""
    if isinstance(matrix, RemoteMatrix):
        matrix.refuse()


@dataclass
class ModelTables:
    """The model's matrices, float32 [rows, vector size]: arrays, or a `RemoteMatrix` each; absent ones are None.

    In place of an array may be what has a shape and slices that are read by `np.asarray`, and assigned to.
    """

    inputs: Float32Array
    outputs: Float32Array | None  # one row a word, for negative sampling
    nodes: Float32Array | None  # one row an inner node of the Huffman tree
    lock_factors: Float32Array  # input row r learns at rate lock_factors[r % size]
    states: dict[str, Float32Array] = field(default_factory=dict)
    """The optimizer's state of each row, by table; none of a table where no optimizer has states."""
    in_place: dict[str, Float32Array] = field(default_factory=dict)
    """The memory of tables that are trained where they are, by name: rows with their states as the last column."""

    def present(self) -> dict[str, Float32Array]:
        """Return the tables that the model has, by name."""
        return {name: values for name in TABLES if (values := getattr(self, name)) is not None}

    def in_process(self) -> dict[str, Float32Array]:
        """Return the tables that the model has in this process, by name."""
        return {name: values for name, values in self.present().items() if not isinstance(values, RemoteMatrix)}

    def copied(self) -> dict[str, Float32Array]:
        """Return the tables that a placement copies from this process and back to it, by name."""
        return {name: values for name, values in self.in_process().items() if name not in self.in_place}

    def first_rows(self, rows: int) -> ModelTables:
        """Return views of the first rows of all tables; a matrix on the servers has no others."""
        found = self._changed(lambda _, values: values if len(values) == rows else values[:rows])
        return replace(found, in_place={name: whole for name, whole in self.in_place.items() if len(whole) == rows})

    def empty(self) -> ModelTables:
        """Return tables of the same shapes, to be written to; those on the servers or in place are the same ones."""
        kept = self.in_place.keys() | self.present().keys() - self.in_process().keys()
        return self._changed(lambda name, values: values if name in kept else np.empty(values.shape, np.float32))

    def _changed(self, change: Callable[[str, Any], Any]) -> ModelTables:
        """Return the tables with other values, by name, for every table and its states."""
        tables = {name: change(name, values) for name, values in self.present().items()}
        states = {name: change(name, values) for name, values in self.states.items()}
        return replace(self, **tables, states=states)

    def copy_to(self, other: ModelTables) -> None:
        """Write the values that are in this process into other tables of the same shapes."""
        for name, values in self.in_process().items():
            getattr(other, name)[:] = values
        for name, values in self.states.items():
            other.states[name][:] = values

    @property
    def store(self) -> RemoteStore | None:
        """The store that has the tables if they are not in this process."""
        return self.inputs.store if isinstance(self.inputs, RemoteMatrix) else None


class Placement(ABC):
    """Tables in one place, steps in the same or another.

    `train_chunk` is called from `concurrency` threads at once. Meanwhile `task_metrics`, `report`, `state`, `rows` and
    `read_into` may be called; the last two then read rows at slightly different times. The other methods are called
    only while no chunk is being trained.
    """

    concurrency: int
    can_fail: bool
    """The tables may be lost while this process lives."""
    reading_takes_long: bool = False
    """Reading all tables takes work during which nothing is trained, so that not every epoch ends with a copy."""
    epochs_may_overlap: bool = True
    """Workers without a chunk of an epoch may begin the next one while others finish it."""
    adds_states: bool = False
    """It puts the optimizer's states behind rows itself, and not `row_states`."""
    trains_in_place: bool = False
    """It trains the tables that `ModelTables.in_place` has in their own memory."""

    # -- what every placement does -------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def has_failed(self) -> bool:
        """Whether the tables have been lost."""

    @abstractmethod
    def load(self, tables: ModelTables) -> None:
        """Set the tables to these values."""

    @abstractmethod
    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        """Make the chunk's block and train its batches."""

    @abstractmethod
    def read_into(self, tables: ModelTables) -> None:
        """Write the current values into these arrays."""

    @abstractmethod
    def rows(self, table: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of the table of this name, as `TABLES` has them."""

    @abstractmethod
    def close(self) -> None:
        """Free the memory."""

    # -- what a placement may do besides -------------------------------------------------------------------------------

    def begin_epoch(self, epoch: int, begin: PassPosition = BEGINNING) -> None:
        """Prepare for the chunks of an epoch, which are trained after this call. By default nothing is prepared.

        Chunks are taken in this order: those that the position lists as missing, and then those after the position.
        """
        return

    def end_epoch(self, epoch: int) -> None:
        """Finish an epoch whose chunks are all trained; the tables are read after this call. Nothing by default."""
        return

    def own_tables(self) -> Mapping[str, tuple[int, ...]]:
        """Return the shapes, by name, of tables without which training cannot resume; `rows` reads them as well.

        They hold what was learnt since the model's tables were loaded. By default there are none: the placement learns
        in the model's tables.
        """
        return {}

    def row_states(self) -> Mapping[str, tuple[int, ...]]:
        """Return the shapes, by name, of what the optimizer keeps for rows of the model's tables; `rows` reads it.

        Training needs it beside the tables to resume. By default there is nothing.
        """
        return {}

    def state(self) -> dict[str, Any]:
        """Return what decides, besides the tables, how further chunks are trained, as JSON values; by default nothing.

        `PlacementState` has the names that several placements use.
        """
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from the state of a placement that no longer exists, and free what it left. By default, do nothing."""
        return

    def restore_tables(self, read: Callable[[str], Float32Array]) -> None:
        """Restore, by `read`, own tables of a placement that no longer exists, once the model's are loaded.

        By default nothing is read, as there are none.
        """
        return

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        """Return the metrics of each task of a cluster so far; by default none, as there are no tasks."""
        return {}

    def report(self, raw_words: int) -> dict[str, Any] | None:
        """Return the report of a training of `raw_words` words; by default None, as nothing is measured."""
        return None

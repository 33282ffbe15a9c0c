"""Where tables live and steps run, behind one interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk

TABLES = ("inputs", "outputs", "nodes")


@dataclass
class ModelTables:
    """The model's matrices on the host, float32 [rows, vector size]; absent ones are None."""

    inputs: Float32Array
    outputs: Float32Array | None  # one row a word, for negative sampling
    nodes: Float32Array | None  # one row an inner node of the Huffman tree
    lock_factors: Float32Array  # input row r learns at rate lock_factors[r % size]

    def present(self) -> dict[str, Float32Array]:
        """Return the tables that the model has, by name."""
        return {name: values for name in TABLES if (values := getattr(self, name)) is not None}


class Placement(Protocol):
    """Tables in one place, steps in the same or another.

    `train_chunk` is called from `concurrency` threads at once. Meanwhile `task_metrics`, `report`, `state`, `rows` and
    `read_into` may be called; the last two then read rows of different moments. The other methods are called only while
    no chunk is being trained.
    """

    concurrency: int
    can_fail: bool
    """The tables may be lost while this process lives."""
    epochs_may_overlap: bool = True
    """Workers without a chunk of an epoch may begin the next one while others finish it."""

    @property
    def has_failed(self) -> bool:
        """Whether the tables have been lost."""
        ...

    def load(self, tables: ModelTables) -> None:
        """Set the tables to these values."""

    def begin_epoch(self, epoch: int) -> None:
        """Prepare for the chunks of an epoch, which are trained after this call."""
        return

    def end_epoch(self, epoch: int) -> None:
        """Finish an epoch whose chunks are all trained; the tables are read after this call."""
        return

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        """Make the chunk's block and train its batches."""
        ...

    def read_into(self, tables: ModelTables) -> None:
        """Write the current values into these arrays."""

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of the table of this name, as `TABLES` has them."""
        ...

    def own_tables(self) -> Mapping[str, tuple[int, ...]]:
        """Return the shapes of tables, by name, without which training cannot go on; `rows` reads them as well.

        They hold what was learnt since the model's tables were loaded. Other placements learn in the model's tables.
        """
        return {}

    def state(self) -> dict[str, Any]:
        """Return, as JSON has it, what decides how further chunks are trained, besides the tables."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from the state of a placement that is no longer there, and free what it left."""
        return

    def restore_tables(self, read: Callable[[str], Float32Array]) -> None:
        """Have `read` return the own tables of a placement that is no longer there, once the model's are loaded."""
        return

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        """Return the metrics of each task of a cluster so far; none without tasks."""
        ...

    def report(self, raw_words: int) -> dict[str, Any] | None:
        """Return the report of a training of `raw_words` words, None if this placement measures nothing."""

    def close(self) -> None:
        """Free the memory."""

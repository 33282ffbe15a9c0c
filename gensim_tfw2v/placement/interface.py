"""Where tables live and steps run, behind one interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk


@dataclass
class ModelTables:
    """The model's matrices on the host, float32 [rows, vector size]; absent ones are None."""

    inputs: Float32Array
    outputs: Float32Array | None  # one row a word, for negative sampling
    nodes: Float32Array | None  # one row an inner node of the Huffman tree
    lock_factors: Float32Array  # input row r learns at rate lock_factors[r % size]


class Placement(Protocol):
    """Tables in one place, steps in the same or another.

    `train_chunk` is called from as many threads at once as `concurrency` says, and meanwhile `task_metrics`, `report`,
    and `read_into` by those who can do with rows of different moments; the other methods only while no chunk is being
    trained.
    """

    concurrency: int
    can_fail: bool
    """The tables may get lost while this process lives on."""
    epochs_may_overlap: bool = True
    """Workers that find nothing left of an epoch may begin the next one, while others finish it."""

    @property
    def has_failed(self) -> bool:
        """Whether they have been lost."""
        ...

    def load(self, tables: ModelTables) -> None:
        """Take over these values."""

    def begin_epoch(self, epoch: int) -> None:
        """Prepare for the chunks of an epoch, which come after this call."""
        return

    def end_epoch(self, epoch: int) -> None:
        """Finish an epoch whose chunks are all trained; whoever reads the tables next waits for this."""
        return

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        """Make the chunk's block and train its batches."""
        ...

    def read_into(self, tables: ModelTables) -> None:
        """Write the current values into these arrays."""

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        """Return what each task of a cluster has done and used so far, nothing where there are no tasks."""
        ...

    def report(self, raw_words: int) -> dict[str, Any] | None:
        """Return what training `raw_words` words of corpus has taken, None where nothing of it is measured."""

    def close(self) -> None:
        """Give the memory back."""

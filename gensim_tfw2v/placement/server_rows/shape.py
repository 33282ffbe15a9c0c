"""The values that the graphs of a training with rows on servers depend on, and the handles that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.runtime.devices import THE_CPU, Device

if TYPE_CHECKING:
    from gensim_tfw2v.steps.signature import Objective


@dataclass(frozen=True, kw_only=True)
class RowTraining:
    """How workers train on copies of servers' rows."""

    row_type: str = "float32"  # TensorFlow's name of the number format in which rows and their changes are sent
    corrects: bool = False  # a block's changes for those that other blocks made meanwhile, whose rows it reads again
    overlap: bool = False  # a worker makes its next block and pulls that block's rows while it trains
    has_blocks: bool = False  # a call trains several blocks
    steps_on: Device = THE_CPU  # of each worker


@dataclass(frozen=True)
class GraphShape(RowTraining):
    """The values that a trace depends on: each combination has a trace of its own."""

    objective: Objective
    shards: int
    servers: int
    connection: int  # its number: tasks of a new connection do not have the functions of an older one
    has_slots: bool = False  # servers keep changes in slots, and add them later

    def tables(self) -> list[int]:
        """Return which of inputs, outputs and nodes the objective uses."""
        return self.objective.tables()

    def moved_tables(self) -> list[int]:
        """Return which of them change; only their changes are sent."""
        return self.objective.moved_tables()

    def device_of(self, shard: int) -> str:
        """Return the device that has a shard of every table."""
        return device("ps", shard % self.servers)


class Slot(NamedTuple):
    """Handles of what a server keeps of a block until it adds the block's changes: two variables for each shard."""

    rows: tuple[Any, ...]  # int32 [3 + n]: how many rows of each of `TABLES`, and which
    changes: tuple[Any, ...]  # [n, D] in the number format in which rows are sent


NO_SLOT = Slot((), ())


class Handles(NamedTuple):
    """Resource handles on the servers."""

    tables: tuple[tuple[Any, ...], ...]  # shards of each table in use
    version: Any  # blocks pushed so far, on the first server
    generations: tuple[Any, ...]  # each server's int32 variable [workers]
    slot: Slot = NO_SLOT  # of the block that is trained, if servers add its changes later


def handles_spec(shape: GraphShape) -> Handles:
    """Return what graphs on workers take as handles."""
    from gensim_tfw2v.placement.tasks.graph_parts import HANDLE  # which imports TensorFlow

    tables = tuple((HANDLE,) * shape.shards for _ in shape.tables())
    slot = Slot((HANDLE,) * shape.shards, (HANDLE,) * shape.shards) if shape.has_slots else NO_SLOT
    return Handles(tables, HANDLE, (HANDLE,) * shape.servers, slot)

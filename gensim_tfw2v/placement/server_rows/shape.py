"""The values that the graphs of a training with rows on servers depend on."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.placement.server_rows.handles import NO_SLOT, Handles, Slot
from gensim_tfw2v.placement.tasks.graph_parts import HANDLE
from gensim_tfw2v.runtime.devices import THE_CPU, Device
from gensim_tfw2v.steps.signature import Objective


@dataclass(frozen=True)
class GraphShape:
    """The values that a trace depends on: each combination has a trace of its own."""

    objective: Objective
    shards: int
    servers: int
    connection: int  # its number: tasks of a new connection do not have the functions of an older one
    overlap: bool  # workers stage their next block while they finish one
    row_type: str  # TensorFlow's name of the number format in which rows are sent
    corrects: bool = False  # changes for those of other blocks, whose rows it reads again
    has_slots: bool = False  # servers keep changes in slots, and add them later
    has_blocks: bool = False  # a call trains several blocks
    steps_on: Device = THE_CPU  # of the worker

    def tables(self) -> list[int]:
        """Return which of inputs, outputs and nodes the objective uses."""
        return self.objective.tables()

    def moved_tables(self) -> list[int]:
        """Return which of them change; only their changes are sent."""
        return self.objective.moved_tables()

    def device_of(self, shard: int) -> str:
        """Return the device that has a shard of every table."""
        return device("ps", shard % self.servers)


def handles_spec(shape: GraphShape) -> Handles:
    """Return what graphs on workers take as handles."""
    tables = tuple((HANDLE,) * shape.shards for _ in shape.tables())
    slot = Slot((HANDLE,) * shape.shards, (HANDLE,) * shape.shards) if shape.has_slots else NO_SLOT
    return Handles(tables, HANDLE, (HANDLE,) * shape.servers, slot)

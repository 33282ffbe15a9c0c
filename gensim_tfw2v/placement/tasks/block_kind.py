"""Blocks that graphs on workers request from their task: by which name, how the task makes them, what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.codec import decode

_Block = TypeVar("_Block")


def read_assignment(data: UInt8Array) -> Assignment:
    """Return the assignment in these bytes."""
    return decode(Assignment, data)


@dataclass(frozen=True)
class BlockKind(Generic[_Block]):
    """The blocks that one kind of graphs takes.

    Attributes
    ----------
    function : str
        Name by which graphs call the function that makes a block.
    specs : NamedTuple
        Specs of a block's tensors.
    make : callable
        Returns a model's block for what `read` has returned, with the metrics of this task's process.
    read : callable
        Turns bytes into an `Assignment`, which `make` gets with no more cores than the task has.
    """

    function: str
    specs: _Block
    make: Callable[..., _Block]
    read: Callable[[UInt8Array], Any] = read_assignment


def make_block(kind: BlockKind[_Block], model: Any, assignment: Any, number: Any | None = None) -> _Block:
    """Return, in a graph, the block of an assignment as the task makes it for the model of this name.

    `number` is the block's place in a chunk of several blocks, from 0.
    """
    arguments = [model, assignment] if number is None else [model, assignment, number]
    block: _Block = remote_functions.call_for(kind.function, arguments, kind.specs)
    return block

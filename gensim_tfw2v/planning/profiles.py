"""What training costs on one kind of processor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class StepCost:
    """Nanoseconds that a core takes to make and train a token: a fixed part, and one for each number of a vector."""

    fixed: float
    of_a_number: float


@dataclass(frozen=True)
class RowCost:
    """What a task computes to send and receive rows, in addition to steps."""

    nanoseconds_a_byte: float
    milliseconds_a_block: float


@dataclass(frozen=True)
class Profile:
    """The costs of training on one kind of processor."""

    processor: str
    steps: Mapping[str, StepCost]  # by mode
    worker: RowCost
    server: RowCost  # of all servers, for each block with each of them
    coordinator_nanoseconds_a_word: float
    coordinator_milliseconds_a_block: float
    counting_nanoseconds_a_word: float  # of a core while a vocabulary is built
    start_seconds: float  # of importing TensorFlow and making graphs
    memory_bytes_a_second: float  # that a machine copies

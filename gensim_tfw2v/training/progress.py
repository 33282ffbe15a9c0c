"""The progress of an epoch, and the interface of its observers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gensim_tfw2v.corpus.positions import BEGINNING, PassPosition


@dataclass
class EpochCounts:
    """Counts of what an epoch, or a part of one, has trained."""

    examples: int = 0  # sentences
    raw_words: int = 0
    trained_words: int = 0  # tokens
    blocks: int = 0
    pairs: float = 0.0
    loss: float = 0.0  # sum over the measured pairs
    measured_pairs: float = 0.0
    touched_rows: int = 0  # rows that took a step of limited length
    clipped_rows: int = 0  # those of these rows whose step was clipped
    seconds_waiting: float = 0.0  # for the corpus; this and the next two are sums over workers
    seconds_preparing: float = 0.0
    seconds_stepping: float = 0.0
    seconds: float = 0.0  # since the epoch began

    @property
    def mean_loss(self) -> float:
        """Return the mean loss of the measured pairs; nan if there are none."""
        return self.loss / self.measured_pairs if self.measured_pairs else float("nan")

    @property
    def words_per_second(self) -> float:
        """Return the raw words trained per second."""
        return self.raw_words / max(self.seconds, 1e-9)

    def __iadd__(self, other: EpochCounts) -> EpochCounts:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    def since(self, before: EpochCounts) -> EpochCounts:
        """Return what was counted after `before`, an earlier state of these counts."""
        return EpochCounts(**{name: value - getattr(before, name) for name, value in vars(self).items()})


@dataclass(frozen=True)
class EpochPosition:
    """How far an epoch has come, exactly enough to continue from there."""

    epoch: int  # from 0
    passed: PassPosition = BEGINNING
    counts: EpochCounts = field(default_factory=EpochCounts)  # of the chunks that are trained
    is_finished: bool = False


@dataclass(frozen=True)
class ValidationPoint:
    """What validation measured within an epoch."""

    epoch: int  # from 0
    raw_words: int  # of the epoch that were trained before
    trained_words: int  # tokens among these
    values: Mapping[str, float]  # metric → value


@dataclass(frozen=True)
class EpochProgress:
    """Progress of an epoch."""

    epoch: int  # from 0
    epochs: int
    fraction: float  # of the epoch, 0 to 1
    learning_rate: float
    counts: EpochCounts
    workers: int = 1
    tasks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of a cluster: task → metric → value
    validation: Mapping[str, float] = field(default_factory=dict)  # after a finished epoch: metric → value
    points: Sequence[ValidationPoint] = ()  # measured within the epoch since its last progress


class ProgressObserver(Protocol):
    """Receives the progress of training."""

    def continue_from(self, positions: Sequence[EpochPosition]) -> None:
        """Continue from these positions of all epochs, which may be earlier than the progress received so far."""
        return

    def advance(self, progress: EpochProgress) -> None:
        """Receive the progress of a running epoch, a few times a second."""

    def end_epoch(self, progress: EpochProgress) -> None:
        """Receive the progress of a finished epoch."""


class ChunkObserver(Protocol):
    """Receives every chunk that was trained."""

    def after_chunk(self, raw_words: int, positions: Callable[[], list[EpochPosition]]) -> None:
        """Receive the raw words of a trained chunk, and a function that returns how far all epochs have come.

        The thread that trained the chunk calls this method, and takes its next chunk afterwards.
        """

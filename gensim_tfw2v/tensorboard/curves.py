"""Progress of training → points of its curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from gensim_tfw2v.training.progress import EpochProgress

METRICS = ("final/loss", "final/words_per_second")  # with "final/" and the name of each score, what HParams compares


@dataclass(frozen=True)
class Counts:
    """What an epoch has counted up to a moment."""

    seconds: float = 0.0
    raw_words: int = 0
    trained_words: int = 0
    pairs: float = 0.0
    loss: float = 0.0
    measured_pairs: float = 0.0
    touched_rows: int = 0
    clipped_rows: int = 0
    seconds_waiting: float = 0.0
    seconds_preparing: float = 0.0
    seconds_stepping: float = 0.0

    @classmethod
    def of(cls, progress: EpochProgress) -> Counts:
        return cls(**{field.name: getattr(progress, field.name) for field in fields(cls)})

    def since(self, before: Counts) -> Counts:
        """Return what has been counted after `before`."""
        return Counts(*(getattr(self, field.name) - getattr(before, field.name) for field in fields(self)))


def running_points(progress: EpochProgress, since: Counts) -> dict[str, float]:
    """Return the points of what happened after `since`; curves that have nothing to tell yet are left out."""
    counts = Counts.of(progress).since(since)
    worked = counts.seconds_waiting + counts.seconds_preparing + counts.seconds_stepping
    ratios = {
        "loss/running": (counts.loss, counts.measured_pairs),
        "speed/words_per_second": (counts.raw_words, counts.seconds),
        "speed/pairs_per_word": (counts.pairs, counts.trained_words),
        "workers/share_waiting_for_corpus": (counts.seconds_waiting, worked),
        "workers/share_preparing_batches": (counts.seconds_preparing, worked),
        "workers/share_in_steps": (counts.seconds_stepping, worked),
        "updates/share_of_bounded_rows": (counts.clipped_rows, counts.touched_rows),
    }
    points = {tag: above / below for tag, (above, below) in ratios.items() if below}
    return {"learning_rate": progress.learning_rate, **points}


def epoch_points(progress: EpochProgress) -> dict[str, float]:
    """Return the points of a finished epoch."""
    points = {"speed/words_per_second_of_epoch": progress.words_per_second}
    return points | ({"loss/epoch": progress.mean_loss} if progress.measured_pairs else {})


def task_points(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the points of one task of a cluster."""
    return {f"tasks/{name}": float(value) for name, value in figures.items()}

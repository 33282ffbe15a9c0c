"""Progress of training → points of its curves."""

from __future__ import annotations

from collections.abc import Mapping

from gensim_tfw2v.training.progress import EpochCounts, EpochProgress

METRICS = ("final/loss", "final/words_per_second")  # with "final/" and the name of each score, what HParams compares


def running_points(progress: EpochProgress, since: EpochCounts) -> dict[str, float]:
    """Return the points of what happened after `since`; curves that have nothing to tell yet are left out."""
    counts = progress.counts.since(since)
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
    points = {"speed/words_per_second_of_epoch": progress.counts.words_per_second}
    return points | ({"loss/epoch": progress.counts.mean_loss} if progress.counts.measured_pairs else {})


def task_points(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the points of one task of a cluster."""
    return {f"tasks/{name}": float(value) for name, value in figures.items()}

"""The points of the curves that TensorBoard draws, computed from the progress of training."""

from __future__ import annotations

from collections.abc import Mapping

from gensim_tfw2v.training.progress import EpochCounts, EpochProgress

METRICS = ("final/loss", "final/words_per_second")  # the HParams tab compares these and the final scores
# The most important curves, by the tag of the same curve in its own group. TensorBoard sorts groups by name. When it
# opens, it shows the first two groups, and only the names of the others.
_ESSENTIALS = {
    "loss/running": "essentials/loss",
    "validation/loss": "essentials/validation_loss",
    "learning_rate": "essentials/learning_rate",
    "speed/words_per_second": "essentials/words_per_second",
}


def running_points(progress: EpochProgress, since: EpochCounts) -> dict[str, float]:
    """Return the points, by tag, of the training after `since`; curves without data yet are left out."""
    counts = progress.counts.since(since)
    worker_seconds = counts.seconds_waiting + counts.seconds_preparing + counts.seconds_stepping
    ratios = {
        "loss/running": (counts.loss, counts.measured_pairs),
        "speed/pairs_per_word": (counts.pairs, counts.trained_words),
        "workers/share_waiting_for_corpus": (counts.seconds_waiting, worker_seconds),
        "workers/share_preparing_batches": (counts.seconds_preparing, worker_seconds),
        "workers/share_in_steps": (counts.seconds_stepping, worker_seconds),
        "updates/share_of_bounded_rows": (counts.clipped_rows, counts.touched_rows),
    }
    points = {tag: numerator / denominator for tag, (numerator, denominator) in ratios.items() if denominator}
    return _with_essentials({"learning_rate": progress.learning_rate, **points})


def speed_points(progress: EpochProgress, since: EpochCounts) -> dict[str, float]:
    """Return the points, by tag, of the speed after `since`; none if no time has passed."""
    counts = progress.counts.since(since)
    return _with_essentials({"speed/words_per_second": counts.raw_words / counts.seconds} if counts.seconds else {})


def score_points(scores: Mapping[str, float]) -> dict[str, float]:
    """Return the points by tag of evaluation scores by name."""
    return {f"{group}/{name}": score for group in ("scores", "essentials") for name, score in scores.items()}


def epoch_points(progress: EpochProgress) -> dict[str, float]:
    """Return the points by tag of a finished epoch."""
    points = {"speed/words_per_second_of_epoch": progress.counts.words_per_second}
    if progress.counts.measured_pairs:
        points["loss/epoch"] = progress.counts.mean_loss
    return points | validation_points(progress.validation)


def validation_points(values: Mapping[str, float]) -> dict[str, float]:
    """Return the points by tag of what validation measured."""
    return _with_essentials({validation_tag(name): value for name, value in values.items()})


def validation_tag(metric: str) -> str:
    """Return the tag of a validation metric."""
    return f"validation/{metric.replace('@', '_at_')}"


def task_points(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the points, by tag, of one task of a cluster; a task that has not reported yet has no point for memory."""
    return {f"tasks/{name}": float(value) for name, value in metrics.items() if value or name != "memory_bytes"}


def _with_essentials(points: dict[str, float]) -> dict[str, float]:
    return points | {_ESSENTIALS[tag]: value for tag, value in points.items() if tag in _ESSENTIALS}

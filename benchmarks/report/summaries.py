"""Summarises runs as rows of a table: medians with their spread, and ratios of medians with paired ratios."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

Run = Mapping[str, Any]


@dataclass(frozen=True)
class Spread:
    """A middle value with the smallest and the largest value."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True)
class MeanSd:
    """A mean with the standard deviation of a single value, None for fewer than two values."""

    mean: float
    sd: float | None


@dataclass(frozen=True)
class Row:
    """The summary of all runs with the same settings, with ratios to the runs of the baseline."""

    label: dict[str, Any]
    runs: int
    words_per_second: Spread
    started_words_per_second: Spread | None
    speed_ratio: Spread | None
    train_seconds: Spread
    build_vocab_seconds: Spread | None
    build_vocab_ratio: Spread | None
    peak_rss_bytes: Spread
    tensorflow_import_seconds: Spread | None
    first_graph_seconds: Spread | None
    pairs_per_word: Spread | None
    bytes_per_word: Spread | None
    loopback_bytes_per_word: Spread | None
    scores: dict[str, MeanSd | None]
    finite: bool


def spread(values: Iterable[float | None]) -> Spread | None:
    """Return the median, smallest and largest of the values that are not None; None if all are."""
    known = [value for value in values if value is not None]
    return Spread(statistics.median(known), min(known), max(known)) if known else None


def mean_and_sd(values: Iterable[float | None]) -> MeanSd | None:
    """Return mean and sample standard deviation, None if a value is missing."""
    known = list(values)
    if not known or None in known:
        return None
    numbers = [float(value) for value in known if value is not None]
    return MeanSd(statistics.fmean(numbers), statistics.stdev(numbers) if len(numbers) > 1 else None)


def paired_ratio(upper: Mapping[int, float], lower: Mapping[int, float]) -> Spread | None:
    """Return the ratio of the medians, with the smallest and largest ratio of two values of the same round.

    Parameters
    ----------
    upper, lower : mapping of int to float
        Values by round. A round that only one of them has counts for the median only.
    """
    rounds = upper.keys() & lower.keys()
    if not rounds:
        return None
    pairs = [upper[turn] / lower[turn] for turn in rounds]
    return Spread(statistics.median(upper.values()) / statistics.median(lower.values()), min(pairs), max(pairs))


def summarise(label: Mapping[str, Any], runs: Sequence[Run], baseline: Sequence[Run]) -> Row:
    """Return the row of these runs. Ratios above 1 mean that they are faster than `baseline`."""
    words_per_second = _spread_of(runs, "words_per_second")
    train_seconds, peak = _spread_of(runs, "train_seconds"), _spread_of(runs, "peak_rss_bytes")
    if words_per_second is None or train_seconds is None or peak is None:
        raise ValueError(f"there is no run of {dict(label)}")
    score_names = dict.fromkeys(name for run in runs for name in run["scores"] or {})
    return Row(
        label=dict(label),
        runs=len(runs),
        words_per_second=words_per_second,
        started_words_per_second=_spread_of(runs, "started_words_per_second"),
        speed_ratio=paired_ratio(*(by_round(some, itemgetter("words_per_second")) for some in (runs, baseline))),
        train_seconds=train_seconds,
        build_vocab_seconds=_spread_of(runs, "build_vocab_seconds"),
        build_vocab_ratio=paired_ratio(
            *(by_round(some, itemgetter("build_vocab_seconds")) for some in (baseline, runs))
        ),
        peak_rss_bytes=peak,
        tensorflow_import_seconds=_spread_of(runs, "tensorflow_import_seconds"),
        first_graph_seconds=_spread_of(runs, "first_graph_seconds"),
        pairs_per_word=_spread_of(runs, "pairs_per_word"),
        bytes_per_word=_spread_of(runs, "bytes_per_word"),
        loopback_bytes_per_word=_spread_of(runs, "loopback_bytes_per_word"),
        scores={name: mean_and_sd((run["scores"] or {}).get(name) for run in runs) for name in score_names},
        finite=all(run["finite"] for run in runs),
    )


def rows_by(keys: Sequence[str], runs: Sequence[Run], within: Sequence[str], baseline: Mapping[str, Any]) -> list[Row]:
    """Return a row for every combination of `keys` among the successful runs, in order of first appearance.

    A row is compared with the runs that have the row's values of `within` and the values of `baseline`.
    """
    good = [run for run in runs if "error" not in run]
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in good:
        groups.setdefault(tuple(run[key] for key in keys), []).append(run)
    rows = []
    for values, group in groups.items():
        label = dict(zip(keys, values, strict=True))
        wanted = {**{key: label[key] for key in within}, **baseline}
        rows.append(summarise(label, group, [run for run in good if wanted.items() <= run.items()]))
    return rows


def _spread_of(runs: Sequence[Run], name: str) -> Spread | None:
    return spread(run[name] for run in runs)


def by_round(runs: Sequence[Run], value: Callable[[Run], float | None]) -> dict[int, float]:
    """Return the value of each run by its round, without runs that have none."""
    return {run["round"]: found for run in runs if (found := value(run)) is not None}

"""Simulated trainings → the tables of `scale.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from report.reports import MISSING

Record = Mapping[str, Any]
_LARGEST_LOSS = 0.18  # of the scores that the slope was fitted on


def validation_table(records: Sequence[Record]) -> list[list[str]]:
    """Return the table of trainings that were measured and simulated."""
    table = [["results", "mode", "design", "workers", "costs", "seconds measured", "simulated", "ratio",
              "bytes a word measured", "simulated", "ratio", "stale blocks measured", "simulated"]]  # fmt: skip
    for each in records:
        table.append(
            [
                each["file"],
                each["mode"],
                each["design"],
                str(each["workers"]),
                each["use"],
                f"{each['seconds']:.1f}",
                f"{each['simulated_seconds']:.1f}",
                f"{each['seconds_ratio']:.2f}",
                f"{each['bytes_a_word']:.1f}",
                f"{each['simulated_bytes_a_word']:.1f}",
                f"{each['bytes_ratio']:.2f}",
                f"{each['stale_blocks']:.1f}",
                f"{each['simulated_stale_blocks']:.1f}",
            ]
        )
    return table


def near_table(records: Iterable[Record], uses: Sequence[str]) -> list[list[str]]:
    """Return how many of the trainings that were not used are as near as is aimed at."""
    table = [["costs", "design", "trainings", "seconds within 15 %", "bytes within 10 %", "largest error of seconds"]]
    groups: dict[tuple[str, str], list[Record]] = {}
    for each in records:
        if each["use"] in uses:
            groups.setdefault((each["use"], each["design"]), []).append(each)
    for (use, design), members in groups.items():
        seconds = [each["seconds_ratio"] - 1 for each in members]
        near = [sum(abs(error) <= 0.15 for error in seconds),
                sum(abs(each["bytes_ratio"] - 1) <= 0.10 for each in members)]  # fmt: skip
        worst = max(seconds, key=abs)
        table.append([use, design, str(len(members)), *map(str, near), f"{worst:+.0%}"])
    return table


def score_table(records: Sequence[Record]) -> list[list[str]]:
    """Return the table of scores that were measured, and predicted by the line through all others."""
    table = [["training", "staleness", "loss of score measured", "predicted"]]
    for each in records:
        shown = [f"{100 * each[name]:.1f} %" for name in ("loss", "predicted")]
        table.append([each["name"], f"{each['staleness']:.2f}", *shown])
    return table


def scale_table(records: Sequence[Record], varied: Sequence[str]) -> list[list[str]]:
    """Return the table of simulated trainings, with columns of what is varied."""
    table = [[*(name.replace("_", " ") for name in varied), "design", "servers", "words of a block", "words/s",
              "bytes a word", "words not seen", "idle %", "busiest", "cost of 10⁹ words", "GB of a worker or server",
              "loss of score"]]  # fmt: skip
    for each in records:
        busiest = max(each["busy"], key=lambda kind: each["busy"][kind])
        memory = f"{each['worker_gigabytes']:,.1f}" + ("" if each["fits"] else " (too much)")
        table.append(
            [
                *(_shown(each[name]) for name in varied),
                each["design"],
                str(each["servers"]),
                f"{each['block_words']:,.0f}",
                f"{each['words_a_second']:,.0f}",
                f"{each['bytes_a_word']:,.1f}",
                f"{each['stale_words']:.2g}",
                f"{100 * each['idle_share']:.0f}",
                f"{busiest} {100 * each['busy'][busiest]:.0f} %",
                f"{each['cost_of_a_billion_words']:,.3f}",
                memory,
                _shown_loss(each["predicted_loss"]),
            ]
        )
    return table


def failure_table(records: Sequence[Record]) -> list[list[str]]:
    """Return the table of what failures do."""
    table = [["days between a machine's failures", "design", "workers", "hours without failures", "lost workers",
              "recoveries", "useful time %", "trained again or lost %", "seconds of a checkpoint"]]  # fmt: skip
    for each in records:
        table.append(
            [
                f"{each['days_between_failures']:g}",
                each["design"],
                str(each["workers"]),
                f"{each['ideal_hours']:,.1f}",
                f"{each['worker_failures']:.3g}",
                f"{each['recoveries']:.3g}",
                f"{100 * each['useful_share']:.1f}" if each["ends"] else "does not end",
                f"{100 * each['lost_share']:.1f}",
                f"{each['checkpoint_seconds']:,.0f}",
            ]
        )
    return table


def _shown_loss(loss: float | None) -> str:
    """Return the text of a loss, which is not known beyond the largest that was measured."""
    if loss is None:
        return MISSING
    return f"more than {100 * _LARGEST_LOSS:.0f} %" if loss > _LARGEST_LOSS else f"{100 * loss:.2g} %"


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)

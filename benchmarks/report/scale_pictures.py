"""Draws simulated trainings: beside measured ones, by number of workers, and with stragglers and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from report.pictures import new_figure, save_figure

Record = Mapping[str, Any]

_STYLES = {
    "downpour": ("#0072B2", "o"),
    "synchronous": ("#E69F00", "s"),
    "averaging": ("#009E73", "^"),
    "partition": ("#CC79A7", "D"),
}
_USES = {"fitted": "fitted", "predicted": "predicted", "transferred": "costs of another day"}
_BY_WORKERS = {
    "words a second": "words_a_second",
    "words that a block does not see": "stale_words",
    "bytes a word": "bytes_a_word",
    "cost of a billion words": "cost_of_a_billion_words",
}


def draw_validation(records: Sequence[Record], path: Path) -> None:
    """Draw simulated seconds and bytes beside measured ones."""
    figure, axes = new_figure(2, columns=2, width=6.0)
    panels = {"seconds": 0.15, "bytes_a_word": 0.10}
    for axis, (name, aim) in zip(axes, panels.items(), strict=True):
        values = [each[name] for each in records]
        ends = [0.8 * min(values), 1.2 * max(values)]
        axis.plot(ends, ends, color="black", linewidth=0.8)
        axis.fill_between(ends, [(1 - aim) * end for end in ends], [(1 + aim) * end for end in ends], color="#DDDDDD")
        for design, (colour, marker) in _STYLES.items():
            for use, label in _USES.items():
                found = [each for each in records if (each["design"], each["use"]) == (design, use)]
                if found:
                    points = [each[name] for each in found], [each[f"simulated_{name}"] for each in found]
                    filled = {"predicted": colour, "fitted": "none", "transferred": "#BBBBBB"}[use]
                    axis.scatter(*points, edgecolors=colour, facecolors=filled, marker=marker, zorder=3,
                                 label=f"{design}, {label}")  # fmt: skip
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("measured")
        axis.set_ylabel("simulated")
        axis.set_title(f"{name.replace('_', ' ')} (grey: within {aim:.0%})")
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    save_figure(figure, path)


def draw_by_workers(records: Sequence[Record], path: Path) -> None:
    """Draw what further workers bring; a line of panels for each rule of the blocks' length."""
    rules = list(dict.fromkeys(each["blocks"] for each in records))
    figure, axes = new_figure(len(rules) * len(_BY_WORKERS), columns=len(_BY_WORKERS), width=4.5)
    panels = [(rule, title, name) for rule in rules for title, name in _BY_WORKERS.items()]
    for axis, (rule, title, name) in zip(axes, panels, strict=True):
        _lines(axis, [each for each in records if each["blocks"] == rule], "workers", name)
        axis.set_title(f"{rule}: {title}", fontsize=10)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("workers")
    axes[0].legend(fontsize=8)
    save_figure(figure, path)


def draw_troubles(speeds: Sequence[Record], failures: Sequence[Record], path: Path) -> None:
    """Draw speeds with stragglers, and the useful time by workers for each rate of failures."""
    days = list(dict.fromkeys(each["days_between_failures"] for each in failures))
    figure, axes = new_figure(1 + len(days), columns=1 + len(days), width=4.5)
    base = {each["design"]: each["words_a_second"] for each in reversed(speeds)}
    relative = [{**each, "relative": each["words_a_second"] / base[each["design"]]} for each in speeds]
    _lines(axes[0], relative, "speed_spread", "relative")
    axes[0].set_title("speed by that of equal workers", fontsize=10)
    axes[0].set_xlabel("standard deviation of the logarithms of speeds")
    axes[0].legend(fontsize=8)
    for axis, between in zip(axes[1:], days, strict=True):
        _lines(axis, [each for each in failures if each["days_between_failures"] == between], "workers",
               "useful_share")  # fmt: skip
        axis.set_title(f"useful time, {between:g} days between failures", fontsize=10)
        axis.set_xscale("log")
        axis.set_xlabel("workers")
    for axis in axes:
        axis.set_ylim(0, 1.15)
    save_figure(figure, path)


def _lines(axis: Any, records: Sequence[Record], across: str, name: str) -> None:
    for design, (colour, marker) in _STYLES.items():
        points = [(each[across], each[name]) for each in records if each["design"] == design and each[name]]
        if points:
            axis.plot(*zip(*sorted(points), strict=True), color=colour, marker=marker, label=design)
    axis.grid(alpha=0.3)

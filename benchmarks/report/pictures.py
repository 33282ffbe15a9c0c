"""Draws pictures: bars of speed, scores over training time, what further workers bring, learning rates."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from report.design_table import DesignRow
from report.node_table import PUBLISHED_ACCURACIES, PUBLISHED_SPEED_UPS, NodeRow
from report.summaries import Row, Spread

# Okabe and Ito's colours, which colour-blind readers can distinguish; hatches and markers serve print without colour.
_STYLES = {
    "tfw2v": ("#0072B2", "", "o"),
    "gensim": ("#E69F00", "//", "s"),
    "word2vec": ("#009E73", "..", "^"),
    "fasttext": ("#CC79A7", "xx", "D"),
}
_NAMES = {"tfw2v": "TFWord2Vec", "word2vec": "word2vec.c", "fasttext": "fastText"}
_MODES = {
    "sg-neg": "skip-gram, negative sampling",
    "sg-hs": "skip-gram, hierarchical softmax",
    "cbow-neg": "CBOW, negative sampling",
    "cbow-hs": "CBOW, hierarchical softmax",
}
_OTHER_STYLE = ("#999999", "\\\\", "v")
_LINES = [("#0072B2", "o"), ("#E69F00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#56B4E9", "v"), ("#D55E00", "P"),
          ("#000000", "X"), ("#999999", "*")]  # fmt: skip


def is_possible() -> bool:
    """Return whether matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def draw_speed(rows: Sequence[Row], path: Path) -> None:
    """Draw the speed of every system, and its ratio to gensim's, for each mode and vector size."""
    figure, axes = new_figure(1 + any(row.speed_ratio for row in rows), columns=1, width=max(7.0, 0.9 * len(rows)))
    _bars(axes[0], rows, [_scaled(row.words_per_second, 1e-6) for row in rows], "{:.2f}")
    axes[0].set_ylabel("million raw words a second")
    axes[0].set_title("Training speed (median; whiskers: slowest and fastest run)")
    if len(axes) > 1:
        _bars(axes[1], rows, [row.speed_ratio for row in rows], "{:.2f}")
        axes[1].axhline(1, color="black", linewidth=0.8)
        axes[1].set_ylabel("times gensim's speed")
        axes[1].set_title("Ratio to gensim (of medians; whiskers: pairs of runs)")
    save_figure(figure, path)


def draw_quality(curves: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the mean score after every epoch over the training time; one panel for each mode and vector size."""
    panels = list(dict.fromkeys((curve["mode"], curve["vector_size"]) for curve in curves))
    figure, axes = new_figure(len(panels), columns=2, width=6.0)
    for axis, panel in zip(axes, panels, strict=True):
        for curve in curves:
            if (curve["mode"], curve["vector_size"]) != panel:
                continue
            colour, _, marker = _STYLES.get(curve["system"], _OTHER_STYLE)
            points = [point for point in curve["curve"] if point["mean"] is not None]
            seconds, means = [point["seconds"] for point in points], [point["mean"] for point in points]
            axis.plot(seconds, means, color=colour, marker=marker, label=_NAMES.get(curve["system"], curve["system"]))
        axis.set_title(f"{_MODES.get(panel[0], panel[0])}, vectors of {panel[1]} numbers:\nscore after each epoch")
        axis.set_xlabel("training seconds")
        axis.set_ylabel("mean score, percent")
        axis.set_xlim(left=0)
        axis.grid(alpha=0.3)
        axis.legend()
    save_figure(figure, path)


def draw_seconds(results: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the seconds until a score is reached, a bar for each mode and system that has reached it.

    The picture is small and its letters are large, so that it can be read on a telephone.
    """
    drawn = [result for result in results if result["reached"]]
    figure, (axis,) = new_figure(1, columns=1, width=5.0)
    figure.set_size_inches(5.0, 0.7 + 0.45 * len(drawn))
    axis.set_xlim(0, 1.45 * max(result["seconds"]["middle"] for result in drawn))  # room for what is written at bars
    for place, result in enumerate(drawn):
        colour, hatch, _ = _STYLES.get(result["system"], _OTHER_STYLE)
        seconds, name = result["seconds"]["middle"], _NAMES.get(result["system"], result["system"])
        bar = axis.barh(place, seconds, color=colour, hatch=hatch, edgecolor="white")
        ratio = result["ratio"]["middle"]
        sooner = f", {ratio:.1f} times sooner" if ratio > 1 else ""
        axis.bar_label(bar, [f"{name}: {seconds:.0f} s{sooner}"], padding=4, fontsize=11)
    axis.set_yticks(range(len(drawn)), [_first_of_its_mode(drawn, place) for place in range(len(drawn))], fontsize=11)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel("seconds until gensim's score of five epochs", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)
    axis.invert_yaxis()
    save_figure(figure, path)


def _first_of_its_mode(results: Sequence[Mapping[str, Any]], place: int) -> str:
    """Return the name of a result's mode where it is the first with that mode, otherwise an empty text."""
    mode = results[place]["mode"]
    is_first = mode not in {result["mode"] for result in results[:place]}
    return _MODES.get(mode, mode).partition(",")[0] if is_first else ""


def draw_nodes(rows: Sequence[NodeRow], path: Path) -> None:
    """Draw speed-up, and the ratio to one worker's score, by the number of workers, beside published results."""
    figure, (speed, quality) = new_figure(2, columns=2, width=6.0)
    workers = [row.workers for row in rows]
    ideal = [count / workers[0] for count in workers]
    speed.plot(workers, ideal, color="black", linestyle=":", label="as many times as fast")
    quality.axhline(1, color="black", linestyle=":")
    published = _STYLES["gensim"][0]
    for axis, ours, theirs in (
        (speed, [row.speed_up for row in rows], PUBLISHED_SPEED_UPS),
        (quality, [row.score_ratio for row in rows], _relative(PUBLISHED_ACCURACIES)),
    ):
        if None not in ours:
            axis.plot(workers, ours, color=_STYLES["tfw2v"][0], marker="o", label="tfw2v")
        axis.plot(list(theirs), list(theirs.values()), color=published, marker="s", label="published, MPI")
        axis.set_xlabel("workers")
        axis.grid(alpha=0.3)
        axis.set_ylim(bottom=0)
        axis.legend()
    speed.set_ylabel(f"times the speed of {workers[0]}")
    speed.set_title("Speed-up")
    quality.set_ylabel(f"times the score of {workers[0]}")
    quality.set_title("Mean score (published: accuracy)")
    save_figure(figure, path)


def draw_designs(rows: Sequence[DesignRow], path: Path) -> None:
    """Draw speed, speed-up and score of every design by the cores of all workers; a line of panels for each mode.

    Hollow markers are workers of several cores.
    """
    modes = list(dict.fromkeys(one.mode for one in rows))
    styles = dict(zip(dict.fromkeys(one.name for one in rows), itertools.cycle(_LINES), strict=False))
    figure, axes = new_figure(len(_DESIGN_PANELS) * len(modes), columns=len(_DESIGN_PANELS), width=5.0)
    panels = itertools.product(modes, _DESIGN_PANELS.items())
    for axis, (mode, (title, figure_of)) in zip(axes, panels, strict=True):
        for name, (colour, marker) in styles.items():
            found = [one.row for one in rows if (one.mode, one.name) == (mode, name)]
            known = [(row, value) for row in found if (value := figure_of(row)) is not None]
            if points := [(row.cores, value) for row, value in known if row.worker_cores == 1]:
                axis.plot(*zip(*points, strict=True), color=colour, marker=marker, label=name)
            if points := [(row.cores, value) for row, value in known if row.worker_cores > 1]:
                hollow = {"linestyle": "none", "markerfacecolor": "none", "markersize": 9}
                axis.plot(*zip(*points, strict=True), color=colour, marker=marker, **hollow)
        axis.set_title(f"{mode}: {title}", fontsize=10)
        axis.set_xlabel("cores of all workers (hollow: several in a worker)")
        axis.grid(alpha=0.3)
    for axis in axes[:: len(_DESIGN_PANELS)]:
        axis.set_yscale("log")
        axis.legend(fontsize=8)
    save_figure(figure, path)


def _mean_score(row: NodeRow) -> float | None:
    score = row.scores.get("mean")
    return score and score.mean


_DESIGN_PANELS: dict[str, Callable[[NodeRow], float | None]] = {
    "words a second": lambda row: row.words_per_second,
    "speed-up": lambda row: row.speed_up,
    "mean score, percent": _mean_score,
}


def draw_schedules(lines: Mapping[int, Mapping[str, tuple[Any, Any]]], path: Path) -> None:
    """Draw learning rates over time: number of epochs → label → times in epochs, and rates."""
    figure, axes = new_figure(len(lines), columns=2, width=6.0)
    styles = [(colour, dashes) for (colour, _, _), dashes in zip(_STYLES.values(), ("-", "--", ":"), strict=False)]
    for axis, (epochs, labelled) in zip(axes, lines.items(), strict=True):
        for (label, (times, rates)), (colour, dashes) in zip(labelled.items(), styles, strict=True):
            axis.plot(times, rates, color=colour, linestyle=dashes, label=label)
        axis.set_title("One epoch" if epochs == 1 else f"{epochs} epochs")
        axis.set_xlabel("epochs")
        axis.set_ylabel("learning rate")
        axis.set_xlim(0, epochs)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    axes[-1].legend(fontsize=8)
    save_figure(figure, path)


def _relative(values: Mapping[int, float]) -> dict[int, float]:
    first = next(iter(values.values()))
    return {key: value / first for key, value in values.items()}


def _bars(axis: Any, rows: Sequence[Row], values: Sequence[Spread | None], label: str) -> None:
    groups = list(dict.fromkeys((row.label["mode"], row.label["vector_size"]) for row in rows))
    systems = list(dict.fromkeys(row.label["system"] for row in rows))
    width = 0.8 / len(systems)
    for place, system in enumerate(systems):
        colour, hatch, _ = _STYLES.get(system, _OTHER_STYLE)
        shift = (place - (len(systems) - 1) / 2) * width
        drawn = [
            (groups.index((row.label["mode"], row.label["vector_size"])) + shift, value)
            for row, value in zip(rows, values, strict=True)
            if row.label["system"] == system and value is not None
        ]
        if not drawn:
            continue
        heights = [value.middle for _, value in drawn]
        # A ratio of medians may lie outside the range of the paired ratios.
        below = [max(0.0, value.middle - value.low) for _, value in drawn]
        above = [max(0.0, value.high - value.middle) for _, value in drawn]
        places = [position for position, _ in drawn]
        style = {"color": colour, "hatch": hatch, "edgecolor": "black", "linewidth": 0.6, "label": system}
        bars = axis.bar(places, heights, width, yerr=[below, above], capsize=3, **style)
        axis.bar_label(bars, labels=[label.format(height) for height in heights], padding=2, fontsize=8)
    axis.set_xticks(range(len(groups)), [f"{mode}\n{size}" for mode, size in groups])
    axis.margins(y=0.25)  # room for the legend
    axis.legend(loc="upper center", ncols=len(systems))


def _scaled(values: Spread, factor: float) -> Spread:
    return Spread(values.middle * factor, values.low * factor, values.high * factor)


def new_figure(panels: int, columns: int, width: float) -> tuple[Any, list[Any]]:
    """Return a figure with so many panels in at most so many columns. It needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(columns, panels)
    lines = -(-panels // columns)
    figure = Figure(figsize=(width * columns, 4.0 * lines), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(lines, columns, squeeze=False).flat)
    for spare in axes[panels:]:
        spare.remove()
    return figure, axes[:panels]


def save_figure(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="png")

"""Runs with so many threads → the tables of `many_threads.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from measuring.jobs import MODES

from report.reports import MISSING, show_score
from report.summaries import Run, mean_and_sd

THREADS, EMULATED, GENSIM = "threads", "emulated", "gensim"  # how so many threads train
WAYS = (THREADS, EMULATED, GENSIM)
_LABELS = ["mode", "way", "optimizer"]
_MAIN = ("mean", "communities")  # scores that come first
_Row = tuple[str, str, str | None]  # mode, way and optimizer
_NOT_FINITE = "**not finite**"


def tables_of(runs: Sequence[Run]) -> dict[str, list[list[str]]]:
    """Return a table for each score by its heading, and one of differences to gensim's; none without runs."""
    good = [run for run in runs if "error" not in run]
    cells: dict[_Row, dict[int, list[Run]]] = {}
    for run in good:
        cells.setdefault(_row_of(run), {}).setdefault(threads_of(run), []).append(run)
    rows = sorted(cells, key=_order)
    counts = sorted({threads_of(run) for run in good})
    names = sorted({name for run in good for name in run["scores"]}, key=lambda name: (name not in _MAIN, name))
    tables = {}
    for name in names:
        tables[f"Score: {name}"] = [
            _heading(counts),
            *([*_labels(row), *(_score_cell(cells[row].get(count, ()), name) for count in counts)] for row in rows),
        ]
        if name in _MAIN and (differences := _differences(cells, rows, counts, name)):
            tables[f"Difference to gensim's {name}"] = [_heading(counts), *differences]
    return tables


def way_of(run: Run) -> str:
    """Return how the threads of a run trained."""
    if run["system"] == GENSIM:
        return GENSIM
    return THREADS if run["emulated_threads"] is None else EMULATED


def threads_of(run: Run) -> int:
    """Return how many threads trained, or were emulated."""
    return int(run["workers"] if run["emulated_threads"] is None else run["emulated_threads"])


def _row_of(run: Run) -> _Row:
    return run["mode"], way_of(run), run["optimizer"]


def _order(row: _Row) -> tuple[Any, ...]:
    """Return the place of a row: ours of a mode by optimizer and way, and then gensim's."""
    mode, way, optimizer = row
    return list(MODES).index(mode), way == GENSIM, optimizer != "sgd", WAYS.index(way)


def _heading(counts: Sequence[int]) -> list[str]:
    return [*_LABELS, *(f"{count} {'thread' if count == 1 else 'threads'}" for count in counts)]


def _labels(row: _Row) -> list[str]:
    return [label or MISSING for label in row]


def _score_cell(runs: Sequence[Run], name: str) -> str:
    if not all(run["finite"] for run in runs):
        return _NOT_FINITE
    return show_score(mean_and_sd(run["scores"].get(name) for run in runs))


def _differences(
    cells: Mapping[_Row, Mapping[int, Sequence[Run]]], rows: Sequence[_Row], counts: Sequence[int], name: str
) -> list[list[str]]:
    """Return how far the mean of each row of ours is above gensim's with as many threads; no rows without gensim's."""
    table = []
    for row in rows:
        gensims = cells.get((row[0], GENSIM, None), {})
        if row[1] != GENSIM and gensims:
            shown = (_difference(cells[row].get(count, ()), gensims.get(count, ()), name) for count in counts)
            table.append([*_labels(row), *shown])
    return table


def _difference(ours: Sequence[Run], gensims: Sequence[Run], name: str) -> str:
    if not all(run["finite"] for run in (*ours, *gensims)):
        return _NOT_FINITE
    means = [mean_and_sd(run["scores"].get(name) for run in runs) for runs in (ours, gensims)]
    if means[0] is None or means[1] is None:
        return MISSING
    return f"{means[0].mean - means[1].mean:+.2f}"

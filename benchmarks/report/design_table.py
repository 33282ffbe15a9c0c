"""Trainings by several designs and systems → the tables of `designs.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from measuring.design_cells import ENTRANTS, GENSIM
from measuring.jobs import MODES

from report.node_table import NodeRow, rows_of, show_loss, show_number, show_peak, show_quota_used
from report.reports import MISSING, show_score, show_spread
from report.summaries import Run


@dataclass(frozen=True)
class DesignRow:
    """All runs of one design or system, in one mode, on so many workers."""

    mode: str
    name: str
    epochs: int
    row: NodeRow  # its ratios are to the fewest workers of the same design
    times_gensim: float | None  # raw words a second, to gensim's with as many cores


def design_rows(runs: Sequence[Run]) -> list[DesignRow]:
    """Return the rows of all modes, designs and numbers of workers among the successful runs."""
    good = [run for run in runs if "error" not in run]
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in good:
        groups.setdefault((run["mode"], run["name"]), []).append(run)
    found = {group: rows_of(members) for group, members in groups.items()}
    gensim = {(mode, row.cores): row for (mode, name), rows in found.items() if name == GENSIM for row in rows}
    return [
        DesignRow(mode, name, groups[mode, name][0]["epochs"], row, _ratio(row, gensim.get((mode, row.cores))))
        for mode, name in sorted(found, key=_order)
        for row in found[mode, name]
    ]


def _order(group: tuple[str, str]) -> tuple[int, int]:
    mode, name = group
    return list(MODES).index(mode), list(ENTRANTS).index(name)


def _ratio(row: NodeRow, base: NodeRow | None) -> float | None:
    return base and row.words_per_second / base.words_per_second


def result_table(rows: Sequence[DesignRow]) -> list[list[str]]:
    """Return the table of what each design reaches, for the rows of one mode."""
    score_names = list(dict.fromkeys(name for one in rows for name in one.row.scores))
    heading = ["design", "workers", "epochs", "train s", "words/s", "speed-up", "times gensim", "loss", *score_names]
    table = [[*heading, "finite"]]
    for one in rows:
        row = one.row
        table.append(
            [
                one.name,
                _show_workers(row),
                str(one.epochs),
                f"{row.seconds.middle:.1f}" if row.runs == 1 else show_spread(row.seconds, ".1f"),
                f"{row.words_per_second:,.0f}",
                f"{row.speed_up:.2f}",
                show_number(one.times_gensim, ".2f"),
                show_loss(row),
                *(show_score(row.scores.get(name)) for name in score_names),
                "yes" if row.finite else "**NO**",
            ]
        )
    return table


def _show_workers(row: NodeRow) -> str:
    return str(row.workers) if row.worker_cores == 1 else f"{row.workers}, {row.worker_cores} cores each"


def cost_table(rows: Sequence[DesignRow], quota: float | None) -> list[list[str]]:
    """Return the table of what each design takes, for the rows of one mode; `quota` is that of a worker's core."""
    heading = ["design", "workers", "bytes a word", "idle %", "of their quota %"]
    heading += ["worker processor s", "servers processor s", "coordinator processor s"]
    table = [[*heading, "worker MB", "server MB", "coordinator MB"]]
    for one in rows:
        row = one.row
        idle = row.stage_shares.get("idle")
        table.append(
            [
                one.name,
                _show_workers(row),
                show_number(row.bytes_per_word, ",.0f"),
                MISSING if idle is None else f"{100 * idle:.0f}",
                # gensim's one machine has the cores of all workers.
                show_quota_used(row, quota),
                f"{row.cpu_seconds['worker'] / row.workers:.1f}",
                f"{row.cpu_seconds['ps']:.1f}",
                f"{row.cpu_seconds['coordinator']:.1f}",
                *(show_peak(row, kind) for kind in ("worker", "ps", "coordinator")),
            ]
        )
    return table


def promise_table(rows: Sequence[DesignRow]) -> list[list[str]]:
    """Return the table of what holds for each design that has a row, whatever the number of workers."""
    names = {one.name for one in rows}
    promises = ([name, entrant.reproducible, entrant.survives] for name, entrant in ENTRANTS.items() if name in names)
    return [["design", "two runs with one seed are equal", "survives"], *promises]

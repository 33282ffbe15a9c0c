"""Trainings on so many cores → the tables of `cores.py`."""

from __future__ import annotations

import functools
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measuring.core_cells import CLUSTER, DOWNPOUR, ENCODED, SPLIT, SYSTEMS, TEXT, system_of

from report.reports import MISSING, show_spread
from report.summaries import Run, Spread, spread

_LABELS = ("mode", "system", "processes", "workers", "distribution")
_BLOCK_TIMES = ("making", "waiting", "calling")
_SCORES = ("wordsim353", "simlex999", "analogies", "mean")


def merged(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what all processes of a cell did together; it took as long as the slowest of them."""
    sums: dict[str, Any] = {"used": Counter(), "blocks": Counter(), "words": 0, "looks": 0, "times_held": 0}
    for result in results:
        for name in ("used", "blocks"):
            sums[name].update(result[name])
        for name in ("words", "looks", "times_held"):
            sums[name] += result.get(name, 0)
    return {
        "train_seconds": max(result["train_seconds"] for result in results),
        "edge_seconds": max((result["edge_seconds"] or 0.0 for result in results), default=0.0),
        **sums,
        "finite": all(result["finite"] for result in results),
        "report": results[0]["report"],
    }


@dataclass(frozen=True)
class CoreRow:
    """All runs of one cell. Times a word are of all its threads, divided by the words that they all train."""

    mode: str
    system: str
    processes: int
    workers: int
    distribution: str  # of a cluster
    words: int
    words_per_second: Spread
    speed_up: float | None
    times_gensim: float | None
    cpu_us: float  # processor time a word, of a cluster's tasks as well
    kernel_share: float | None  # of this processor time, None where it is not known
    page_faults: float  # of the processes that train or coordinate, a thousand words
    block_ns: dict[str, float]  # of the threads that train blocks, a word: making, waiting, calling
    lock_ns: float | None  # during which one of the threads held Python's lock, a word
    lock_share: float | None  # of the seconds of training
    edge_share: float | None  # of the seconds of training: before the first block and after the last
    idle_share: float  # of the cores that train
    task_cores: dict[str, float]  # cores that a cluster's coordinator, servers and workers used
    scores: dict[str, float | None]
    finite: bool


def core_rows(runs: Sequence[Run]) -> list[CoreRow]:
    """Return a row for every cell among the successful runs, in order of first appearance."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        if "error" not in run:
            labelled = {"distribution": DOWNPOUR, **run}
            groups.setdefault(tuple(labelled[label] for label in _LABELS), []).append(run)
    speeds = {cell: _speeds(members) for cell, members in groups.items()}
    return [_row(cell, members, speeds) for cell, members in groups.items()]


def _speeds(runs: Sequence[Run]) -> Spread:
    found = spread(run["words"] / run["train_seconds"] for run in runs)
    assert found is not None
    return found


def _row(cell: tuple[Any, ...], runs: Sequence[Run], speeds: Mapping[tuple[Any, ...], Spread]) -> CoreRow:
    """Return the row of one cell."""
    mode, system, processes, workers, _ = cell
    base, rival = speeds.get(_base_of(cell, speeds)), speeds.get((mode, "gensim", 1, processes * workers, DOWNPOUR))
    watched = [run for run in runs if run["looks"]]
    has_blocks = all(run["blocks"]["count"] for run in runs)
    return CoreRow(
        *cell,
        words=runs[0]["words"],
        words_per_second=speeds[cell],
        speed_up=base and speeds[cell].middle / base.middle,
        times_gensim=rival and speeds[cell].middle / rival.middle,
        cpu_us=_median(runs, lambda run: 1e6 * cpu_seconds(run) / run["words"]),
        kernel_share=None if system == CLUSTER else _median(runs, lambda run: run["used"]["kernel"] / cpu_seconds(run)),
        page_faults=_median(runs, lambda run: 1000 * run["used"]["page_faults"] / run["words"]),
        block_ns={name: _median(runs, functools.partial(_block_ns, name)) for name in _BLOCK_TIMES if has_blocks},
        # Every process has a lock of its own, and the looks are at all of them.
        lock_ns=_median(watched, lambda run: lock_share(run) * 1e9 * run["train_seconds"] * processes / run["words"]),
        lock_share=_median(watched, lock_share),
        edge_share=_median(runs, lambda run: run["edge_seconds"] / run["train_seconds"]) if has_blocks else None,
        idle_share=_median(runs, lambda run: idle_share(run, processes * workers)),
        task_cores=_task_cores(runs) if system == CLUSTER else {},
        scores=runs[-1]["scores"] or {},
        finite=all(run["finite"] for run in runs),
    )


def _base_of(cell: tuple[Any, ...], cells: Mapping[tuple[Any, ...], Spread]) -> tuple[Any, ...]:
    """Return the cell of the same mode and system with the fewest workers, for all of our class in one process.

    Separate models are compared with a single one that has one thread.
    """
    mode, system, _, _, distribution = cell
    of = ENCODED if system in (TEXT, SPLIT) else system
    same = [found for found in cells if (*found[:3], found[4]) == (mode, of, 1, distribution)]
    return mode, of, 1, min((found[3] for found in same), default=1), distribution


def cpu_seconds(run: Run) -> float:
    """Return the processor time of all processes of a run."""
    return float(sum(used for name, used in run["used"].items() if name != "page_faults"))


def lock_share(run: Run) -> float:
    """Return for what share of the time a process's Python lock was held."""
    return float(run["times_held"] / run["looks"])


def idle_share(run: Run, cores: int) -> float:
    """Return for what share of the time so many cores did nothing; on a cluster, its workers' cores."""
    worked = run["used"].get("worker", cpu_seconds(run))
    return 1 - worked / (run["train_seconds"] * cores)


def _block_ns(name: str, run: Run) -> float:
    return float(1e9 * run["blocks"][name] / run["words"])


def _task_cores(runs: Sequence[Run]) -> dict[str, float]:
    """Return how many cores the processes of a cluster used."""
    used = {
        "coordinator": lambda run: run["used"]["user"] + run["used"]["kernel"],
        "ps": lambda run: run["used"]["ps"],
        "worker": lambda run: run["used"]["worker"],
    }
    return {
        name: _median(runs, lambda run, seconds=seconds: seconds(run) / run["train_seconds"])
        for name, seconds in used.items()
    }


def _median(runs: Sequence[Run], figure: Callable[..., float]) -> Any:
    return statistics.median(map(figure, runs)) if runs else None


def tables_of(rows: Sequence[CoreRow]) -> dict[str, list[list[str]]]:
    """Return the tables by their headings: for each mode what is reached and where time goes, and all scores."""
    tables = {}
    for mode in dict.fromkeys(row.mode for row in rows):
        of_mode = sorted((row for row in rows if row.mode == mode), key=_order)
        tables[f"{mode}: speed"] = [_SPEED, *map(_speed_cells, of_mode)]
        tables[f"{mode}: where the time goes"] = [_COSTS, *map(_cost_cells, of_mode)]
    if scored := [row for row in rows if row.scores]:
        tables["Scores"] = [["mode", "system", "processes x workers", *_SCORES], *map(_score_cells, scored)]
    return tables


def _order(row: CoreRow) -> tuple[int, str, int, int]:
    return SYSTEMS.index(row.system), row.distribution, row.processes * row.workers, row.workers


def _system(row: CoreRow) -> str:
    return system_of(row.system, row.distribution)


_SPEED = ["system", "processes x workers", "million words", "words/s (min to max)", "speed-up", "times gensim",
          "score", "finite"]  # fmt: skip
_COSTS = ["system", "processes x workers", "processor, µs a word", "of it kernel", "page faults a 1,000 words",
          "cores idle", "edges", "lock held", "lock held, ns a word", "making blocks, ns a word", "waiting, ns a word",
          "calling graphs, ns a word", "cores of coordinator, ps, workers"]  # fmt: skip


def _speed_cells(row: CoreRow) -> list[str]:
    return [
        _system(row),
        _shape(row),
        f"{row.words / 1e6:.1f}",
        show_spread(row.words_per_second, ",.0f"),
        _shown(row.speed_up, ".2f"),
        _shown(row.times_gensim, ".2f"),
        _shown(row.scores.get("mean"), ".2f"),
        "yes" if row.finite else "**NO**",
    ]


def _cost_cells(row: CoreRow) -> list[str]:
    return [
        _system(row),
        _shape(row),
        f"{row.cpu_us:.3f}",
        _shown(row.kernel_share, ".1%"),
        f"{row.page_faults:.1f}",
        f"{row.idle_share:.1%}",
        _shown(row.edge_share, ".1%"),
        _shown(row.lock_share, ".1%"),
        _shown(row.lock_ns, ".1f"),
        *(_shown(row.block_ns.get(name), ".1f") for name in _BLOCK_TIMES),
        ", ".join(f"{cores:.2f}" for cores in row.task_cores.values()) or MISSING,
    ]


def _score_cells(row: CoreRow) -> list[str]:
    return [row.mode, _system(row), _shape(row), *(_shown(row.scores.get(name), ".2f") for name in _SCORES)]


def _shape(row: CoreRow) -> str:
    return f"{row.processes} x {row.workers}"


def _shown(number: float | None, form: str) -> str:
    return MISSING if number is None else f"{number:{form}}"

"""The faults that `faults.py` has trainings suffer, one cell each, and the table of what came of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from report.reports import MISSING, show_middle, show_spread
from report.summaries import Run, mean_and_sd, spread

NONE, KILL, STOP, LINK = "none", "kill", "stop", "link"
VICTIMS = ("worker", "server", "coordinator", "all")
CLUSTERS = ((1, 2), (2, 4))  # servers, workers
LEAST_SCORE = 0.97  # of the mean of the undisturbed runs
_REPEATED = ("server", "coordinator")  # with a seed each, killed or stopped on the first cluster


@dataclass(frozen=True)
class Cell:
    """A fault, who suffers it, and in which training."""

    fault: str
    victim: str  # "" for an undisturbed run
    servers: int
    workers: int
    on_servers: bool
    seed: int = 1

    @property
    def kind(self) -> str:
        """Return the name without the seed."""
        parts = [self.fault, self.victim, f"{self.servers}+{self.workers}", "on-servers" if self.on_servers else ""]
        return "-".join(filter(None, parts))

    @property
    def name(self) -> str:
        """Return the name, for example "kill-server-1+2-on-servers-seed3"."""
        return f"{self.kind}-seed{self.seed}"


def all_cells(seeds: int) -> list[Cell]:
    """Return all cells, with those of one cluster one after the other."""
    return [cell for servers, workers in CLUSTERS for cell in _cells_of(servers, workers, seeds)]


def _cells_of(servers: int, workers: int, seeds: int) -> Iterator[Cell]:
    """Yield the cells of a cluster: undisturbed runs first, then one seed of each fault, then the other seeds."""
    for seed in range(1, seeds + 1):
        yield Cell(NONE, "", servers, workers, False, seed)
    faults = [(fault, victim, on) for fault in (KILL, STOP, LINK) for victim in VICTIMS for on in (False, True)]
    for fault, victim, on_servers in faults:
        yield Cell(fault, victim, servers, workers, on_servers)
    if (servers, workers) == CLUSTERS[0]:
        for fault, victim, on_servers in faults:
            if fault != LINK and victim in _REPEATED:
                for seed in range(2, seeds + 1):
                    yield Cell(fault, victim, servers, workers, on_servers, seed)


def undisturbed_score(runs: Sequence[Run], run: Run, of_seed: bool = False) -> float | None:
    """Return the mean score of the undisturbed runs on the same cluster, of all seeds or the same; None if none is."""
    same = [one for one in runs if _is_good(one) and one["fault"] == NONE and _cluster(one) == _cluster(run)]
    same = [one for one in same if not of_seed or one["seed"] == run["seed"]]
    scores = mean_and_sd(one["scores"]["mean"] for one in same)
    return scores and scores.mean


def table_of(runs: Sequence[Run], interval: float) -> list[list[str]]:
    """Return the table of all runs, a row for each kind of cell; `interval` is the words between checkpoints."""
    heading = ["fault", "of", "tasks", "vectors", "runs", "without an error", "train s", "recoveries"]
    heading += ["words again", "in intervals", "score", "of undisturbed", "of its seed", "tables left"]
    kinds: dict[str, list[Run]] = {}
    for run in runs:
        kinds.setdefault(run["kind"], []).append(run)
    return [heading, *(_row(group, runs, interval) for group in kinds.values())]


def _row(group: Sequence[Run], runs: Sequence[Run], interval: float) -> list[str]:
    good, first = [run for run in group if _is_good(run)], group[0]
    score, base = mean_and_sd(run["scores"]["mean"] for run in good), undisturbed_score(runs, first)
    again = spread(run["words_again"] for run in good)
    ratio = score.mean / base if score and base else None
    shown_ratio = MISSING if ratio is None else f"{ratio:.1%}"
    of_seed = mean_and_sd(_score_of_seed(run, runs) for run in good)
    left = sum(run["tables_left"] for run in good)
    return [
        first["fault"],
        first["victim"] or MISSING,
        "+".join(map(str, _cluster(first))),
        "servers" if first["on_servers"] else "model",
        str(len(group)),
        str(len(good)) if len(good) == len(group) else f"**{len(good)}**",
        _shown(good, "seconds", ".0f"),
        MISSING if not good else str(sum(run["recoveries"] for run in good)),
        _shown(good, "words_again", ",.0f"),
        MISSING if again is None else f"{again.high / interval:.2f}",
        MISSING if score is None else f"{score.mean:.2f}",
        shown_ratio if ratio is None or ratio >= LEAST_SCORE else f"**{shown_ratio}**",
        MISSING if of_seed is None else f"{of_seed.mean:.1%}",
        MISSING if not good else str(left),
    ]


def _score_of_seed(run: Run, runs: Sequence[Run]) -> float | None:
    """Return a run's score beside that of an undisturbed run with its seed."""
    base = undisturbed_score(runs, run, of_seed=True)
    return run["scores"]["mean"] / base if base else None


def errors_of(runs: Sequence[Run]) -> list[list[str]]:
    """Return a table of the runs that ended in an error, only its heading if there is none."""
    return [
        ["cell", "error"],
        *([run["name"], " / ".join(run["error"].splitlines())] for run in runs if "error" in run),
    ]


def _is_good(run: Run) -> bool:
    return "error" not in run


def _cluster(run: Run) -> tuple[Any, Any]:
    return run["servers"], run["workers"]


def _shown(runs: Sequence[Run], name: str, form: str) -> str:
    values = spread(run[name] for run in runs)
    return show_middle(values, form) if len(runs) < 2 else show_spread(values, form)

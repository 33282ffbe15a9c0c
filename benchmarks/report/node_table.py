"""Trainings on different numbers of machines → rows of the node table."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from report.reports import MEGABYTE, MISSING, show_score, show_spread
from report.summaries import MeanSd, Run, Spread, mean_and_sd, spread

# A published attempt with MPI: speed-up and accuracy by nodes.
PUBLISHED_SPEED_UPS = {1: 1.0, 2: 1.28, 4: 1.50, 6: 1.55, 8: 1.62, 10: 1.60, 16: 1.54, 32: 1.37}
PUBLISHED_ACCURACIES = {1: 0.757, 8: 0.523, 16: 0.689, 32: 0.721}
_STAGES = ("make", "pull", "compute", "push", "average", "idle")
_KINDS = ("worker", "ps", "coordinator")
_USUAL_STAGES = ("make", "pull", "compute", "push", "idle")  # columns that every table has


@dataclass(frozen=True)
class NodeRow:
    """All runs on so many workers; ratios are to the median of the fewest workers that ran."""

    workers: int
    worker_cores: int  # of each, where a benchmark compares workers of several sizes; otherwise 1
    runs: int
    seconds: Spread
    words_per_second: float
    speed_up: float
    efficiency: float  # speed-up by the times as many cores
    losses: list[float]  # of each epoch, medians; empty where none is reported
    scores: dict[str, MeanSd | None]
    score_ratio: float | None  # of the mean score
    bytes_per_word: float | None  # raw words of all epochs; as the interfaces counted, else as reported
    reported_bytes_per_word: float | None
    messages_per_word: float | None  # of workers and servers, as reported
    block_words: float | None  # raw
    staleness: float
    stage_shares: dict[str, float]  # of the workers' time; empty where none is reported
    cores_used: dict[str, float]  # on the average, by "worker", "ps" and "coordinator"
    cpu_seconds: dict[str, float]  # of all such machines
    cpu_us_per_word: dict[str, float]  # likewise
    peak_bytes: dict[str, float]  # resident memory of the largest task of each kind that there is
    finite: bool

    @property
    def cores(self) -> int:
        """Cores of all workers."""
        return self.workers * self.worker_cores


def rows_of(runs: Sequence[Run]) -> list[NodeRow]:
    """Return a row for each number of workers, and of their cores, among the successful runs, the fewest first."""
    groups: dict[tuple[int, int], list[Run]] = {}
    for run in runs:
        if "error" not in run:
            groups.setdefault((run.get("worker_cores", 1), run["workers"]), []).append(run)
    rows: list[NodeRow] = []
    for (cores, workers), members in sorted(groups.items(), key=itemgetter(0)):
        rows.append(_row(workers, cores, members, rows[0] if rows else None))
    return rows


def _row(workers: int, worker_cores: int, runs: Sequence[Run], base: NodeRow | None) -> NodeRow:
    seconds = spread(run["train_seconds"] for run in runs)
    assert seconds is not None
    speed_up = base.seconds.middle / seconds.middle if base else 1.0
    score_names = dict.fromkeys(name for run in runs for name in run["scores"] or {})
    scores = {name: mean_and_sd((run["scores"] or {}).get(name) for run in runs) for name in score_names}
    score, base_score = scores.get("mean"), (base.scores if base else scores).get("mean")
    words = runs[0]["raw_words"] * runs[0]["epochs"]
    cpu = {kind: _median(runs, lambda run, kind=kind: cpu_of(run, kind)) for kind in _KINDS}
    kinds = [kind for kind in _KINDS if _of_kind(runs[0]["peak_bytes"], kind)]
    reports = [run["report"] or {} for run in runs]
    # Spark counts the words in the same call, which is in its processor time and not in the seconds of training.
    measured = _median(runs, lambda run: run.get("fit_seconds", run["train_seconds"]))
    return NodeRow(
        workers=workers,
        worker_cores=worker_cores,
        runs=len(runs),
        seconds=seconds,
        words_per_second=words / seconds.middle,
        speed_up=speed_up,
        efficiency=speed_up * (base.cores if base else workers * worker_cores) / (workers * worker_cores),
        losses=[statistics.median(losses) for losses in zip(*(run["losses"] for run in runs), strict=True)],
        scores=scores,
        score_ratio=score.mean / base_score.mean if score and base_score and base_score.mean else None,
        bytes_per_word=_median_of_known(None if sent is None else sent / words for sent in map(_wire_bytes, runs)),
        reported_bytes_per_word=_median_of_known(report.get("bytes_per_word") for report in reports),
        messages_per_word=_median_of_known(None if sent is None else sent / words for sent in map(_messages, reports)),
        block_words=_median_of_known(words / max(report["blocks"], 1) for report in reports if "blocks" in report),
        staleness=statistics.median(report.get("staleness", {"mean": 0.0})["mean"] for report in reports),
        stage_shares={stage: _median(runs, lambda run, stage=stage: _stage_share(run, stage)) for stage in _of(runs)},
        cores_used={kind: used / measured for kind, used in cpu.items()},
        cpu_seconds=cpu,
        cpu_us_per_word={kind: 1e6 * used / words for kind, used in cpu.items()},
        peak_bytes={
            kind: _median(runs, lambda run, kind=kind: max(_of_kind(run["peak_bytes"], kind))) for kind in kinds
        },
        finite=all(run["finite"] for run in runs),
    )


def _of(runs: Sequence[Run]) -> list[str]:
    """Return the usual stages, and what else these runs report."""
    seconds = (runs[0]["report"] or {}).get("worker_seconds")
    return [stage for stage in _STAGES if stage in _USUAL_STAGES or stage in seconds] if seconds else []


def cpu_of(run: Run, kind: str) -> float:
    """Return the processor seconds of all machines of a kind: "worker", "ps" or "coordinator"."""
    return sum(_of_kind(run["cpu_seconds"], kind))


def _of_kind(figures: Mapping[str, float], kind: str) -> list[float]:
    """Return the figures of all machines of a kind."""
    return [figure for name, figure in figures.items() if name.startswith(kind)]


def _wire_bytes(run: Run) -> float | None:
    """Return the bytes between machines, None if nobody has counted them."""
    if run["sent_bytes"] is not None:
        return float(sum(run["sent_bytes"].values()))
    return (run["report"] or {}).get("bytes")


def _messages(report: Mapping[str, Any]) -> float | None:
    """Return how many messages workers have exchanged, None if the report does not say it."""
    tasks = report.get("tasks", {})  # servers count the same messages
    counts = [task["messages"] for name, task in tasks.items() if name.startswith("worker") and "messages" in task]
    return sum(counts) if counts else None


def _stage_share(run: Run, stage: str) -> float:
    seconds = run["report"]["worker_seconds"]
    return float(seconds.get(stage, 0.0) / max(sum(seconds.values()), 1e-9))


def _median(runs: Sequence[Run], figure: Callable[..., float]) -> float:
    return statistics.median(figure(run) for run in runs)


def _median_of_known(figures: Iterable[float | None]) -> float | None:
    known = spread(figures)
    return known and known.middle


def main_table(rows: Sequence[NodeRow]) -> list[list[str]]:
    """Return the table of what counts: time, speed-up, loss, scores and traffic."""
    heading = ["workers", "runs", "train s", "words/s", "speed-up", "efficiency", "published speed-up"]
    score_names = list(dict.fromkeys(name for row in rows for name in row.scores))
    heading += ["loss", *score_names, "mean to the first", "bytes a word", "finite"]
    table = [heading]
    for row in rows:
        published = PUBLISHED_SPEED_UPS.get(row.workers)
        table.append(
            [
                str(row.workers),
                str(row.runs),
                f"{row.seconds.middle:.1f}" if row.runs == 1 else show_spread(row.seconds, ".1f"),
                f"{row.words_per_second:,.0f}",
                f"{row.speed_up:.2f}",
                f"{row.efficiency:.0%}",
                MISSING if published is None else f"{published:.2f}",
                show_loss(row),
                *(show_score(row.scores.get(name)) for name in score_names),
                MISSING if row.score_ratio is None else f"{row.score_ratio:.1%}",
                show_number(row.bytes_per_word, ",.0f"),
                "yes" if row.finite else "**NO**",
            ]
        )
    return table


def cost_table(rows: Sequence[NodeRow], cores_a_worker: float | None) -> list[list[str]]:
    """Return the table of what holds the speed back: where workers' time and everyone's processor time go."""
    stages = [stage for stage in _STAGES if stage in _USUAL_STAGES or any(stage in row.stage_shares for row in rows)]
    heading = ["workers", "block words", "messages / million words", "staleness", *(f"{stage} %" for stage in stages)]
    heading += ["of their quota %", "worker cores", "ps cores", "coordinator cores"]
    heading += ["worker us a word", "ps us a word", "coordinator us a word", *(f"{kind} MB" for kind in _KINDS)]
    table = [heading]
    for row in rows:
        table.append(
            [
                str(row.workers),
                show_number(row.block_words, ",.0f"),
                show_number(row.messages_per_word and 1e6 * row.messages_per_word, ",.0f"),
                f"{row.staleness:.1f}",
                *(f"{100 * row.stage_shares.get(stage, 0.0):.0f}" for stage in stages),
                show_quota_used(row, cores_a_worker),
                *(f"{cores:.2f}" for cores in row.cores_used.values()),
                *(f"{cost:.2f}" for cost in row.cpu_us_per_word.values()),
                *(show_peak(row, kind) for kind in _KINDS),
            ]
        )
    return table


def show_quota_used(row: NodeRow, quota: float | None) -> str:
    """Return the percentage of the workers' quotas that they have used.

    Parameters
    ----------
    quota : float or None
        Of each core of a row with `worker_cores`, otherwise of each worker; None: there are no quotas.
    """
    return MISSING if quota is None else f"{100 * row.cores_used['worker'] / (row.cores * quota):.0f}"


def show_number(number: float | None, form: str) -> str:
    """Return the text of a number that may not be known."""
    return MISSING if number is None else f"{number:{form}}"


def show_loss(row: NodeRow) -> str:
    """Return the loss of the last epoch."""
    return f"{row.losses[-1]:.4f}" if row.losses else MISSING


def show_peak(row: NodeRow, kind: str) -> str:
    """Return the peak memory of the largest task of a kind, in megabytes."""
    return f"{row.peak_bytes[kind] / MEGABYTE:,.0f}" if kind in row.peak_bytes else MISSING

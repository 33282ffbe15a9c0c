"""Compares all designs of distributed training, gensim and Spark: `python benchmarks/designs.py --help`."""

from __future__ import annotations

import argparse
import functools
import sys
import tempfile
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from machines import networks, spark_cluster
from machines.emulated import MACHINE_SETTINGS, Cores, Machines, Starter, add_machine_arguments
from machines.gensim_machine import GensimMachine
from machines.processes import COORDINATOR
from machines.spark_cluster import MASTER, SparkCluster
from measuring.checkout import use_checkout
from measuring.corpora import cut_corpus
from measuring.design_cells import BOTH_MODES, ENTRANTS, GENSIM, OURS, SPARK, SYSTEMS, Cell, Workers, cells_of, names_of
from measuring.jobs import (
    MODES,
    Job,
    add_corpus_argument,
    add_dtype_arguments,
    add_model_arguments,
    job_from,
    number_from,
)
from report import pictures
from report.design_table import cost_table, design_rows, promise_table, result_table
from report.reports import add_output_arguments, earlier_runs, failure_tables, say, start_report
from report.stopping import status_of

_SETTINGS = ("vector_size", "epochs", "words", *(name for name in MACHINE_SETTINGS if name != "worker_cores"),
             "spark_memory", "compute_dtype", "cluster_dtype", "window", "negative", "min_count", "sample",
             "alpha")  # fmt: skip
_WORKERS = (Workers(1), Workers(4), Workers(10), Workers(2, 5))
_NOTES = (
    "train s: of our designs and gensim, the call of `train()`. Of Spark, the call of `fit()` without its first job, "
    "which counts the words. All tasks and executors have trained a little before, without a quota.",
    "words/s: raw words of the corpus times epochs, divided by train s. Speed-up: against the fewest workers of the "
    "same design. Times gensim: words/s to gensim's, which has a thread for each core of all workers, and their quotas "
    "together.",
    "workers: with one core each, unless their cores are given. gensim, Spark, and designs that use one core of a "
    "worker have only the former.",
    "Spark trains every occurrence of frequent words: it has no `sample`. Its epochs are `maxIter`, and it has a "
    "partition for each worker.",
    "loss: mean loss per pair of the last epoch. Scores: percent, mean ± standard deviation over runs.",
    "bytes a word: all bytes between machines, divided by raw words and epochs. idle: share of the workers' time, as "
    "they report it. Of their quota: processor seconds that workers used of those that they could have used.",
    "worker processor s: mean of the workers. MB: peak resident memory of the largest machine of its kind, from its "
    "start; of Spark, the sum of its processes' peaks. gensim's one machine counts as a worker. Spark's bytes and "
    "processor seconds include counting the words.",
)


def main(argv: list[str] | None = None) -> int:
    """Train what has no result yet; the exit status is 1 if a training failed."""
    arguments = _parser().parse_args(argv)
    names = [name for name in names_of(arguments.designs, arguments.systems) if _can_run(name, arguments)]
    with ExitStack() as stack:
        stack.enter_context(networks.alone())
        machines = Machines(arguments)
        stack.enter_context(closing(machines))
        table = DesignTable(arguments, machines)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tfw2v-designs-")))
        corpus = folder / "corpus.txt"
        cut_corpus(Path(arguments.corpus), arguments.words, corpus)
        for cell in cells_of(arguments.modes, names, arguments.workers, arguments.repeats):
            if not table.has(cell):
                start, cores = _machines_for(cell, arguments, machines)
                table.keep(cell, machines.run(_job_of(cell, arguments, corpus), folder, cores, start))
        table.draw()
        print(table.save())
    return 1 if any("error" in run for run in table.runs) else 0


def _can_run(name: str, arguments: argparse.Namespace) -> bool:
    reason = spark_cluster.why_not(arguments.spark_python) if name == SPARK else None
    if reason is not None:
        say(f"leaving out {name}: {reason}")
    return reason is None


def _machines_for(cell: Cell, arguments: argparse.Namespace, machines: Machines) -> tuple[Starter, Cores]:
    """Return what runs on the machines of a training, and the cores of each."""
    cores = machines.cores(*cell.workers)
    system = ENTRANTS[cell.name].system
    if system == GENSIM:
        return GensimMachine, {COORDINATOR: arguments.cpu * cell.workers.count}
    if system == SPARK:
        workers = {name: limit for name, limit in cores.items() if not name.startswith("ps")}
        start = functools.partial(SparkCluster, arguments.spark_python, arguments.spark_memory)
        return start, {MASTER: arguments.ps_cpu, **workers}
    from machines.cluster import NodeCluster

    return functools.partial(NodeCluster, worker_cores=cell.workers.cores), cores


def _job_of(cell: Cell, arguments: argparse.Namespace, corpus: Path) -> Job:
    entrant = ENTRANTS[cell.name]
    ours = {"distribution": cell.name, "schedule": "linear"} if entrant.system == OURS else {}
    settings = {"mode": cell.mode, "workers": cell.workers.count, "seed": 1 + cell.turn, **ours, **entrant.arguments}
    epochs = arguments.epochs * entrant.passes
    return job_from(arguments, system=entrant.system, corpus=str(corpus), epochs=epochs, **settings)


class DesignTable:
    """The results, those of earlier calls too, but not their errors; saved after every run."""

    def __init__(self, arguments: argparse.Namespace, machines: Machines) -> None:
        self.report = start_report("All designs, gensim and Spark", arguments, _SETTINGS, _NOTES)
        machines.describe_in(self.report)
        if spark_cluster.why_not(arguments.spark_python) is None:
            self.report.head["versions"]["pyspark"] = spark_cluster.spark_version(arguments.spark_python)
        self._cpu = arguments.cpu if machines.is_whole else None
        self.runs = [{"worker_cores": 1, **run} for run in earlier_runs(self.report, "designs") if "error" not in run]

    def has(self, cell: Cell) -> bool:
        """Return whether a training has a result."""
        return any(cell.label.items() <= run.items() for run in self.runs)

    def keep(self, cell: Cell, record: dict[str, Any]) -> None:
        """Add a run, print its results, and save."""
        self.runs.append({**cell.label, **record})
        what = record.get("error") or f"{record['train_seconds']:.1f} s, scores {record['scores']}"
        workers, cores = cell.workers
        say(f"{cell.mode} {cell.name}, {workers} workers of {cores} cores, round {cell.turn + 1}: {what}; "
            f"{record['seconds_in_all']:.0f} s in all")  # fmt: skip
        self.save()

    def save(self) -> str:
        """Write JSON and Markdown, and return the Markdown."""
        rows = design_rows(self.runs)
        tables = {}
        for mode in dict.fromkeys(row.mode for row in rows):
            of_mode = [row for row in rows if row.mode == mode]
            tables |= {
                f"Results, {mode}": result_table(of_mode),
                f"What it takes, {mode}": cost_table(of_mode, self._cpu),
            }
        tables |= {"What holds for each": promise_table(rows)} if rows else {}
        tables |= failure_tables([run | {"design": run["name"]} for run in self.runs], ("mode", "design", "workers"))
        return self.report.save(tables, {"rows": [asdict(row) for row in rows], "runs": self.runs})

    def draw(self) -> None:
        """Draw speed-ups, speeds and scores, or say which package is missing."""
        rows = design_rows(self.runs)
        if not pictures.is_possible():
            say("no picture: matplotlib is not installed (pip install '.[bench]')")
        elif rows:
            path = self.report.path("-by_workers.png")
            pictures.draw_designs(rows, path)
            self.report.pictures.append(path)


def _parser() -> argparse.ArgumentParser:
    use_checkout()
    from gensim_tfw2v.placement.designs import DESIGNS

    parser = argparse.ArgumentParser(
        description="Train by every design, with gensim and with Spark, on machines that this one emulates. As root on "
        "Linux, each has a network namespace, a processor quota and a limited link. A training that has a result in "
        "the results file is not run again."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "designs")
    add("--workers", nargs="+", type=workers_from, default=_WORKERS, metavar="N", help="so many workers of one core, "
        "or NxC: of C cores, each with --cpu, where a design uses them (default: 1 4 10 2x5)")  # fmt: skip
    add("--designs", nargs="+", choices=list(DESIGNS), default=list(DESIGNS), help="default: all")
    add("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), help="default: all; designs are of tfw2v")
    add("--modes", nargs="+", choices=list(MODES), default=list(BOTH_MODES), help="default: sg-neg sg-hs")
    add("--words", type=count, default=1_000_000, metavar="N", help="of the corpus, from its start (default 1000000)")
    add("--epochs", type=count, default=3, metavar="N", help="passes over the corpus (default 3)")
    add("--repeats", type=count, default=1, metavar="N", help="runs of each, each with a seed (default 1)")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--no-scores", dest="scores", action="store_false", help="measure speed only")
    add("--spark-python", default=sys.executable, metavar="PATH", help="a Python that has pyspark (default: this one)")
    add("--spark-memory", default="768m", metavar="SIZE", help="heap of each of Spark's executors (default 768m)")
    add_machine_arguments(parser, cpu=0.15, ps_cpu=0.1, coordinator_cpu=0.2, has_worker_cores=False)
    add_dtype_arguments(parser)
    add_model_arguments(parser)
    return parser


def workers_from(text: str) -> Workers:
    """Return the workers that "N" or "NxC" means: N workers, with C cores each."""
    count, times, cores = text.partition("x")
    if not (count.isdecimal() and int(count) and (cores.isdecimal() and int(cores) if times else not cores)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a number of workers like 4, nor workers and cores like 2x5"
        )
    return Workers(int(count), int(cores or 1))


if __name__ == "__main__":
    raise SystemExit(status_of(main))

"""Compares speed, memory and quality with gensim: `python benchmarks/compare.py --help`."""

from __future__ import annotations

import argparse
import itertools
from dataclasses import asdict
from pathlib import Path
from typing import Any

from measuring.jobs import (
    MODES,
    OPTIMIZERS,
    Job,
    add_corpus_argument,
    add_dtype_arguments,
    add_training_arguments,
    job_from,
    number_from,
    usable_cores,
)
from measuring.runner import run_all
from measuring.systems import SYSTEMS, InProcess, able_to_run, add_systems_arguments, find_or_build
from report import pictures
from report.reports import add_output_arguments, failure_tables, row_table, say, start_report
from report.stopping import status_of
from report.summaries import Row, rows_by

BASELINE = "gensim"
_LABELS = ("mode", "vector_size", "system")
_NOTES = (
    "words/s: raw words of the corpus, times epochs, divided by the seconds of training; median (slowest to fastest "
    "run). For tfw2v, training includes importing TensorFlow and making the first graph. Further columns have the "
    "seconds of these two, and the speed without them.",
    "speed ratio: median words/s divided by gensim's median (smallest to largest ratio of two runs of the same round); "
    "build_vocab ratio: gensim's seconds divided by the system's, likewise.",
    "peak RSS: the process with its children until training ended, importing TensorFlow included; median.",
    "scores: percent, mean ± standard deviation over runs (each round has another seed): Spearman's correlation on "
    "wordsim353 and simlex999, accuracy on the analogies, and the mean of the three.",
)


def main(argv: list[str] | None = None) -> int:
    """Run the comparison; the exit status is 1 if a run failed."""
    arguments = _parser().parse_args(argv)
    if arguments.programs is not None:
        find_or_build(arguments.systems, arguments.programs, say)
    jobs, curve_jobs = plan(arguments)
    comparison = Comparison(arguments)
    for mode, size in _cells(arguments):
        cell = [job for job in jobs if (job.mode, job.vector_size) == (mode, size)]
        run_all(cell, arguments.repeats, comparison.keep, say)
    run_all(curve_jobs, 1, comparison.keep_curve, say)
    comparison.draw()
    print(comparison.save())
    failures = [run for run in comparison.runs + comparison.curves if "error" in run]
    return 1 if failures else 0


def plan(arguments: argparse.Namespace) -> tuple[list[Job], list[Job]]:
    """Return the jobs of one round and the jobs for the curves, without systems that cannot run."""
    systems = able_to_run(arguments.systems, say, arguments.input)
    if not systems:
        raise SystemExit("compare: error: none of the systems asked for can run here")
    jobs = [
        job_from(arguments, mode=mode, vector_size=size, system=system)
        for (mode, size), system in itertools.product(_cells(arguments), systems)
        if mode in SYSTEMS[system].modes
    ]
    curve_jobs = [
        job_from(arguments, mode=job.mode, vector_size=job.vector_size, system=job.system, curve=True)
        for job in jobs
        if arguments.curves and isinstance(SYSTEMS[job.system], InProcess)
    ]
    return jobs, curve_jobs


class Comparison:
    """The results so far, saved after every run, so that an interrupted comparison keeps them."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        names = ("repeats", "epochs", "workers", "input", "window", "negative", "min_count", "sample", "alpha",
                 "schedule", "optimizer", "compute_dtype", "cluster_dtype", "subwords")  # fmt: skip
        self.report = start_report("Word2vec: speed, memory and quality", arguments, names, _NOTES)
        self.runs: list[dict[str, Any]] = []
        self.curves: list[dict[str, Any]] = []

    def keep(self, record: dict[str, Any]) -> None:
        """Add a run and save."""
        self.runs.append(record)
        self.save()

    def keep_curve(self, record: dict[str, Any]) -> None:
        """Add the points of a curve and save."""
        self.curves.append(record)
        self.save()

    def rows(self) -> list[Row]:
        """Return the rows of the table."""
        return rows_by(_LABELS, self.runs, ("mode", "vector_size"), {"system": BASELINE})

    def save(self) -> str:
        """Write JSON and Markdown, and return the Markdown."""
        rows = self.rows()
        tables = {"Results": row_table(rows, _LABELS)} if rows else {}
        tables |= failure_tables(self.runs + self.curves, ("mode", "vector_size", "system"))
        data = {"rows": [asdict(row) for row in rows], "runs": self.runs, "curves": self.curves}
        return self.report.save(tables, data)

    def draw(self) -> None:
        """Draw the pictures, or say which package is missing."""
        if not pictures.is_possible():
            say("no pictures: matplotlib is not installed (pip install '.[bench]')")
            return
        if rows := self.rows():
            pictures.draw_speed(rows, self._new_picture("speed"))
        if curves := [curve for curve in self.curves if "error" not in curve]:
            pictures.draw_quality(curves, self._new_picture("quality_over_time"))

    def _new_picture(self, kind: str) -> Path:
        path = self.report.path(f"-{kind}.png")
        self.report.pictures.append(path)
        return path


def _cells(arguments: argparse.Namespace) -> list[tuple[str, int]]:
    return list(itertools.product(arguments.modes, arguments.vector_size))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare speed, memory and quality with gensim.")
    add = parser.add_argument
    add_corpus_argument(parser)
    add_output_arguments(parser, "compare")
    add("--repeats", type=number_from(1), default=3, metavar="N", help="runs of every system in every cell (default 3)")
    add("--modes", nargs="+", choices=list(MODES), default=["sg-neg", "cbow-neg"], help="default: sg-neg cbow-neg")
    add("--vector-size", nargs="+", type=int, default=[100], metavar="N", help="one or more (default 100)")
    add_systems_arguments(parser)
    add("--workers", type=int, default=usable_cores(), metavar="N", help="default: all cores")
    add("--curves", action="store_true", help="one further run of each, scored after every epoch, with a picture")
    add("--optimizer", choices=OPTIMIZERS, help="of ours (default: the package's own)")
    add_training_arguments(parser)
    add_dtype_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

"""Measures a grid of tuning settings, or versions of the package: `python benchmarks/sweep.py --help`."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from measuring.checkout import HERE
from measuring.jobs import (
    MODES,
    OPTIMIZERS,
    TUNING,
    Job,
    add_corpus_argument,
    add_revision_argument,
    add_training_arguments,
    job_from,
    number_from,
    usable_cores,
)
from measuring.runner import run_all
from report.reports import add_output_arguments, failure_tables, row_table, say, start_report
from report.stopping import status_of
from report.summaries import rows_by

_LABELS = ("revision", *TUNING, "compute_dtype", "optimizer", "reproducible", "workers")
_NOTES = (
    "The columns are those of compare.py. Both ratios are to the first combination, measured in the same rounds.",
    f"`default` is the package's own choice. `{HERE}` is the package in the files of this checkout.",
)


def main(argv: list[str] | None = None) -> int:
    """Run the sweep; the exit status is 1 if a run failed."""
    arguments = _parser().parse_args(argv)
    jobs = grid(arguments)
    names = ("mode", "vector_size", "repeats", "epochs", "input", "window", "negative", "min_count", "sample", "alpha")
    report = start_report("Tuning sweep", arguments, names, _NOTES)
    first = {name: getattr(jobs[0], name) for name in _LABELS}
    runs: list[dict[str, Any]] = []

    def save() -> str:
        rows = rows_by(_LABELS, runs, (), first)
        tables = {"Results": row_table(rows, _LABELS)} if rows else {}
        tables |= failure_tables(runs)
        return report.save(tables, {"rows": [asdict(row) for row in rows], "runs": runs})

    def keep(record: dict[str, Any]) -> None:
        runs.append(record)
        save()

    run_all(jobs, arguments.repeats, keep, say)
    print(save())
    return 1 if any("error" in run for run in runs) else 0


def grid(arguments: argparse.Namespace) -> list[Job]:
    """Return a job for every combination of the settings."""
    combinations = itertools.product(*(getattr(arguments, name) for name in _LABELS))
    return [job_from(arguments, system="tfw2v", **dict(zip(_LABELS, values, strict=True))) for values in combinations]


def or_default(value: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function that reads such a value, and None for the word "default"."""

    def read(text: str) -> Any:
        return None if text == "default" else value(text)

    read.__name__ = f"{value.__name__} or 'default'"  # argparse names it in its error message
    return read


def yes_or_default(text: str) -> bool | None:
    """Return True for the word "yes", and None for "default"."""
    if text not in ("yes", "default"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'yes' nor 'default'")
    return True if text == "yes" else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure every combination of tuning settings and of versions of the package (--revision). Each "
        "flag takes several values, or the word 'default'."
    )
    add = parser.add_argument
    add_corpus_argument(parser)
    add_output_arguments(parser, "sweep")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=int, default=100, metavar="N", help="default: 100")
    add("--repeats", type=number_from(1), default=1, metavar="N", help="runs of every combination (default 1)")
    add_revision_argument(parser, nargs="+", default=[HERE])
    add("--batch-tokens", nargs="+", type=or_default(int), default=[None], metavar="N")
    add("--run-tokens", nargs="+", type=or_default(int), default=[None], metavar="N")
    add("--shared-negatives", nargs="+", type=or_default(int), default=[None], metavar="N")
    add("--update-bound", nargs="+", type=or_default(float), default=[None], metavar="X")
    add("--compute-dtype", nargs="+", type=or_default(str), default=[None], metavar="TYPE", help="bfloat16 or float32")
    add("--optimizer", nargs="+", choices=OPTIMIZERS, default=[None], help="default: the package's own")
    add("--reproducible", nargs="+", type=yes_or_default, default=[None], metavar="yes", help="default: no")
    add("--workers", nargs="+", type=int, default=[usable_cores()], metavar="N", help="default: all cores")
    add_training_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

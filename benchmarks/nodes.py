"""Measures training on 1, 2, 4, ... emulated machines: `python benchmarks/nodes.py --help`."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from machines import networks
from machines.emulated import MACHINE_SETTINGS, Machines, add_machine_arguments
from measuring.corpora import cut_corpus
from measuring.jobs import (
    MODES,
    add_corpus_argument,
    add_distribution_arguments,
    add_dtype_arguments,
    add_model_arguments,
    job_from,
    number_from,
)
from report import pictures
from report.node_table import cost_table, main_table, rows_of
from report.reports import add_output_arguments, failure_tables, say, start_report
from report.stopping import status_of

_SETTINGS = ("mode", "vector_size", "epochs", "words", *MACHINE_SETTINGS, "batch_words", "compute_dtype",
             "cluster_dtype", "distribution", "round_words", "repeats", "window", "negative", "min_count", "sample",
             "alpha")  # fmt: skip
_NOTES = (
    "train s: the coordinator's call of `train()`, which includes sending tables and fetching vectors. The tasks train "
    "a few blocks before, so that it does not include imports and the making of graphs.",
    'The learning rate falls evenly (`schedule="linear"`), whatever the number of workers.',
    "speed-up and efficiency: against the fewest workers in the table. Published: an attempt with MPI, whose accuracy "
    "was .757 on one node, .523 on 8, .689 on 16 and .721 on 32.",
    "loss: mean loss per pair of the last epoch. Scores: percent, mean ± standard deviation over runs.",
    "bytes a word: all bytes between machines, divided by raw words and epochs.",
    "messages: between workers and servers, of all workers, as they report them.",
    "staleness: blocks that others pushed between a block's pull and its push. make to idle: shares of the workers' "
    "time, which includes waiting for their quota. Cores: processor seconds of all such tasks, divided by train s.",
    "MB: peak resident memory of the largest task of its kind, importing TensorFlow included.",
)


def main(argv: list[str] | None = None) -> int:
    """Run the table; the exit status is 1 if a run failed."""
    arguments = _parser().parse_args(argv)
    with ExitStack() as stack:
        stack.enter_context(networks.alone())
        machines = Machines(arguments)
        stack.enter_context(closing(machines))
        table = NodeTable(arguments, machines)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tfw2v-nodes-")))
        corpus = str(folder / "corpus.txt")
        cut_corpus(Path(arguments.corpus), arguments.words, Path(corpus))
        for turn in range(arguments.repeats):
            for workers in arguments.workers[:: -1 if turn % 2 else 1]:
                job = job_from(arguments, system="tfw2v", corpus=corpus, workers=workers, seed=1 + turn,
                               schedule="linear")  # fmt: skip
                table.keep({"workers": workers, "round": turn, **machines.run(job, folder, machines.cores(workers))})
        table.draw()
        print(table.save())
    return 1 if any("error" in run for run in table.runs) else 0


class NodeTable:
    """The results so far, saved after every run, so that an interrupted table keeps them."""

    def __init__(self, arguments: argparse.Namespace, machines: Machines) -> None:
        self.report = start_report("Training on emulated machines", arguments, _SETTINGS, _NOTES)
        machines.describe_in(self.report)
        self._cpu = arguments.cpu if machines.is_whole else None
        self.runs: list[dict[str, Any]] = []

    def keep(self, record: dict[str, Any]) -> None:
        """Add a run, print its results, and save."""
        self.runs.append(record)
        what = record.get("error") or f"{record['train_seconds']:.1f} s, losses {record['losses']}"
        say(
            f"{record['workers']} workers, round {record['round'] + 1}: {what}; {record['seconds_in_all']:.0f} s in all"
        )
        self.save()

    def save(self) -> str:
        """Write JSON and Markdown, and return the Markdown."""
        rows = rows_of(self.runs)
        tables = {"Results": main_table(rows), "What it takes": cost_table(rows, self._cpu)} if rows else {}
        tables |= failure_tables(self.runs, ("workers",))
        return self.report.save(tables, {"rows": [asdict(row) for row in rows], "runs": self.runs})

    def draw(self) -> None:
        """Draw speed-up and scores, or say which package is missing."""
        rows = rows_of(self.runs)
        if not pictures.is_possible():
            say("no picture: matplotlib is not installed (pip install '.[bench]')")
        elif rows:
            path = self.report.path("-speed_up.png")
            pictures.draw_nodes(rows, path)
            self.report.pictures.append(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure training on 1, 2, 4, ... machines that this one emulates. As root on Linux, each task has "
        "a network namespace, a processor quota and a limited link. Otherwise tasks are plain processes."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "nodes")
    add("--workers", nargs="+", type=count, default=[1, 2, 4, 8, 16], metavar="N", help="default: 1 2 4 8 16")
    add("--words", type=count, default=2_000_000, metavar="N", help="of the corpus, from its start (default 2000000)")
    add("--repeats", type=count, default=1, metavar="N", help="runs of every number, each with a seed (default 1)")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--epochs", type=count, default=5, metavar="N", help="passes over the corpus (default 5)")
    add("--batch-words", type=count, metavar="N", help="raw words of a block (default: chosen)")
    add("--no-scores", dest="scores", action="store_false", help="measure speed only")
    add_machine_arguments(parser, cpu=0.1)
    add_dtype_arguments(parser)
    add_distribution_arguments(parser)
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

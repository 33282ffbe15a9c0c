"""Measures training on 1, 2, 4, ... emulated machines: `python benchmarks/nodes.py --help`."""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import node_network
import pictures
from corpora import cut_corpus
from jobs import (
    MODES,
    Job,
    add_corpus_argument,
    add_distribution_arguments,
    add_dtype_arguments,
    add_model_arguments,
    job_from,
    number_from,
)
from node_cluster import COORDINATOR, NodeCluster, NodeError
from node_network import Loopback, Network, NetworkError
from node_quotas import Quotas, find_quotas
from node_table import cost_table, main_table, rows_of
from reports import add_output_arguments, say, start_report
from stopping import status_of

_SETTINGS = ("mode", "vector_size", "epochs", "words", "ps", "cpu", "ps_cpu", "coordinator_cpu", "rate", "batch_words",
             "compute_dtype", "cluster_dtype", "distribution", "round_words", "repeats", "window", "negative",
             "min_count", "sample", "alpha")  # fmt: skip
_NOTES = (
    "train s: the coordinator's call of `train()`, which includes sending tables and fetching vectors. The tasks train "
    "a few blocks before, so that it does not include imports and the making of graphs.",
    'The learning rate falls evenly (`schedule="linear"`), whatever the number of workers.',
    "speed-up and efficiency: against the fewest workers in the table. Published: an attempt with MPI, whose accuracy "
    "was .757 on one node and .523 on sixteen.",
    "loss: mean loss per pair of the last epoch. Scores: percent, mean ± standard deviation over runs.",
    "bytes a word: all bytes between machines, divided by raw words and epochs.",
    "staleness: blocks that others pushed between a block's pull and its push. make to idle: shares of the workers' "
    "time, which includes waiting for their quota. Cores: processor seconds of all such tasks, divided by train s.",
)


def main(argv: list[str] | None = None) -> int:
    """Run the table; the exit status is 1 if a run failed."""
    arguments = _parser().parse_args(argv)
    with ExitStack() as stack:
        stack.enter_context(node_network.alone())
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
                table.keep({"workers": workers, "round": turn, **machines.run(job, folder)})
        table.draw()
        print(table.save())
    return 1 if any("error" in run for run in table.runs) else 0


class Machines:
    """The emulated machines: network namespaces, quotas and rates where the system allows them, else processes."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        plain = "--plain was given" if arguments.plain else None
        no_network = plain or node_network.why_not(None)
        no_rate = no_network or (arguments.rate and node_network.why_not(arguments.rate))
        quotas = plain or find_quotas()
        self._has_network = no_network is None
        self._rate = arguments.rate if no_rate is None else None
        self._quotas = quotas if isinstance(quotas, Quotas) else None
        limits = {"workers": arguments.cpu, "ps": arguments.ps_cpu, "coordinator": arguments.coordinator_cpu}
        limited = ", ".join(f"{name} {'unlimited' if cores is None else cores}" for name, cores in limits.items())
        self.emulated = {
            "machines": no_network or "a network namespace and an address for each task and the coordinator",
            "processor": f"cores for each of the {limited}" if self._quotas else quotas,
            "network": no_rate or (f"{self._rate} each way and machine" if self._rate else "unlimited"),
        }
        self.is_whole = self._has_network and self._quotas is not None and self._rate == arguments.rate

    def run(self, job: Job, folder: Path) -> dict[str, Any]:
        """Return the results of a training on new machines, or its "error"."""
        asked, began = self._arguments, time.monotonic()
        cores = {f"ps{number}": asked.ps_cpu for number in range(asked.ps)}
        cores |= {f"worker{number}": asked.cpu for number in range(job.workers)}
        cores |= {COORDINATOR: asked.coordinator_cpu}
        # The model's `workers` only decides between one block at a time and one for each worker of the cluster.
        job = job_from(argparse.Namespace(**asdict(job)), workers=max(2, job.workers))
        try:
            with ExitStack() as stack:
                network = Network(list(cores), self._rate) if self._has_network else Loopback(list(cores))
                stack.enter_context(closing(network))
                if self._quotas is not None:
                    stack.callback(self._quotas.clear)
                cluster = NodeCluster(network, self._quotas, cores, folder)
                stack.callback(cluster.stop)
                cluster.start()
                record = cluster.train(job, asked.batch_words)
        except (NodeError, NetworkError) as error:
            record = {"error": str(error)}
        return record | {"seed": job.seed, "seconds_in_all": time.monotonic() - began}

    def close(self) -> None:
        """Remove network namespaces and quotas that are left."""
        if self._has_network:
            node_network.clear()
        if self._quotas is not None:
            self._quotas.clear()


class NodeTable:
    """The results so far, saved after every run, so that an interrupted table keeps them."""

    def __init__(self, arguments: argparse.Namespace, machines: Machines) -> None:
        emulated = [f"{part}: {how}" for part, how in machines.emulated.items()]
        self.report = start_report("Training on emulated machines", arguments, _SETTINGS, (*_NOTES, *emulated))
        if not machines.is_whole:
            warning = "NOT ALL OF IT IS EMULATED: " + "; ".join(emulated)
            say(f"\n*** {warning} ***\n")
            self.report.head["warnings"].append(warning)
        self.report.head["emulated"] = machines.emulated
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
        failed = [[str(run["workers"]), " / ".join(run["error"].splitlines())] for run in self.runs if "error" in run]
        tables |= {"Failed runs": [["workers", "error"], *failed]} if failed else {}
        return self.report.save(tables, {"rows": [asdict(row) for row in rows], "runs": self.runs})

    def draw(self) -> None:
        """Draw speed-up and scores, or say which package is missing."""
        rows = rows_of(self.runs)
        if not pictures.is_possible():
            say("no picture: matplotlib is not installed (pip install 'gensim-tfw2v[bench]')")
        elif rows:
            path = self.report.path("-speed_up.png")
            pictures.draw_nodes(rows, path)
            self.report.pictures.append(path)


def _rate(text: str) -> str | None:
    if text == "unlimited":
        return None
    if not re.fullmatch(r"[1-9][0-9]*[kmg]?bit", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no rate like 100mbit or 1gbit, nor 'unlimited'")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure training on 1, 2, 4, ... machines that this one emulates. As root on Linux, each task has "
        "a network namespace, a processor quota and a limited link. Otherwise tasks are plain processes."
    )
    add, count, cores = parser.add_argument, number_from(1), number_from(0.01, float)
    add_corpus_argument(parser)
    add_output_arguments(parser, "nodes")
    add("--workers", nargs="+", type=count, default=[1, 2, 4, 8, 16], metavar="N", help="default: 1 2 4 8 16")
    add("--ps", type=count, default=2, metavar="N", help="parameter servers (default 2)")
    add("--words", type=count, default=2_000_000, metavar="N", help="of the corpus, from its start (default 2000000)")
    add("--cpu", type=cores, default=0.1, metavar="X", help="cores of a worker (default 0.1)")
    add("--ps-cpu", type=cores, metavar="X", help="cores of a parameter server (default: unlimited)")
    add("--coordinator-cpu", type=cores, metavar="X", help="cores of the coordinator (default: unlimited)")
    add("--rate", type=_rate, default="1gbit", help="of every machine's link, each way (default 1gbit; or unlimited)")
    add("--plain", action="store_true", help="plain processes, as without root")
    add("--repeats", type=count, default=1, metavar="N", help="runs of every number, each with a seed (default 1)")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--epochs", type=count, default=5, metavar="N", help="passes over the corpus (default 5)")
    add("--batch-words", type=count, metavar="N", help="raw words of a block (default: chosen)")
    add("--no-scores", dest="scores", action="store_false", help="measure speed only")
    add_dtype_arguments(parser)
    add_distribution_arguments(parser)
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

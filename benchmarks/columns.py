"""Measures bytes and speed of tables cut by columns and of blocks of rows: `python benchmarks/columns.py --help`."""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from machines import networks
from machines.cluster import NodeCluster
from machines.emulated import rate_from
from machines.networks import Network, NetworkError
from machines.processes import COORDINATOR, NodeError
from measuring.corpora import cut_corpus, write_zipf_corpus
from measuring.jobs import DTYPES, Job, add_corpus_argument, add_model_arguments, job_from, number_from
from report.reports import Report, add_output_arguments, earlier_runs, failure_tables, say, start_report
from report.stopping import status_of

DESIGNS = ("columns", "downpour")
CORPORA = ("corpus", "zipf")
_UNLIMITED = "unlimited"
_SETTINGS = ("words", "zipf_vocabulary", "zipf_words", "seed", "vector_size", "epochs", "ps", "workers", "batch_words",
             "cluster_dtype", "window", "negative", "min_count", "sample", "alpha")  # fmt: skip
_MESSAGE_BYTES = 600  # beside its numbers: TensorFlow's request and answer, with gRPC's and TCP's heads
_MODEL_BYTES = 8  # of each word, which a worker fetches once: chance to be kept, place in the table of negatives
_NOTES = (
    "bytes a word: all that the interfaces of the workers' machines sent and received while they trained, divided by "
    "raw words and epochs. Tables on their way to servers and back do not pass them.",
    "formula: the numbers and ids that are exchanged, what frames them, and the model that each worker fetches.",
    f"frames: {_MESSAGE_BYTES} bytes for each message. Emulated interfaces take large packets; the heads of small ones "
    "would add about 5 %.",
    "zipf: a corpus of different words whose frequencies fall as 1 / rank; each of them is in it.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure each design on each corpus; the exit status is 1 if a run failed."""
    arguments = _parser().parse_args(argv)
    with ExitStack() as stack:
        stack.enter_context(networks.alone())  # before anything that removes the machines of another benchmark
        for rate in arguments.rates:
            if reason := networks.why_not(rate):
                raise SystemExit(f"columns: error: only emulated machines count their own bytes, and {reason}")
        table = ByteTable(arguments)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tfw2v-columns-")))
        for corpus, rate, design in itertools.product(arguments.corpora, arguments.rates, DESIGNS):
            cell = {"corpus": corpus, "rate": rate or _UNLIMITED, "design": design}
            if table.has(cell):
                continue
            path = folder / f"{corpus}.txt"
            if not path.exists():
                _write_corpus(corpus, arguments, path)
            table.keep(cell, _run(arguments, cell, rate, path, folder))
        print(table.save())
    return 1 if any("error" in run for run in table.runs) else 0


def _write_corpus(name: str, arguments: argparse.Namespace, path: Path) -> None:
    if name == "corpus":
        cut_corpus(Path(arguments.corpus), arguments.words, path)
    else:
        write_zipf_corpus(arguments.zipf_vocabulary, arguments.zipf_words, arguments.seed, path)


def _run(
    arguments: argparse.Namespace, cell: Mapping[str, str], rate: str | None, path: Path, folder: Path
) -> dict[str, Any]:
    """Return the results of a training on new machines, or its "error"."""
    names = [f"ps{number}" for number in range(arguments.ps)]
    names += [f"worker{number}" for number in range(arguments.workers)] + [COORDINATOR]
    own = {"min_count": 1} if cell["corpus"] == "zipf" else {}
    job: Job = job_from(
        arguments,
        system="tfw2v",
        corpus=str(path),
        distribution=cell["design"],
        schedule="linear",
        scores=False,
        **own,
    )
    began = time.monotonic()
    try:
        with ExitStack() as stack:
            network = Network(names, rate)
            stack.callback(network.close)
            cluster = NodeCluster(network, None, dict.fromkeys(names), folder)
            stack.callback(cluster.stop)
            cluster.start()
            record = cluster.train(job, arguments.batch_words)
    except (NodeError, NetworkError) as error:
        record = {"error": str(error)}
    return record | {"seconds_in_all": time.monotonic() - began}


class ByteTable:
    """The results, those of earlier calls too; saved after every run."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.report: Report = start_report("Bytes of columns and of rows", arguments, _SETTINGS, _NOTES)
        runs = earlier_runs(self.report, "columns")
        self.runs = [{"rate": _UNLIMITED, **run} for run in runs if "error" not in run]

    def has(self, cell: Mapping[str, str]) -> bool:
        """Return whether there is a result."""
        return any(cell.items() <= run.items() for run in self.runs)

    def keep(self, cell: Mapping[str, str], record: dict[str, Any]) -> None:
        """Add a run, print its results, and save."""
        self.runs.append({**cell, **record})
        what = record.get("error") or f"{measured_bytes(record) / words_of(record):.1f} bytes a word"
        say(f"{', '.join(cell.values())}: {what}; {record['seconds_in_all']:.0f} s in all")
        self.save()

    def save(self) -> str:
        """Write JSON and Markdown, and return the Markdown."""
        good = [run for run in self.runs if "error" not in run]
        tables = {"Results": table_of(good)} if good else {}
        tables |= failure_tables(self.runs, ("corpus", "rate", "design"))
        return self.report.save(tables, {"runs": self.runs})


def words_of(run: dict[str, Any]) -> int:
    """Return the raw words of all epochs."""
    return int(run["raw_words"]) * len(run["losses"])


def measured_bytes(run: dict[str, Any]) -> int:
    """Return what all workers' machines sent and received."""
    workers = [name for name in run["sent_bytes"] if name.startswith("worker")]
    return sum(int(run[way][name]) for way in ("sent_bytes", "received_bytes") for name in workers)


def formula_bytes(run: dict[str, Any]) -> dict[str, float]:
    """Return the parts of the bytes by formula: numbers and ids, frames of messages, the model."""
    report = run["report"]
    workers = [task for name, task in report["tasks"].items() if name.startswith("worker")]
    model = _MODEL_BYTES * run["vocabulary"] * len(workers)
    frames = _MESSAGE_BYTES * sum(task["messages"] for task in workers)
    return {"numbers and ids": report["bytes"], "frames": frames, "model": model}


def table_of(runs: list[dict[str, Any]]) -> list[list[str]]:
    """Return the table of results."""
    heading = ["corpus", "links", "design", "vocabulary", "kept", "bytes a word", "formula", "of it numbers and ids",
               "frames", "model", "measured / formula", "words/s", "loss"]  # fmt: skip
    table = [heading]
    for run in runs:
        words, parts = words_of(run), formula_bytes(run)
        measured, formula = measured_bytes(run) / words, sum(parts.values()) / words
        table.append(
            [
                *(run["corpus"], run["rate"], run["design"], f"{run['vocabulary']:,}"),
                f"{run['report']['trained_words'] / words:.2f}",
                f"{measured:.1f}",
                f"{formula:.1f}",
                *(f"{part / words:.1f}" for part in parts.values()),
                f"{measured / formula:.2f}",
                f"{words / run['train_seconds']:,.0f}",
                f"{run['losses'][-1]:.4f}",
            ]
        )
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Count the bytes of trainings on emulated machines, as root on Linux: tables cut by columns, and "
        "blocks of rows. A run that has a result in the results file is not run again."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "columns")
    add("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA), help="default: both")
    add("--rates", nargs="+", type=rate_from, default=[None], metavar="RATE", help="of every machine's link, each way, "
        "such as 100mbit (default: unlimited)")  # fmt: skip
    add("--words", type=count, default=2_000_000, metavar="N", help="of the corpus, from its start (default 2000000)")
    add("--zipf-vocabulary", type=count, default=1_000_000, metavar="N", help="different words (default 1000000)")
    add("--zipf-words", type=count, default=4_000_000, metavar="N", help="of the synthetic corpus (default 4000000)")
    add("--seed", type=int, default=1, metavar="N", help="of that corpus and of all trainings (default 1)")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--epochs", type=count, default=1, metavar="N", help="passes over the corpus (default 1)")
    add("--ps", type=count, default=2, metavar="N", help="parameter servers (default 2)")
    add("--workers", type=count, default=2, metavar="N", help="default: 2")
    add("--batch-words", type=count, metavar="N", help="raw words of a block (default: chosen)")
    add("--cluster-dtype", choices=DTYPES, default="float32", help="of all that travels (default float32)")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

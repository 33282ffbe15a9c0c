"""Trains with tables in memory and in files, under a limit of memory: `python benchmarks/tables_on_disk.py --help`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from machines.memory_limits import join, memory_limit
from measuring.checkout import use_checkout
from measuring.corpora import write_zipf_corpus
from measuring.jobs import number_from
from measuring.memory import status_number
from report.reports import Report, add_output_arguments, say, start_report

_SETTINGS = ("vocabulary", "words", "vector_size", "optimizer", "workers", "epochs", "limits", "seed")
_NOTES = (
    "words/s: raw words of all epochs, in the seconds of `train()`.",
    "anonymous: the most memory that is no page of a file, read ten times a second. resident: with pages of files, "
    "which the kernel may write and drop at any time.",
    "limit: of a control group with all of this, and with the kernel's memory for files.",
    "The corpus has different words whose frequencies fall as 1 / rank, each of them at least once.",
)
_MEMORY, _DISK = "memory", "disk"
_GIGABYTE = 1e9
_SECONDS_BETWEEN_READINGS = 0.1


def main(argv: list[str] | None = None) -> int:
    """Train in a process for each place and limit, and save what they took."""
    arguments = _parser().parse_args(argv)
    if arguments.place:
        return _train(arguments)
    report: Report = start_report("Tables in memory and on disk", arguments, _SETTINGS, _NOTES)
    runs = []
    with tempfile.TemporaryDirectory(prefix="tfw2v-tables-", dir=arguments.folder) as folder:
        corpus = Path(folder) / "corpus.txt"
        write_zipf_corpus(arguments.vocabulary, arguments.words, arguments.seed, corpus)
        for place, limit in [(_MEMORY, None), *((_DISK, limit) for limit in [None, *arguments.limits])]:
            runs.append(_run(place, limit, corpus, arguments))
            print(report.save({"Results": table(runs)}, {"runs": runs}))
    return 0


def _run(place: str, gigabytes: float | None, corpus: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the results of a training in a process of its own."""
    command = [sys.executable, __file__, "--place", place, "--corpus", str(corpus)]
    for name in ("vector_size", "optimizer", "workers", "epochs", "seed"):
        command += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
    with memory_limit(None if gigabytes is None else int(gigabytes * _GIGABYTE)) as limit:
        if limit is not None:
            command += ["--group", str(limit.group)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        anonymous = 0
        while process.poll() is None:
            try:
                anonymous = max(anonymous, status_number(process.pid, "RssAnon"))
            except (FileNotFoundError, ProcessLookupError):  # it is ending
                break
            time.sleep(_SECONDS_BETWEEN_READINGS)
        printed, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"tables_on_disk.py: the training ended with status {process.returncode}")
        found = {"place": place, "limit_gb": gigabytes, "anonymous_bytes": anonymous, **json.loads(printed)}
        if limit is not None:
            found["group_bytes"] = limit.peak()
    say(f"{place}, limit {gigabytes}: {found['words'] / found['seconds']:,.0f} words/s")
    return found


def _train(arguments: argparse.Namespace) -> int:
    """Train in this process, and print the results as JSON."""
    if arguments.group is not None:
        join(arguments.group)
    use_checkout()
    from gensim_tfw2v import TFWord2Vec

    folder = arguments.corpus.parent if arguments.place == _DISK else None
    settings = {"vector_size": arguments.vector_size, "sg": 1, "min_count": 1, "sample": 0, "progress": False,
                "optimizer": arguments.optimizer, "workers": arguments.workers, "seed": arguments.seed}  # fmt: skip
    began = time.perf_counter()
    model = TFWord2Vec(tables_dir=folder, **settings)
    model.build_vocab(corpus_file=str(arguments.corpus))
    built = time.perf_counter()
    sizes = {"total_words": model.corpus_total_words, "total_examples": model.corpus_count}
    _, words = model.train(corpus_file=str(arguments.corpus), epochs=arguments.epochs, **sizes)
    found = {
        "words": words,
        "seconds": time.perf_counter() - built,
        "seconds_before": built - began,
        "rows": len(model.wv.vectors) + len(model.syn1neg),
        "loss": model.epoch_losses[-1],
        "resident_bytes": status_number(process_id(), "VmHWM"),
    }
    print(json.dumps(found))
    return 0


def process_id() -> int:
    """Return this process's number."""
    import os

    return os.getpid()


def table(runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return the results as a table with a heading."""
    found = [["tables", "limit GB", "rows", "words/s", "seconds before", "anonymous GB", "resident GB", "loss"]]
    for run in runs:
        found.append(
            [
                run["place"],
                "-" if run["limit_gb"] is None else f"{run['limit_gb']:g}",
                f"{run['rows']:,}",
                f"{run['words'] / run['seconds']:,.0f}",
                f"{run['seconds_before']:.0f}",
                *(f"{run[name] / _GIGABYTE:.2f}" for name in ("anonymous_bytes", "resident_bytes")),
                f"{run['loss']:.4f}",
            ]
        )
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Train Zipf's words with tables in memory, in files, and in files under limits of memory (root, "
        "Linux): words/s and memory."
    )
    add, count = parser.add_argument, number_from(1)
    add_output_arguments(parser, "tables_on_disk")
    add("--vocabulary", type=count, default=4_000_000, metavar="N", help="different words (default 4000000)")
    add("--words", type=count, default=20_000_000, metavar="N", help="of the corpus, about (default 20000000)")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--optimizer", choices=("sgd", "adagrad"), default="adagrad", help="default: adagrad")
    add("--workers", type=count, default=2, metavar="N", help="default: 2")
    add("--epochs", type=count, default=1, metavar="N", help="default: 1")
    add("--limits", type=number_from(1e-3, float), nargs="*", default=[3.0, 2.0], metavar="GB", help="default: 3 2")
    add("--seed", type=int, default=1, metavar="N", help="of corpus and model (default 1)")
    add("--folder", type=Path, metavar="DIR", help="where corpus and tables are while it runs (default: the system's)")
    add("--place", choices=(_MEMORY, _DISK), help=argparse.SUPPRESS)  # of a single training
    add("--corpus", type=Path, help=argparse.SUPPRESS)
    add("--group", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

"""Trains with tables in memory and in files, under a limit of memory: `python benchmarks/tables_on_disk.py --help`."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
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
from report.reports import MISSING, Report, add_output_arguments, say, start_report

_SETTINGS = ("vocabulary", "words", "vector_size", "optimizer", "workers", "epochs", "limits", "seed")
_NOTES = (
    "limit: of a control group, with the pages of files that its processes use. killed: the kernel ended the training, "
    "because memory that is no page of a file had no room.",
    "words/s: raw words of all epochs, in the seconds of `train()`.",
    "anonymous: the most memory that was no page of a file, read ten times a second. resident: with pages of files, "
    "which the kernel may write and drop at any time.",
    "read, written: by the disk, for this process. A page counts again each time when it has changed since it was "
    "written.",
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
        for limit in (None, *arguments.limits):
            for place in (_MEMORY, _DISK):
                runs.append(_run(place, limit, corpus, arguments))
    print(report.save({"Results": table(runs)}, {"runs": runs}))
    return 0


def _run(place: str, gigabytes: float | None, corpus: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the results of a training in a process of its own."""
    command = [sys.executable, __file__, "--place", place, "--corpus", str(corpus)]
    for name in ("vector_size", "optimizer", "workers", "epochs", "seed"):
        command += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
    with memory_limit(None if gigabytes is None else int(gigabytes * _GIGABYTE)) as group:
        if group is not None:
            command += ["--group", str(group)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        anonymous = _most_anonymous(process)
        printed, _ = process.communicate()
    found = {"place": place, "limit_gb": gigabytes, "anonymous_bytes": anonymous}
    if process.returncode == -signal.SIGKILL and group is not None:
        say(f"tables: {place}, limit: {gigabytes} GB, killed")
        return found | {"is_killed": True}
    if process.returncode:
        raise SystemExit(f"tables_on_disk.py: a training ended with status {process.returncode}")
    found |= {"is_killed": False, **json.loads(printed)}
    say(f"tables: {place}, limit: {gigabytes} GB, {found['raw_words'] / found['seconds']:,.0f} words/s")
    return found


def _most_anonymous(process: subprocess.Popen[str]) -> int:
    """Return the most anonymous memory in bytes that a process has until it ends."""
    most = 0
    while process.poll() is None:
        try:
            most = max(most, status_number(process.pid, "RssAnon"))
        except (FileNotFoundError, ProcessLookupError):  # it is ending
            break
        time.sleep(_SECONDS_BETWEEN_READINGS)
    return most


def _train(arguments: argparse.Namespace) -> int:
    """Train in this process, and print the results as JSON."""
    if arguments.group is not None:
        join(arguments.group)
    use_checkout()
    from gensim_tfw2v import TFWord2Vec

    corpus = str(arguments.corpus)
    settings = {"vector_size": arguments.vector_size, "sg": 1, "min_count": 1, "sample": 0, "progress": False,
                "optimizer": arguments.optimizer, "workers": arguments.workers, "seed": arguments.seed}  # fmt: skip
    model = TFWord2Vec(tables_dir=arguments.corpus.parent if arguments.place == _DISK else None, **settings)
    model.build_vocab(corpus_file=corpus)
    began = time.perf_counter()
    sizes = {"total_words": model.corpus_total_words, "total_examples": model.corpus_count}
    _, raw_words = model.train(corpus_file=corpus, epochs=arguments.epochs, **sizes)
    found = {
        "raw_words": raw_words,
        "seconds": time.perf_counter() - began,
        "rows": len(model.wv.vectors) + len(model.syn1neg),
        "loss": model.epoch_losses[-1],
        "resident_bytes": status_number(os.getpid(), "VmHWM"),
        "read_bytes": _disk_bytes("read_bytes"),
        "written_bytes": _disk_bytes("write_bytes"),
    }
    print(json.dumps(found))
    return 0


def _disk_bytes(what: str) -> int:
    """Return what Linux counts of this process: bytes read from disks, or to be written there."""
    found = re.search(rf"^{what}: (\d+)$", Path("/proc/self/io").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def table(runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return the results as a table with a heading."""
    sizes = ("anonymous", "resident", "read", "written")
    found = [["tables", "limit GB", "rows", "words/s", *(f"{size} GB" for size in sizes), "loss"]]
    for run in runs:
        limit = MISSING if run["limit_gb"] is None else f"{run['limit_gb']:g}"
        bytes_of = (run.get(f"{size}_bytes") for size in sizes)
        found.append(
            [
                run["place"],
                limit,
                MISSING if run["is_killed"] else f"{run['rows']:,}",
                "killed" if run["is_killed"] else f"{run['raw_words'] / run['seconds']:,.0f}",
                *(MISSING if count is None else f"{count / _GIGABYTE:.2f}" for count in bytes_of),
                MISSING if run["is_killed"] else f"{run['loss']:.4f}",
            ]
        )
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Train Zipf's words with tables in memory and in files, without a limit of memory and under some "
        "(root, Linux): words/s, memory, and bytes of the disk."
    )
    add, count = parser.add_argument, number_from(1)
    add_output_arguments(parser, "tables_on_disk")
    add("--vocabulary", type=count, default=1_000_000, metavar="N", help="different words (default 1000000)")
    add("--words", type=count, default=2_000_000, metavar="N", help="of the corpus, about (default 2000000)")
    add("--vector-size", type=count, default=300, metavar="N", help="default: 300")
    add("--optimizer", choices=("sgd", "adagrad"), default="adagrad", help="default: adagrad")
    add("--workers", type=count, default=2, metavar="N", help="default: 2")
    add("--epochs", type=count, default=1, metavar="N", help="default: 1")
    add("--limits", type=number_from(1e-3, float), nargs="*", default=[1.5], metavar="GB", help="default: 1.5")
    add("--seed", type=int, default=1, metavar="N", help="of corpus and model (default 1)")
    add("--folder", type=Path, metavar="DIR", help="where corpus and tables are while it runs (default: the system's)")
    add("--place", choices=(_MEMORY, _DISK), help=argparse.SUPPRESS)  # of a single training
    add("--corpus", type=Path, help=argparse.SUPPRESS)
    add("--group", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

"""Trains many times on one cluster and reads what its processes keep: `python benchmarks/many_trainings.py --help`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measuring.corpora import cut_corpus
from measuring.jobs import add_corpus_argument, number_from
from measuring.memory import status_number
from report.reports import MEGABYTE, Report, add_output_arguments, say, start_report
from report.stopping import status_of

COORDINATOR = ("coordinator", 0)
MOST_GROWTH = 1.05
_SETTINGS = ("trainings", "look_at", "recoveries", "words", "vector_size", "ps", "workers", "vectors_on_servers")
_NOTES = (
    "Each training has a model and a folder of checkpoints of its own, and four checkpoints at least.",
    "A recovery: a server is killed in the midst of a training and started again, and the training resumes. The first "
    "one harms the last server, the next one the server before it, and so on.",
    "Memory is resident memory after a training, of which a process keeps what it has once used.",
    "Threads: when a lost task is connected again, TensorFlow leaves four further threads in some processes, and its "
    "network library has one more now and then. More than these are marked.",
)
_THREADS_A_RECOVERY, _THREADS_NOW_AND_THEN = 4, 1  # that TensorFlow leaves, and that come and go
_CHECKPOINTS = 4  # in each training
_BLOCKS = 20
_PAUSE = 1.0  # seconds until a killed server is started again


@dataclass(frozen=True)
class Kept:
    """What a process has after a training."""

    training: int
    job: str
    task: int
    process: int
    memory_bytes: int
    descriptors: int
    threads: int


def main(argv: list[str] | None = None) -> int:
    """Train and report; the exit status is 1 if a process has grown."""
    arguments = _parser().parse_args(argv)
    report = start_report("Many trainings on one cluster", arguments, _SETTINGS, _NOTES)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        cut_corpus(Path(arguments.corpus), arguments.words, corpus)
        sentences = [line.split() for line in corpus.read_text(encoding="utf-8").splitlines()]
    kept = train_many(sentences, arguments, report)
    early, late = arguments.look_at
    table, has_grown = _table(kept, early, late, sum(early < number <= late for number in arguments.recoveries))
    print(report.save({"Results": table}, {"kept": [asdict(one) for one in kept]}))
    return int(has_grown)


class Corpus:
    """Sentences, in the midst of whose second pass a function is called once in a thread of its own."""

    def __init__(self, sentences: Sequence[list[str]], harm: Any = None) -> None:
        self._sentences, self._harm = sentences, harm
        self._left = 3 * len(sentences) // 2

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in self._sentences:
            if self._harm is not None and self._left == 0:
                threading.Thread(target=self._harm).start()
            self._left -= 1
            yield sentence


def train_many(sentences: Sequence[list[str]], arguments: argparse.Namespace, report: Report) -> list[Kept]:
    """Return what each process of a cluster has after each training, and the coordinator last."""
    from gensim_tfw2v import local_cluster

    kept: list[Kept] = []
    with local_cluster(arguments.ps, arguments.workers) as cluster:
        for number in range(1, arguments.trainings + 1):
            harmed = None
            if number in arguments.recoveries:
                harmed = (arguments.ps - 1 - arguments.recoveries.index(number)) % arguments.ps
            recovered = _train(cluster, sentences, arguments, number, harmed)
            if (harmed is not None) != recovered:
                raise SystemExit(f"many_trainings: error: training {number} has recovered {recovered} times")
            gc.collect()
            processes = {**{task: process.pid for task, process in cluster.processes.items()}, COORDINATOR: os.getpid()}
            kept += [kept_by(number, job, task, process) for (job, task), process in processes.items()]
            say(f"training {number}: {kept[-1].memory_bytes / MEGABYTE:,.0f} MB in the coordinator")
    return kept


def _train(
    cluster: Any, sentences: Sequence[list[str]], arguments: argparse.Namespace, number: int, harmed: int | None
) -> int:
    """Train a model, harm that server meanwhile, and return how often training has recovered."""
    from gensim_tfw2v import TFWord2Vec

    def kill_and_start() -> None:
        process = cluster.processes["ps", harmed]
        process.kill()
        process.wait()
        time.sleep(_PAUSE)
        cluster.start("ps", harmed)

    with tempfile.TemporaryDirectory() as folder:
        model = TFWord2Vec(
            vector_size=arguments.vector_size,
            sg=1,
            seed=number,
            epochs=2,
            batch_words=max(1000, arguments.words // _BLOCKS),
            cluster=cluster,
            vectors_on_servers=arguments.vectors_on_servers,
            checkpoint_dir=folder,
            checkpoint_every=f"{2 * arguments.words // _CHECKPOINTS} words",
            cache_memory=0,
            progress=False,
        )
        model.build_vocab(sentences)
        corpus = Corpus(sentences, None if harmed is None else kill_and_start)
        model.train(corpus, total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=2)
        model.free_server_vectors()
        report = model.training_report
    assert report is not None
    return int(report["recoveries"]["count"])


def kept_by(training: int, job: str, task: int, process: int) -> Kept:
    """Return what a process has, as Linux says."""
    memory, threads = (status_number(process, name) for name in ("VmRSS", "Threads"))
    return Kept(training, job, task, process, memory, len(os.listdir(f"/proc/{process}/fd")), threads)


def _table(kept: Sequence[Kept], early: int, late: int, recoveries: int) -> tuple[list[list[str]], bool]:
    """Return the table of two trainings with so many recoveries between, and whether a process has grown."""
    heading = ["task", f"MB after {early}", f"after {late}", "ratio", "descriptors", "after", "threads", "after"]
    table, has_grown = [[*heading, "started again"]], False
    before = {(one.job, one.task): one for one in kept if one.training == early}
    for after in (one for one in kept if one.training == late):
        first = before[after.job, after.task]
        ratio = after.memory_bytes / first.memory_bytes
        most_threads = first.threads + _THREADS_A_RECOVERY * recoveries + _THREADS_NOW_AND_THEN
        grows = (ratio > MOST_GROWTH, after.descriptors > first.descriptors, after.threads > most_threads)
        has_grown |= any(grows)
        table.append(
            [
                "coordinator" if after.job == COORDINATOR[0] else f"{after.job} {after.task}",
                f"{first.memory_bytes / MEGABYTE:,.0f}",
                f"{after.memory_bytes / MEGABYTE:,.0f}",
                _marked(f"{ratio:.3f}", grows[0]),
                str(first.descriptors),
                _marked(str(after.descriptors), grows[1]),
                str(first.threads),
                _marked(str(after.threads), grows[2]),
                "yes" if after.process != first.process else "no",
            ]
        )
    return table, has_grown


def _marked(text: str, is_wrong: bool) -> str:
    return f"**{text}**" if is_wrong else text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Train many times on one cluster of this machine, with checkpoints and lost servers, and see "
        "whether memory, descriptors and threads of its processes grow (Linux)."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "many_trainings")
    add("--trainings", type=count, default=50, metavar="N", help="default: 50")
    add("--look-at", nargs=2, type=count, default=[10, 50], metavar="N", help="trainings to compare (default: 10 50)")
    add("--recoveries", nargs="*", type=count, default=[5, 20], metavar="N", help="trainings of which a server is "
        "killed (default: 5 20)")  # fmt: skip
    add("--words", type=count, default=100_000, metavar="N", help="of the corpus, from its start (default 100000)")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--ps", type=count, default=2, metavar="N", help="parameter servers (default 2)")
    add("--workers", type=count, default=2, metavar="N", help="default: 2")
    add("--vectors-on-servers", action="store_true", help="train with vectors_on_servers")
    return parser


if __name__ == "__main__":
    sys.exit(status_of(main))

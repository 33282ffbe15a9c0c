"""Measures how training scales with cores: `python benchmarks/cores.py --help`."""

from __future__ import annotations

import argparse
import contextlib
import functools
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from machines.core_processes import CoreProcess, CoreProcessError, train_at_once
from measuring.checkout import use_checkout
from measuring.core_cells import (
    DOWNPOUR,
    GENSIM,
    SYSTEMS,
    TEXT,
    Cell,
    Split,
    batches_of,
    placed,
    split_from,
    usable_cores_apart,
)
from measuring.corpora import cut_corpus
from measuring.jobs import MODES, Job, add_corpus_argument, add_model_arguments, job_from, number_from
from report.core_table import core_rows, merged, tables_of
from report.reports import add_output_arguments, say, start_report
from report.stopping import status_of

_WARM_UP_WORDS = 500_000
_WORKERS_FOR_LONG_WARM_UP = 4
_SETTINGS = ("modes", "systems", "workers", "splits", "cluster_workers", "worker_cores", "distributions", "processors",
             "words",
             "whole_from", "batch_words", "repeats", "vector_size", "window", "negative", "min_count", "sample",
             "alpha")  # fmt: skip
_NOTES = (
    "Each process is pinned to as many processors as it has workers; different cores come before the second threads of "
    "the same cores. A cluster's workers have --worker-cores each, the coordinator has one, and one ps has all others.",
    "words/s: raw words of one epoch, divided by the seconds of `train()`; of several processes, all words divided by "
    "the seconds of the slowest. TensorFlow is imported and has made its graphs before.",
    "tfw2v: one process reads an encoded corpus; tfw2v-text: a text file. tfw2v-models: processes train a model each "
    "at the same time. speed-up: against the fewest workers of the same system; of the latter two, of tfw2v.",
    "With fewer workers than --whole-from a cell trains the first words of the corpus, with the whole vocabulary.",
    "score: mean of the scores, in percent, after the last training, of one epoch. It rises with the words that are "
    "trained: compare cells with as many words.",
    "processor: of all processes. cores idle: the rest of the time of the cores that train. edges: share of the time "
    "before the first block and after the last. Page faults, lock: of a cluster, its coordinator's.",
    "lock held: share of looks, up to 2,000 a second from another process, at which a thread held Python's lock, and "
    "the time a word that this makes. making blocks, calling graphs: processor time of the threads that do it. "
    "waiting: how much longer than that making took, for the lock or a core.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure all cells; the exit status is 1 if one of them failed."""
    arguments = _parser().parse_args(argv)
    began = time.monotonic()
    table = CoreTable(arguments)
    use_checkout()
    with tempfile.TemporaryDirectory(prefix="tfw2v-cores-") as folder:
        corpora = Corpora(Path(arguments.corpus), arguments.words, Path(folder))
        say(f"corpora are encoded after {time.monotonic() - began:.0f} s")
        workers, cluster_workers = arguments.workers, arguments.cluster_workers
        kinds = (arguments.systems, workers, arguments.splits, cluster_workers, arguments.worker_cores,
                 arguments.distributions)  # fmt: skip
        for batch in batches_of(arguments.modes, *kinds):
            if time.monotonic() - began > arguments.limit:
                say(f"left out: {', '.join(map(str, batch))}")
                continue
            measure(batch, arguments, corpora, table)
            say(f"measured for {time.monotonic() - began:.0f} s")
    print(table.save())
    return 1 if any("error" in run for run in table.runs) else 0


@dataclass
class Part:
    """A corpus as text and encoded, with its size."""

    text: Path
    encoded: Path
    sentences: int
    words: int


class Corpora:
    """The whole corpus, its first words, and a little to warm up with."""

    def __init__(self, corpus: Path, words: int, folder: Path) -> None:
        self.whole = _encoded(corpus, folder / "whole")
        self.short = self.whole if words >= self.whole.words else _cut(corpus, words, folder, "short")
        self.warm_up = _cut(corpus, _WARM_UP_WORDS, folder, "warm-up")


def _cut(corpus: Path, words: int, folder: Path, name: str) -> Part:
    text = folder / f"{name}.txt"
    cut_corpus(corpus, words, text)
    return _encoded(text, folder / name)


def _encoded(text: Path, folder: Path) -> Part:
    from gensim_tfw2v import encode_corpus
    from gensim_tfw2v.corpus.shards import EncodedCorpus

    encode_corpus(text, folder)
    found = EncodedCorpus(folder)
    return Part(text, folder, found.sentences, found.words)


def measure(batch: Sequence[Cell], arguments: argparse.Namespace, corpora: Corpora, table: CoreTable) -> None:
    """Prepare the processes of all cells side by side, then measure one cell after the other, and score them."""
    with contextlib.ExitStack() as stack:
        processes = {
            cell: [_started(request, stack) for request in requests_of(cell, arguments, corpora)] for cell in batch
        }
        ready = [cell for cell in batch if table.succeeds(cell, functools.partial(_wait_for, processes[cell]))]
        for turn in range(arguments.repeats):
            for cell in ready[:: -1 if turn % 2 else 1]:
                train = functools.partial(_train, processes[cell], functools.partial(table.keep, cell, turn))
                if not table.succeeds(cell, train):
                    ready.remove(cell)
        if arguments.scores:
            _score({cell: processes[cell][0] for cell in ready}, table)


def _started(request: dict[str, Any], stack: contextlib.ExitStack) -> CoreProcess:
    process = CoreProcess(request)
    stack.callback(process.end)
    return process


def _wait_for(processes: Sequence[CoreProcess]) -> None:
    for process in processes:
        process.prepare_watch()


def _train(processes: Sequence[CoreProcess], keep: Callable[[dict[str, Any]], None]) -> None:
    keep(merged(train_at_once(processes)))


def _score(processes: dict[Cell, CoreProcess], table: CoreTable) -> None:
    """Score the models of all cells at the same time, of each cell the model of one process."""
    for process in processes.values():
        process.tell("score")
    for cell, process in processes.items():
        table.succeeds(cell, lambda cell=cell, process=process: table.add_scores(cell, process.hear()))
    table.save()


def requests_of(cell: Cell, arguments: argparse.Namespace, corpora: Corpora) -> list[dict[str, Any]]:
    """Return what each process of a cell is asked for."""
    processors = arguments.processors
    part = corpora.whole if cell.workers >= arguments.whole_from else corpora.short
    form = "text" if cell.system in (GENSIM, TEXT) else "encoded"
    warm_up = corpora.short if cell.workers >= _WORKERS_FOR_LONG_WARM_UP else corpora.warm_up
    job = job_from(arguments, system=cell.system, mode=cell.mode, workers=cell.workers, epochs=1,
                   corpus=str(getattr(corpora.whole, form)), distribution=cell.distribution)  # fmt: skip
    return [
        {
            "job": asdict(replace(job, seed=1 + number)),
            "batch_words": arguments.batch_words,
            "processors": own,
            "worker_cores": cell.worker_cores,
            "all_processors": processors,
            "part": {"path": str(getattr(part, form)), "sentences": part.sentences, "words": part.words},
            "warm_up": str(getattr(warm_up, form)),
        }
        for number, own in enumerate(placed(cell, processors))
    ]


class CoreTable:
    """The results so far, saved after every training."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.report = start_report("More cores", arguments, _SETTINGS, _NOTES)
        self.report.settings["splits"] = list(map(str, arguments.splits))
        self.runs: list[dict[str, Any]] = []

    def succeeds(self, cell: Cell, action: Callable[[], None]) -> bool:
        """Do something for a cell, and return whether its processes lived; else keep how they ended."""
        try:
            action()
        except CoreProcessError as error:
            say(f"{cell}: {error}")
            self.runs.append({**asdict(cell), "error": str(error)})
            self.save()
            return False
        return True

    def keep(self, cell: Cell, turn: int, result: dict[str, Any]) -> None:
        """Add a training, print what it reached, and save."""
        self.runs.append({**asdict(cell), "round": turn, **result, "scores": None})
        say(f"{cell}: {result['words'] / result['train_seconds']:,.0f} words/s, {result['train_seconds']:.2f} s")
        self.save()

    def add_scores(self, cell: Cell, scores: dict[str, Any]) -> None:
        """Add the scores of a cell's last training."""
        own = asdict(cell).items()
        [run for run in self.runs if own <= run.items()][-1]["scores"] = scores

    def save(self) -> str:
        """Write JSON and Markdown, and return the Markdown."""
        rows = core_rows(self.runs)
        tables = tables_of(rows)
        failed = [run for run in self.runs if "error" in run]
        tables |= {"Failed": _failures(failed)} if failed else {}
        return self.report.save(tables, {"rows": [asdict(row) for row in rows], "runs": self.runs})


def _failures(runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    names = [entry.name for entry in fields(Cell)]
    rows = [[*(str(run[name]) for name in names), " / ".join(run["error"].splitlines())] for run in runs]
    return [[*names, "error"], *rows]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure how training scales with cores: one process with several threads beside gensim's class, "
        "several processes with a model each, and a cluster of this machine (Linux)."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "cores")
    processors = usable_cores_apart()
    powers = [2**power for power in range(len(processors).bit_length())]
    add("--modes", nargs="+", choices=list(MODES), default=list(MODES), help="default: all four")
    add("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), help="default: all five")
    add("--processors", nargs="+", type=int, default=processors, metavar="N", help="in the order of their use")
    add("--workers", nargs="+", type=count, default=powers, metavar="N", help="default: 1 2 4 ... to all cores")
    add("--splits", nargs="*", type=split_from, metavar="PxN", help="processes with a model each x threads of each",
        default=[Split(powers[-1] // threads, threads) for threads in powers[:-1]])  # fmt: skip
    most = max(1, len(processors) * 3 // 4)  # the others are for the ps and the coordinator
    add("--cluster-workers", nargs="+", type=count, default=[*(power for power in powers if power < most), most],
        metavar="N", help="default: 1 2 4 ... to three quarters of all cores")  # fmt: skip
    add("--worker-cores", type=count, default=1, metavar="N", help="cores of each worker of the cluster (default 1)")
    add("--distributions", nargs="+", default=[DOWNPOUR], metavar="NAME",
        help="how the tasks of the cluster train together (default: downpour)")  # fmt: skip
    add("--words", type=count, default=4_000_000, metavar="N", help="of the corpus, from its start (default 4000000)")
    add("--whole-from", type=count, default=8, metavar="N", help="workers that train the whole corpus (default 8)")
    add("--batch-words", type=count, metavar="N", help="raw words of a block (default: chosen)")
    add("--repeats", type=count, default=1, metavar="N", help="trainings of every cell (default 1)")
    add("--limit", type=number_from(1, float), default=math.inf, metavar="SECONDS",
        help="begin no further cells after so long (default: never stop)")  # fmt: skip
    add("--vector-size", type=count, default=Job("", "").vector_size, metavar="N", help="default: 100")
    add("--no-scores", dest="scores", action="store_false", help="measure speed only")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

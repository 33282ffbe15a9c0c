"""Finds in which functions one worker's thread holds Python's lock: `python benchmarks/lock_holders.py --help`.

Functions write which of them runs to a number in memory. Another process reads this number and whether the lock is held
as often as it can (`measuring/lock_looks.py`), on a core of its own (Linux).
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring.checkout import BENCHMARKS, import_tensorflow, use_checkout
from measuring.core_cells import ENCODED, usable_cores_apart
from measuring.jobs import MODES, Job, add_corpus_argument, add_model_arguments, job_from
from measuring.python_lock import lock_address
from report.reports import add_output_arguments, say, start_report

_BEFORE, _BETWEEN = "before the first block", "between and after blocks"
# Modules with what to mark in them; what runs within a marked function counts for the inner one.
_MARKED = {
    "corpus.shards": ("ShardReader.read",),
    "blocks.batches": ("BlockMaker.make", "BlockMaker._count_pairs", "subsample", "draw_windows", "_pad_to", "_widen",
                       "huffman_paths"),
    "blocks.sampling": ("NegativeSampler.draw",),
    "placement.local.placement": ("prepare", "LocalPlacement.train_chunk", "LocalPlacement.train_prepared",
                                  "call_with_tensors"),
    "steps.arguments": ("block_tensors", "rates", "as_tensors"),
    "training.epoch": ("Epoch._next_task", "Epoch._count", "check_finite"),
}  # fmt: skip
_NOTES = (
    "One worker, pinned to one core, trains one epoch of an encoded corpus, after another model that made the graph.",
    "in all: while the function runs and none of the others within it. lock held: a thread holds Python's lock "
    "meanwhile, which is nearly always this one. call_with_tensors: the call of the graph, and what runs in it, which "
    "holds no lock.",
)


class Marks:
    """Which of several functions runs, as a number in memory that other processes read."""

    def __init__(self) -> None:
        self.names = [_BEFORE, _BETWEEN]
        self._current = ctypes.c_int(0)

    @property
    def address(self) -> int:
        """Where the number is."""
        return ctypes.addressof(self._current)

    def begin(self) -> None:
        """Say that no function has run yet."""
        self._current.value = 0

    def marked(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Return a function that says of itself when it runs."""
        self.names.append(name)
        number = len(self.names) - 1

        def call(*arguments: Any, **named: Any) -> Any:
            outer = self._current.value
            self._current.value = number
            try:
                return function(*arguments, **named)
            finally:
                self._current.value = outer or 1

        return call

    def mark(self, owner: Any, name: str, shown: str | None = None) -> None:
        """Replace an attribute of a module or class by one that says when it runs."""
        setattr(owner, name, self.marked(getattr(owner, name), shown or name))


def main(argv: list[str] | None = None) -> int:
    """Measure and report; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Holders of Python's lock", arguments, ("mode", "vector_size"), _NOTES)
    use_checkout()
    from gensim_tfw2v import encode_corpus

    with tempfile.TemporaryDirectory() as folder:
        encode_corpus(arguments.corpus, Path(folder) / "encoded")
        job = job_from(arguments, system=ENCODED, corpus=str(Path(folder) / "encoded"), epochs=1)
        seconds, words, counts = measure(job, *usable_cores_apart()[:2])
    rows = holders(counts, seconds / words * 1e9)
    say(f"{words / seconds:,.0f} words/s")
    print(report.save({arguments.mode: table_of(rows)}, {"rows": rows, "words_per_second": words / seconds}))
    return 0


def measure(job: Job, own: int, other: int) -> tuple[float, int, list[tuple[str, bool, int]]]:
    """Return seconds and words of a training, and how often each function was seen without and with the lock."""
    os.sched_setaffinity(0, [own])
    import_tensorflow()
    from gensim_tfw2v import TFWord2Vec

    marks = _marks_in_package()
    model = TFWord2Vec(**job.gensim_arguments(), progress=False)
    model.build_vocab(corpus_file=job.corpus)
    _train(copy.deepcopy(model), job.corpus)
    marks.begin()
    watched = map(str, (os.getpid(), lock_address(), marks.address, other))
    command = [sys.executable, "-m", "measuring.lock_looks", *watched]
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as watcher:
        assert watcher.stdout is not None
        watcher.stdout.readline()  # it has begun to look
        began = time.perf_counter()
        _train(model, job.corpus)
        seconds = time.perf_counter() - began
        said, _ = watcher.communicate("end\n")
    counts = [(marks.names[mark], held, count) for mark, held, count in json.loads(said)]
    return seconds, model.corpus_total_words, counts


def _train(model: Any, corpus: str) -> None:
    model.train(corpus_file=corpus, total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=1)


def _marks_in_package() -> Marks:
    """Mark the functions that a worker's thread calls."""
    marks = Marks()
    for module, names in _MARKED.items():
        for name in names:
            owner: Any = importlib.import_module(f"gensim_tfw2v.{module}")
            *outer, last = name.split(".")
            marks.mark(getattr(owner, outer[0]) if outer else owner, last, f"{module}.{name}")
    return marks


def holders(counts: Sequence[tuple[str, bool, int]], nanoseconds: float) -> list[tuple[str, float, float]]:
    """Return each function with its share of so many nanoseconds, in all and with the lock; longest holders first."""
    looks = sum(count for *_, count in counts)
    in_all, with_lock = Counter[str](), Counter[str]()
    for name, held, count in counts:
        in_all[name] += count
        with_lock[name] += count * held
    each = nanoseconds / looks
    return sorted(((name, in_all[name] * each, with_lock[name] * each) for name in in_all), key=lambda row: -row[2])


def table_of(rows: Sequence[tuple[str, float, float]]) -> list[list[str]]:
    """Return the table of these functions, with the sum of all in the end."""
    total = ("sum", sum(row[1] for row in rows), sum(row[2] for row in rows))
    heading = ["function", "in all, ns a word", "lock held, ns a word"]
    return [heading, *([name, f"{in_all:.2f}", f"{held:.2f}"] for name, in_all, held in [*rows, total])]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Find in which functions one worker's thread holds Python's lock, in nanoseconds a word (Linux)."
    )
    add = parser.add_argument
    add_corpus_argument(parser)
    add_output_arguments(parser, "lock_holders")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=int, default=Job("", "").vector_size, metavar="N", help="default: 100")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

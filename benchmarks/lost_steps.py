"""Measures which share of concurrent threads' steps is lost: `python benchmarks/lost_steps.py --help`.

A step reads a row, moves it and writes it back. What another thread writes in between is lost. Here one thread trains
a block twice, and two threads train it once each at the same time. The learning rate is so small that a step does not
depend on earlier ones.
"""

from __future__ import annotations

import argparse
import statistics
import threading
from collections.abc import Sequence
from typing import Any

from measuring.jobs import MODES, Job, add_corpus_argument, add_model_arguments, job_from, number_from
from profile_step import make_block, prepare, with_rate
from report.reports import add_output_arguments, start_report

_SETTINGS = ("modes", "vector_size", "window", "negative", "sample", "batch_tokens", "blocks", "repeats")
_THREADS = 2
_LEARNING_RATE = 1e-4
_SPREAD = 0.1  # of random rows
_NOTES = (
    f"Kept: the change of a table by {_THREADS} concurrent threads, projected on the change by one thread that trains "
    "the same blocks as often: 1 if nothing is lost. Median (smallest to largest).",
)


def main(argv: list[str] | None = None) -> int:
    """Measure each mode; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Steps that threads lose", arguments, _SETTINGS, _NOTES)
    table = [["mode", "batch tokens", "inputs kept", "outputs or nodes kept"]]
    rows = []
    for mode in arguments.modes:
        job = job_from(arguments, system="tfw2v", mode=mode, workers=_THREADS)
        batch_tokens, kept = measure(job, arguments.blocks, arguments.repeats)
        rows.append({"mode": mode, "batch_tokens": batch_tokens, "kept": kept})
        table.append([mode, str(batch_tokens), *map(_shown, zip(*kept, strict=True))])
    print(report.save({"Results": table}, {"rows": rows}))
    return 0


def measure(job: Job, blocks: int, repeats: int) -> tuple[int, list[list[float]]]:
    """Return the tokens of a batch and, for each repeat, the share that each table keeps of the steps."""
    import numpy as np

    maker, placement, chunks, tables = prepare(job, blocks)
    made = [make_block(maker, chunk) for chunk in chunks]
    prepared = [with_rate(block, _LEARNING_RATE, 0) for block in made if block is not None]
    rng = np.random.default_rng(job.seed)
    trained = [table for table in (tables.inputs, tables.outputs, tables.nodes) if table is not None]
    start = [rng.normal(0, _SPREAD, table.shape).astype(np.float32) for table in trained]

    def changes(threads: int) -> list[Any]:
        for table, values in zip(trained, start, strict=True):
            np.copyto(table, values)
        placement.load(tables)
        train(placement, prepared * (_THREADS // threads), threads)
        placement.read_into(tables)
        return [table - values for table, values in zip(trained, start, strict=True)]

    kept = []
    for _ in range(repeats):
        pairs = zip(changes(1), changes(_THREADS), strict=True)
        kept.append([float(np.vdot(alone, both) / np.vdot(alone, alone)) for alone, both in pairs])
    placement.close()
    return maker.shape.batch_tokens, kept


def train(placement: Any, blocks: list[Any], threads: int) -> None:
    """Train all blocks in each of so many threads, which start together."""
    begin = threading.Barrier(threads)

    def work() -> None:
        begin.wait()
        for block in blocks:
            placement.train_prepared(block)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def _shown(kept: Sequence[float]) -> str:
    return f"{statistics.median(kept):.3f} ({min(kept):.3f} to {max(kept):.3f})"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure which share of concurrent threads' steps is lost.")
    add = parser.add_argument
    add_corpus_argument(parser)
    add_output_arguments(parser, "lost_steps")
    add("--modes", nargs="+", choices=list(MODES), default=list(MODES), help="default: all")
    add("--vector-size", type=number_from(1), default=100, metavar="N", help="default: 100")
    add("--blocks", type=number_from(1), default=4, metavar="N", help="blocks that each thread trains (default 4)")
    add("--repeats", type=number_from(1), default=5, metavar="N", help="default: 5")
    add("--batch-tokens", type=number_from(1), metavar="N", help="default: chosen")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

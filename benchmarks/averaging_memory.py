"""Measures the memory of workers that average: `python benchmarks/averaging_memory.py --help`."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring.corpora import write_zipf_corpus
from measuring.jobs import number_from
from measuring.memory import status_number
from report.reports import MEGABYTE, Report, add_output_arguments, say, start_report

_SETTINGS = ("vocabulary", "words", "vector_sizes", "workers", "epochs", "seed")
_NOTES = (
    "idle: resident memory of a worker that has trained a vocabulary of a thousand words, the mean of the workers.",
    "peak: the most resident memory in the training of the large vocabulary, the mean of the workers.",
    "formula: rows of both tables x (8 x vector size + 4) bytes, and 24 bytes for each number that is averaged at a "
    "time. From docs/how-it-works/distributions.md.",
    "The corpus has different words whose frequencies fall as 1 / rank, each of them at least once.",
)
_SMALL_VOCABULARY = 1_000
_BYTES_TO_AVERAGE_A_NUMBER = 24  # messages, changes and sums: six numbers of 4 bytes at most


def main(argv: list[str] | None = None) -> int:
    """Measure each vector size on a cluster of its own."""
    arguments = _parser().parse_args(argv)
    report: Report = start_report("Memory of workers that average", arguments, _SETTINGS, _NOTES)
    with tempfile.TemporaryDirectory(prefix="tfw2v-averaging-") as folder:
        small, large = Path(folder) / "small.txt", Path(folder) / "large.txt"
        write_zipf_corpus(_SMALL_VOCABULARY, 100 * _SMALL_VOCABULARY, arguments.seed, small)
        write_zipf_corpus(arguments.vocabulary, arguments.words, arguments.seed, large)
        runs = [_measure(size, small, large, arguments) for size in arguments.vector_sizes]
    print(report.save({"Results": _table(runs)}, {"runs": runs}))
    return 0


def mean_memory(cluster: Any, what: str) -> float:
    """Return the mean of the workers' memory in bytes: resident (VmRSS), or the most that was (VmHWM)."""
    found = [status_number(process.pid, what) for (job, _), process in cluster.processes.items() if job == "worker"]
    return sum(found) / len(found)


def formula_bytes(rows: int, table_rows: int, vector_size: int) -> int:
    """Return what a worker has beyond an idle one, by the formula of docs/how-it-works/distributions.md."""
    from gensim_tfw2v.tuning import AVERAGED_NUMBERS_AT_ONCE

    at_once = min(AVERAGED_NUMBERS_AT_ONCE, table_rows * vector_size)
    return rows * (8 * vector_size + 4) + _BYTES_TO_AVERAGE_A_NUMBER * at_once


def _measure(vector_size: int, small: Path, large: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the memory of workers before and in a training."""
    from gensim_tfw2v import TFWord2Vec, local_cluster

    with local_cluster(1, arguments.workers) as cluster:
        shared = {"vector_size": vector_size, "sg": 1, "min_count": 1, "seed": arguments.seed, "cluster": cluster,
                  "distribution": "averaging", "epochs": arguments.epochs, "progress": False}  # fmt: skip
        TFWord2Vec(corpus_file=str(small), **shared)
        idle = mean_memory(cluster, "VmRSS")
        model = TFWord2Vec(corpus_file=str(large), **shared)
        peak = mean_memory(cluster, "VmHWM")
    tables = (model.wv.vectors, model.syn1neg)
    rows = sum(map(len, tables))
    say(f"vector size {vector_size}: {(peak - idle) / MEGABYTE:,.0f} MB beyond an idle worker")
    return {
        "vector_size": vector_size,
        "rows": rows,
        "idle_bytes": idle,
        "peak_bytes": peak,
        "formula_bytes": formula_bytes(rows, max(map(len, tables)), vector_size),
    }


def _table(runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    table = [["vector size", "rows", "idle MB", "peak MB", "beyond idle MB", "formula MB", "ratio"]]
    for run in runs:
        beyond = run["peak_bytes"] - run["idle_bytes"]
        megabytes = (run["idle_bytes"], run["peak_bytes"], beyond, run["formula_bytes"])
        table.append(
            [
                str(run["vector_size"]),
                f"{run['rows']:,}",
                *(f"{count / MEGABYTE:,.0f}" for count in megabytes),
                f"{beyond / run['formula_bytes']:.2f}",
            ]
        )
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure the resident memory of workers that average, beside the formula of "
        "docs/how-it-works/distributions.md (Linux)."
    )
    add, count = parser.add_argument, number_from(1)
    add_output_arguments(parser, "averaging_memory")
    add("--vocabulary", type=count, default=500_000, metavar="N", help="different words (default 500000)")
    add("--words", type=count, default=2_000_000, metavar="N", help="of the corpus, about (default 2000000)")
    add("--vector-sizes", type=count, nargs="+", default=[100, 300], metavar="N", help="default: 100 300")
    add("--workers", type=count, default=2, metavar="N", help="default: 2")
    add("--epochs", type=count, default=2, metavar="N", help="default: 2")
    add("--seed", type=int, default=1, metavar="N", help="of corpus and model (default 1)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

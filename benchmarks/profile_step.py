"""Shows the time of a block by operation and by host function: `python benchmarks/profile_step.py --help`."""

from __future__ import annotations

import argparse
import cProfile
import itertools
import pstats
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from measuring.checkout import ROOT
from measuring.jobs import MODES, TUNING, Job, add_corpus_argument, add_dtype_arguments, add_model_arguments, job_from
from report.reports import add_output_arguments, start_report

_PACKAGE = str(ROOT / "gensim_tfw2v")
# "while/body/_1/while/MatMul_2:_MklBatchMatMulV2"; other events are functions and executors that hold operations.
_OPERATION = re.compile(r"^(?:.*/)?(?P<name>[^/: ]+):(?P<type>_?[A-Z]\w*)$")
_HOLDS_OTHERS = {"While", "StatelessWhile", "If", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall"}
_WARM_UP_BLOCKS = 2
_SETTINGS = ("mode", "vector_size", "window", "negative", "sample", "compute_dtype", *TUNING)
_NOTES = (
    "ns/token: nanoseconds for each token, with one thread of steps.",
    "An operation's time is that of its kernel, without the executor's time between kernels. Independent operations of "
    "a batch may run concurrently, and profiling slows small ones down: their sum is not the time of the blocks.",
    "The time of a host function includes the functions outside the package that it calls, mainly NumPy's (cProfile).",
)

Seconds = dict[str, float]


def main(argv: list[str] | None = None) -> int:
    """Profile the blocks; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Profile of a block", arguments, _SETTINGS, _NOTES)
    job = job_from(arguments, system="tfw2v", workers=1)
    maker, placement, chunks, _ = prepare(job, arguments.blocks)
    host, blocks = profile_host(maker, chunks)
    tokens = sum(block.tokens for block in blocks)
    make_seconds = _seconds_of(lambda: [make_block(maker, chunk) for chunk in chunks])
    run_seconds, by_name, by_type = profile_graph(placement, blocks, job.alpha, read_operations)
    totals = {
        "host: making blocks": make_seconds,
        "graph: running blocks": run_seconds,
        "graph: operations, profiled": sum(by_type.values()),
    }
    report.settings |= {"blocks": len(blocks), "kept_tokens": tokens}
    parts = {"Totals": totals, "Operations by type": by_type, "Operations": by_name, "Host functions": host}
    tables = {heading: _table(seconds, tokens, arguments.top) for heading, seconds in parts.items()}
    data = {heading.lower().replace(" ", "_"): _nanoseconds(seconds, tokens) for heading, seconds in parts.items()}
    print(report.save(tables, {"ns_per_token": data}))
    return 0


def prepare(job: Job, blocks: int) -> tuple[Any, Any, list[Any], Any]:
    """Return the model's block maker, a placement with its tables, the first chunks of the corpus, and the tables."""
    from gensim_tfw2v import TFWord2Vec
    from gensim_tfw2v.model.choices import block_maker, choices_for
    from gensim_tfw2v.model.corpus_reading import Corpus, CorpusReader
    from gensim_tfw2v.model.tables import tables_of
    from gensim_tfw2v.model.training_plan import make_placement, placement_for

    model = TFWord2Vec(**job.gensim_arguments(), **job.own_arguments(), progress=False)
    model.build_vocab(corpus_file=job.corpus)
    choice = placement_for(model, None, model.corpus_total_words)
    choices = choices_for(model, choice, None, model.corpus_total_words)
    maker = block_maker(model, choices)
    corpus = Corpus(None, job.corpus)
    words = model.corpus_total_words
    source = CorpusReader().source(model, corpus, choice.block_words, words, is_read_again=False)
    chunks = list(itertools.islice(source.epoch(), blocks))
    source.close()
    placement = make_placement(choice, choices.settings, replace(maker, reader=source.reader))
    tables = tables_of(model)
    placement.load(tables)
    return maker, placement, chunks, tables


def profile_host(maker: Any, chunks: list[Any]) -> tuple[Seconds, list[Any]]:
    """Return the seconds of each function of the package that makes blocks, and the blocks."""
    make_block(maker, chunks[0])
    profile = cProfile.Profile()
    blocks = profile.runcall(lambda: [make_block(maker, chunk) for chunk in chunks])
    return own_seconds(pstats.Stats(profile).stats), [block for block in blocks if block is not None]  # type: ignore[attr-defined]


def own_seconds(stats: Mapping[tuple[str, int, str], Any], package: str = _PACKAGE) -> Seconds:
    """Return each package function's time with everything it calls except other functions of the package.

    Parameters
    ----------
    stats : mapping
        As `pstats.Stats.stats`: function → (calls, calls, own time, cumulative time, callers).
    """
    ours = {function for function in stats if function[0].startswith(package)}
    seconds = {function: stats[function][3] for function in ours}
    for function in ours:
        for caller, (*_, cumulative) in stats[function][4].items():
            if caller in ours and caller != function:
                seconds[caller] -= cumulative
    named: Counter[str] = Counter()
    for (path, _, name), value in seconds.items():
        named[f"{Path(path).stem}.{name}"] += value
    return dict(named)


def profile_graph(
    placement: Any,
    blocks: list[Any],
    learning_rate: float,
    read: Callable[[Path], tuple[Seconds, Seconds]],
) -> tuple[float, Seconds, Seconds]:
    """Return the seconds of the blocks without the profiler, and those of each operation by name and by type.

    Parameters
    ----------
    read : callable
        Reads these from a folder of the profiler, as `read_operations` does.
    """
    from tensorflow import profiler

    def run() -> None:
        for block in blocks:
            placement.train_prepared(with_rate(block, learning_rate, measure_every=16))

    for block in blocks[:_WARM_UP_BLOCKS]:
        placement.train_prepared(with_rate(block, 0.0, measure_every=1))
    run_seconds = _seconds_of(run)
    with tempfile.TemporaryDirectory() as folder:
        profiler.experimental.start(folder)
        run()
        profiler.experimental.stop()
        by_name, by_type = read(Path(folder))
    return run_seconds, by_name, by_type


def read_operations(folder: Path) -> tuple[Seconds, Seconds]:
    """Return the seconds of each operation on CPUs, by name and by type, from a folder of the profiler."""
    by_name: Counter[str] = Counter()
    by_type: Counter[str] = Counter()
    for plane in planes_in(folder, "CPU"):
        for event in (event for line in plane.lines for event in line.events):
            found = _OPERATION.match(plane.event_metadata[event.metadata_id].name)
            if found and found["type"] not in _HOLDS_OTHERS:
                by_name[f"{found['name']} ({found['type']})"] += event.duration_ps / 1e12
                by_type[found["type"]] += event.duration_ps / 1e12
    return dict(by_name), dict(by_type)


def planes_in(folder: Path, device: str) -> Iterator[Any]:
    """Yield the planes of a kind of device, "CPU" or "GPU", from a folder of the profiler."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    for path in folder.glob("**/*.xplane.pb"):
        space = xplane_pb2.XSpace.FromString(path.read_bytes())
        yield from (plane for plane in space.planes if device in plane.name)


def make_block(maker: Any, chunk: Any) -> Any:
    """Return the block of a chunk, with random numbers of its own."""
    from gensim_tfw2v.native.random_numbers import RandomNumbers

    return maker.make(chunk.content, RandomNumbers.seeded([chunk.number]))


def with_rate(block: Any, learning_rate: float, measure_every: int) -> Any:
    """Return a block prepared with one learning rate and every `measure_every`-th batch measured (0: none)."""
    import numpy as np

    from gensim_tfw2v.blocks.chunk_task import PreparedBlock

    batches = len(block.pairs)
    measured = np.zeros(batches, bool)
    if measure_every:
        measured[::measure_every] = True
    return PreparedBlock(block, np.full(batches, learning_rate, np.float32), measured)


def _seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _nanoseconds(seconds: Seconds, tokens: int) -> dict[str, float]:
    """Return nanoseconds per token, largest first."""
    return {name: value * 1e9 / tokens for name, value in sorted(seconds.items(), key=lambda item: -item[1])}


def _table(seconds: Seconds, tokens: int, top: int) -> list[list[str]]:
    shown = list(_nanoseconds(seconds, tokens).items())
    rest = sum(value for _, value in shown[top:])
    rows = [[name, f"{value:.1f}"] for name, value in shown[:top]]
    return [["what", "ns/token"], *rows, *([[f"{len(shown) - top} others", f"{rest:.1f}"]] if rest else [])]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Show the time of a block by operation and by host function.")
    add = parser.add_argument
    add_corpus_argument(parser)
    add_output_arguments(parser, "profile")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=int, default=100, metavar="N", help="default: 100")
    add("--blocks", type=int, default=10, metavar="N", help="blocks from the corpus's beginning (default 10)")
    add("--top", type=int, default=25, metavar="N", help="lines a table (default 25)")
    add("--batch-tokens", type=int, metavar="N", help="default: chosen")
    add("--run-tokens", type=int, metavar="N", help="default: chosen")
    add("--shared-negatives", type=int, metavar="N", help="default: chosen")
    add("--update-bound", type=float, metavar="X", help="default: chosen")
    add_dtype_arguments(parser)
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

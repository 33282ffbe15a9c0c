"""What a coordinator computes for the blocks of workers that do nothing: `python benchmarks/calls.py --help`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measuring.jobs import add_corpus_argument, number_from
from report.reports import add_output_arguments, say, start_report
from report.stopping import status_of

_SETTINGS = ("workers", "block_words", "call_blocks", "epochs")
_NOTES = (
    "Subsampling drops all words. So workers read the encoded corpus, pull no rows, train nothing and push nothing.",
    "Microseconds: processor time of the coordinator, all threads, for each thousand raw words. It is the difference "
    "between a training of many epochs and one of a single epoch, so it contains neither start nor end.",
    "ms a call: the same for each call. It includes what threads compute that wait for slow workers, and all tasks "
    "share this machine.",
)
_NO_WORD = 1e-12  # `sample` with which subsampling drops all words


@dataclass(frozen=True)
class Cost:
    """What the coordinator has computed with so many blocks in a call."""

    call_blocks: int
    blocks: int
    words: int
    processor_seconds: float
    seconds: float

    def row(self) -> list[str]:
        """Return the table's row."""
        calls = self.blocks / self.call_blocks
        return [
            str(self.call_blocks),
            f"{self.blocks:,}",
            f"{1e9 * self.processor_seconds / self.words:.2f}",
            f"{1e3 * self.processor_seconds / calls:.2f}",
            f"{self.words / self.seconds / 1e6:.1f}",
        ]


def main(argv: list[str] | None = None) -> int:
    """Train and report; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Calls of workers that do nothing", arguments, _SETTINGS, _NOTES)
    with tempfile.TemporaryDirectory() as folder:
        from gensim_tfw2v import encode_corpus

        encoded = str(Path(folder) / "corpus.ids")
        encode_corpus(arguments.corpus, encoded)
        costs = list(costs_of(encoded, arguments))
    heading = ["blocks in a call", "blocks", "µs / 1,000 words", "ms a call", "million words/s"]
    print(report.save({"Results": [heading, *(cost.row() for cost in costs)]}, {"costs": list(map(asdict, costs))}))
    return 0


def costs_of(corpus: str, arguments: argparse.Namespace) -> Iterator[Cost]:
    """Yield what each number of blocks in a call costs on one cluster of this machine."""
    from gensim_tfw2v import local_cluster

    with local_cluster(ps=1, workers=arguments.workers) as cluster:
        for call_blocks in arguments.call_blocks:
            model = _model(cluster, arguments, call_blocks)
            model.build_vocab(corpus_file=corpus)
            _train(model, corpus, 1)  # makes the graphs
            short, long = (_train(model, corpus, epochs) for epochs in (1, 1 + arguments.epochs))
            cost = Cost(
                call_blocks,
                blocks=long[2] - short[2],
                words=arguments.epochs * model.corpus_total_words,
                processor_seconds=long[0] - short[0],
                seconds=long[1] - short[1],
            )
            say(f"{call_blocks} blocks in a call: {1e9 * cost.processor_seconds / cost.words:.2f} µs")
            yield cost


def _model(cluster: Any, arguments: argparse.Namespace, call_blocks: int) -> Any:
    from gensim_tfw2v import TFWord2Vec

    return TFWord2Vec(
        vector_size=8,
        sg=1,
        sample=_NO_WORD,
        workers=arguments.workers,
        batch_words=arguments.block_words,
        cluster=cluster,
        cluster_overlap=True,
        blocks_per_call=call_blocks,
        progress=False,
    )


def _train(model: Any, corpus: str, epochs: int) -> tuple[float, float, int]:
    """Return this process's processor seconds of a training, its seconds, and its blocks."""
    model.min_alpha_yet_reached = model.alpha  # else gensim warns that the rate rises again in a further training
    computed, began = time.process_time(), time.perf_counter()
    sizes = {"total_words": model.corpus_total_words, "total_examples": model.corpus_count}
    model.train(corpus_file=corpus, epochs=epochs, **sizes)
    return time.process_time() - computed, time.perf_counter() - began, model.training_report["blocks"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Train with workers of this machine that do nothing, and measure what the process that calls "
        "train() computes for them, with several numbers of blocks in a call."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "calls")
    add("--workers", type=count, default=8, metavar="N", help="default: 8")
    add("--block-words", type=count, default=131_072, metavar="N", help="raw words of a block (default 131072)")
    add("--call-blocks", type=count, nargs="+", default=[1, 32], metavar="N", help="default: 1 32")
    add("--epochs", type=count, default=20, metavar="N", help="that are measured (default 20)")
    return parser


if __name__ == "__main__":
    sys.exit(status_of(main))

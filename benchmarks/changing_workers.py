"""Measures trainings that workers join and leave: `python benchmarks/changing_workers.py --help`.

Epochs are trained in three parts: by one worker, by two after the second has joined, and by the second alone after the
first has left.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from measuring.corpora import cut_corpus
from measuring.jobs import MODES, add_corpus_argument, add_model_arguments, job_from, number_from
from measuring.scores import scores_of
from report.reports import add_output_arguments, say, start_report
from report.stopping import status_of

_SETTINGS = ("mode", "distribution", "vector_size", "epochs", "words", "repeats", "window", "negative", "min_count",
             "sample", "alpha")  # fmt: skip
_NOTES = (
    "one, two: undisturbed trainings by so many workers on one server. changing: a second worker is started after a "
    "third of the epochs, and the first is drained after two thirds.",
    "k words/s: of each period, with the number of workers in it, as training_report has them.",
    "words: raw words that were trained, in percent of the corpus's times the epochs.",
    "score: percent, the mean of all sets.",
)
_END_SECONDS = 120


def main(argv: list[str] | None = None) -> int:
    """Measure; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Workers that join and leave", arguments, _SETTINGS, _NOTES)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(arguments.corpus)
        if arguments.words is not None:
            corpus = Path(folder) / "corpus.txt"
            cut_corpus(Path(arguments.corpus), arguments.words, corpus)
        words = sum(len(line.split()) for line in corpus.open("rb"))
        for seed in range(1, arguments.repeats + 1):
            for kind, measure in _KINDS.items():
                run = measure(job_from(arguments, system="tfw2v", corpus=str(corpus), seed=seed))
                runs.append({"kind": kind, "seed": seed, "corpus_words": words, **run})
                say(" ".join(_row(runs[-1], arguments.epochs)))
                report.save({"Results": _table(runs, arguments.epochs)}, {"runs": runs})
    print(report.save({"Results": _table(runs, arguments.epochs)}, {"runs": runs}))
    return 0


def _undisturbed(job: Any, workers: int) -> dict[str, Any]:
    from gensim_tfw2v import local_cluster

    with local_cluster(ps=1, workers=workers) as cluster:
        return _trained(job, cluster, workers)


def _changing(job: Any) -> dict[str, Any]:
    """Return what a training came to in which the second worker joins, and the first leaves."""
    from gensim.models.callbacks import CallbackAny2Vec

    from gensim_tfw2v import local_cluster
    from gensim_tfw2v.cluster.local import free_addresses, task_environment

    with ExitStack() as stack:
        cluster = stack.enter_context(local_cluster(ps=1, workers=1))
        (own,) = free_addresses(1)
        server, first = cluster.addresses["ps"][0], cluster.addresses["worker"][0]

        def start(*command: str) -> None:
            process = subprocess.Popen([sys.executable, "-m", "gensim_tfw2v", *command], env=task_environment())
            stack.callback(process.wait, _END_SECONDS)
            stack.callback(process.terminate)

        class Changes(CallbackAny2Vec):
            """Has workers join and leave at the ends of epochs."""

            def __init__(self) -> None:
                self.epochs = 0

            def on_epoch_end(self, model: Any) -> None:
                self.epochs += 1
                if self.epochs == job.epochs // 3:
                    start("server", "--join", server, "--address", own, "--cores", "1")
                elif self.epochs == 2 * job.epochs // 3:
                    start("cluster", "drain", first)

        return _trained(job, cluster, 2, callbacks=[Changes()])


def _trained(job: Any, cluster: Any, workers: int, **arguments: Any) -> dict[str, Any]:
    """Return what a training over a cluster came to."""
    from gensim_tfw2v import TFWord2Vec

    settings = {**job.gensim_arguments(), **job.own_arguments(), "workers": 2, "max_workers": workers}
    model = TFWord2Vec(**settings, corpus_file=job.corpus, schedule="linear", cluster=cluster, **arguments)
    report = model.training_report
    assert report is not None
    kept = {name: report[name] for name in ("seconds", "raw_words", "blocks", "periods")}
    return {**kept, "scores": scores_of(model.wv)}


_KINDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "one": lambda job: _undisturbed(job, 1),
    "two": lambda job: _undisturbed(job, 2),
    "changing": _changing,
}


def _table(runs: list[dict[str, Any]], epochs: int) -> list[list[str]]:
    rows = [_row(run, epochs) for run in runs]
    return [["training", "seed", "workers: k words/s", "words", "blocks", "score"], *rows]


def _row(run: dict[str, Any], epochs: int) -> list[str]:
    speeds = [f"{period['workers']:.0f}: {period['words_per_second'] / 1000:.0f}" for period in run["periods"]]
    words = 100 * run["raw_words"] / (epochs * run["corpus_words"])
    mean = run["scores"]["mean"]
    score = "-" if mean is None else f"{mean:.2f}"
    return [run["kind"], str(run["seed"]), ", ".join(speeds), f"{words:.3f}", str(run["blocks"]), score]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add_corpus_argument(parser)
    add = parser.add_argument
    add("--mode", choices=MODES, default="sg-neg", help="what is trained (default sg-neg)")
    add("--distribution", metavar="NAME", default="downpour", help="how the workers train together (default downpour)")
    add("--words", type=number_from(1), metavar="N", help="train on the first N words (default: all)")
    add("--vector-size", type=number_from(1), default=100, metavar="N", help="length of vectors (default 100)")
    add("--epochs", type=number_from(3), default=6, metavar="N", help="passes over the corpus (default 6)")
    add("--repeats", type=number_from(1), default=1, metavar="N", help="seeds (default 1)")
    add_model_arguments(parser)
    add_output_arguments(parser, "changing_workers")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

"""Measures one system once and prints the results as one line of JSON: `python benchmarks/one_run.py --help`.

Each run has a process of its own, and so its own peak memory and thread settings.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from measuring import systems
from measuring.checkout import package_of
from measuring.graphs import read_graph, scores_of_nodes
from measuring.jobs import (
    MODES,
    OPTIMIZERS,
    Job,
    add_corpus_argument,
    add_distribution_arguments,
    add_dtype_arguments,
    add_revision_argument,
    add_training_arguments,
    job_from,
    number_from,
    usable_cores,
)
from measuring.scores import is_finite, scores_of, scores_of_left_out


def main(argv: list[str] | None = None) -> int:
    """Run the job that the arguments describe; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    job = job_from(arguments)
    if job.epochs % job.calls:
        raise SystemExit(f"one_run: error: --calls must divide --epochs {job.epochs}, got {job.calls}")
    if job.left_out and not job.subwords:
        raise SystemExit("one_run: error: --left-out scores words by their n-grams, and needs --subwords")
    if job.emulated_threads is not None and job.workers != 1:
        raise SystemExit(f"one_run: error: --emulated-threads needs --workers 1, got {job.workers}")
    missing = systems.SYSTEMS[job.system].missing()
    if missing:
        raise SystemExit(f"one_run: error: {missing}")
    with package_of(job.revision):
        print(json.dumps(measure(job)), flush=True)
    return 0


def measure(job: Job) -> dict[str, Any]:
    """Return the results of one run; scoring comes after everything that is timed."""
    outcome = systems.SYSTEMS[job.system].run(job)
    result = {
        entry.name: getattr(outcome, entry.name)
        for entry in dataclasses.fields(outcome)
        if entry.name != "keyed_vectors"
    }
    result["words_per_second"] = outcome.raw_words * job.epochs / outcome.train_seconds
    starting = (outcome.tensorflow_import_seconds or 0.0) + (outcome.first_graph_seconds or 0.0)
    result["started_words_per_second"] = outcome.raw_words * job.epochs / (outcome.train_seconds - starting)
    result["finite"] = is_finite(outcome.keyed_vectors)
    result["scores"] = None
    if job.scores:
        vectors = outcome.keyed_vectors
        result["scores"] = scores_of_nodes(vectors, read_graph(job.graph)) if job.graph else scores_of(vectors)
        if job.left_out:
            result["scores"] = scores_of_left_out(vectors)
    if job.vectors_file is not None:
        outcome.keyed_vectors.save(job.vectors_file)
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure one system once and print one line of JSON.")
    add = parser.add_argument
    add("system", choices=list(systems.SYSTEMS))
    add_corpus_argument(parser)
    add("--mode", choices=list(MODES), default="sg-neg")
    add("--vector-size", type=int, default=100, metavar="N")
    add("--workers", type=int, default=usable_cores(), metavar="N", help="default: all cores")
    add("--seed", type=int, default=1, metavar="N")
    add_training_arguments(parser)
    add("--calls", type=number_from(1), default=1, metavar="N", help="of train(), among which the epochs and the "
        "learning rate's fall are divided (default 1)")  # fmt: skip
    add("--batch-tokens", type=int, metavar="N", help="tfw2v only, like the next three; default: chosen")
    add("--run-tokens", type=int, metavar="N")
    add("--shared-negatives", type=int, metavar="N")
    add("--update-bound", type=float, metavar="X")
    add("--optimizer", choices=OPTIMIZERS, help="tfw2v only; default: the package's own")
    add("--device", metavar="NAME", help="tfw2v only, such as gpu; default: the package's own")
    add("--draws", choices=("host", "device"), help="tfw2v only: where draws are made; default: the package's own")
    add("--reproducible", action="store_const", const=True, help="tfw2v only: equal vectors for any number of workers")
    add("--cores", type=number_from(1), metavar="N", help="tfw2v only: as if the machine had so many cores, for more "
        "threads than it has")  # fmt: skip
    add("--emulated-threads", type=number_from(1), metavar="N", help="tfw2v with one worker only: train each run from "
        "rows as they were N - 1 runs before")  # fmt: skip
    add_dtype_arguments(parser)
    add_distribution_arguments(parser)
    add_revision_argument(parser)
    add("--own-rates", action="store_true", help="programs only: their own learning rate and subsampling")
    add("--vectors-file", metavar="FILE", help="save the vectors here, in gensim's format")
    add("--curve", action="store_true", help="score after every epoch as well; that time does not count")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

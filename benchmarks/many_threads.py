"""Scores vectors trained by more threads than there are cores: `python benchmarks/many_threads.py --help`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from measuring.checkout import use_checkout
from measuring.corpora import cut_corpus
from measuring.emulated_threads import NoEmulationError, emulate_threads_in
from measuring.jobs import (
    INPUTS,
    MODES,
    OPTIMIZERS,
    Job,
    add_corpus_argument,
    add_graph_argument,
    add_model_arguments,
    job_from,
    number_from,
)
from measuring.runner import run_all
from report.reports import add_output_arguments, earlier_runs, failure_tables, say, start_report
from report.stopping import status_of
from report.thread_table import EMULATED, GENSIM, THREADS, WAYS, tables_of

_POWERS = [2**power for power in range(7)]
# What tells two runs of one report apart.
_OF_RUN = ("mode", "system", "optimizer", "workers", "emulated_threads", "seed")
_SETTINGS = ("words", "epochs", "input", "graph", "vector_size", "window", "negative", "min_count", "sample",
             "alpha", "run_tokens")  # fmt: skip
_NOTES = (
    f"{THREADS}: as many threads as the column says train at the same time, on the cores that there are. Where there "
    "are fewer cores, threads take turns that are much longer than a run of words.",
    f"{EMULATED}: one thread trains, each run of words from the rows as they were N - 1 runs before, as N threads that "
    "are equally fast would on a core each.",
    f"{GENSIM}: gensim's class with `workers=N`, on the cores that there are.",
    "Scores: percent. Nothing is timed, because threads share cores.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure all runs that the results do not have yet; the exit status is 1 if a run failed."""
    arguments = _parser().parse_args(argv)
    report = start_report("Scores with many threads", arguments, _SETTINGS, _NOTES)
    if arguments.graph is not None:
        report.settings["graph"] = Path(arguments.graph).name
    runs = [run for run in earlier_runs(report, "many_threads") if "error" not in run]
    if EMULATED in arguments.ways:
        _check_emulation()

    def is_done(job: Job) -> bool:
        return any(all(run[name] == getattr(job, name) for name in _OF_RUN) for run in runs)

    def save() -> str:
        return report.save(tables_of(runs) | failure_tables(runs, _OF_RUN), {"runs": runs})

    def keep(record: dict[str, Any]) -> None:
        runs.append(record)
        save()

    with tempfile.TemporaryDirectory(prefix="tfw2v-threads-") as folder:
        corpus = Path(arguments.corpus)
        if arguments.words is not None:
            corpus = Path(folder) / corpus.name
            cut_corpus(Path(arguments.corpus), arguments.words, corpus)
        run_all(jobs_of(arguments, corpus), arguments.repeats, keep, say, is_done)
    print(save())
    return 1 if any("error" in run for run in runs) else 0


def jobs_of(arguments: argparse.Namespace, corpus: Path) -> list[Job]:
    """Return the jobs of one round: each mode and number of threads in each way, ours with each optimizer."""
    return [
        job_from(arguments, corpus=str(corpus), mode=mode, optimizer=optimizer, **_settings_of(way, threads))
        for mode in arguments.modes
        for threads in arguments.threads
        for way in arguments.ways
        for optimizer in (arguments.optimizers if way != GENSIM else [None])
    ]


def _settings_of(way: str, threads: int) -> dict[str, Any]:
    """Return the settings of a job with so many threads."""
    if way == EMULATED:
        return {"system": "tfw2v", "workers": 1, "emulated_threads": threads}
    if way == THREADS:
        return {"system": "tfw2v", "workers": threads, "cores": threads}
    return {"system": "gensim", "workers": threads}


def _check_emulation() -> None:
    """End this process if threads cannot be emulated, before anything is measured."""
    use_checkout()
    from gensim_tfw2v.operations import library_path

    try:
        emulate_threads_in(library_path(), 1)
    except (NoEmulationError, OSError) as error:
        raise SystemExit(f"many_threads: error: {error}; or measure --ways {THREADS} {GENSIM}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Score vectors that many threads train: real threads on the cores that there are, threads that one "
        "thread emulates, and gensim's. Run it again, with more modes, threads, optimizers or repeats if you like: "
        "runs that the results have are left out."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "many_threads")
    add("--threads", nargs="+", type=count, default=_POWERS, metavar="N", help="default: 1 2 4 8 16 32 64")
    add("--modes", nargs="+", choices=list(MODES), default=list(MODES), help="default: all four")
    add("--optimizers", nargs="+", choices=OPTIMIZERS, default=list(OPTIMIZERS), help="of ours (default: both)")
    add("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="default: all three")
    add("--repeats", type=count, default=1, metavar="N", help="runs of everything, each with a seed (default 1)")
    add("--words", type=count, metavar="N", help="of the corpus, from its start (default: all)")
    add("--epochs", type=count, default=Job("", "").epochs, metavar="N", help="passes over the corpus (default 5)")
    add("--input", choices=INPUTS, default="corpus_file", help="how the classes get the corpus (default corpus_file)")
    add_graph_argument(parser)
    add("--run-tokens", type=count, metavar="N", help="default: chosen, for emulated threads as for one core")
    add("--vector-size", type=count, default=Job("", "").vector_size, metavar="N", help="default: 100")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

"""Searches settings for small data sets, and scores them on other data: `python benchmarks/tuning.py --help`."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from measuring.checkout import import_tensorflow
from measuring.jobs import number_from, usable_cores
from measuring.tuning_tasks import TASKS, Task
from report.reports import add_output_arguments, say, show_score, start_report
from report.stopping import status_of
from report.summaries import mean_and_sd

_SETTINGS = ("tasks", "trials", "epochs", "rounds", "seed", "repeats", "workers")
_NOTES = (
    "items: MovieLens 100K without the last film of each person; scores are of that film, as in examples/items.py.",
    "text: 300 articles of news; the score is the correlation of the similarities of 50 other articles, as means of "
    "their words' vectors of length 1, with people's judgements.",
    "graph: walks of examples/graphs.py; scores are those of that example, in this order.",
    "validation: the metric of the search, on a tenth of the sentences, which was held out.",
    "scores: in percent, of models of all sentences, mean and standard deviation over seeds. gensim's models have "
    "those of the settings that gensim knows.",
    "seconds: of the search with all of its trainings, without TensorFlow's import, and of one training of gensim's "
    "class with its default settings and five epochs.",
)
DEFAULT, FOUND = "defaults", "found"
OURS, GENSIM = "tfw2v", "gensim"


def main(argv: list[str] | None = None) -> int:
    """Search the settings of all tasks; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Searched settings", arguments, _SETTINGS, _NOTES)
    import_tensorflow()
    runs: list[dict[str, Any]] = []
    text = ""
    for name in arguments.tasks:
        say(f"{name} ...")
        runs.append(measure(TASKS[name](), arguments))
        text = report.save({"Results": table_of(runs), "Settings": settings_table(runs)}, {"runs": runs})
    print(text)
    return 0


def measure(task: Task, arguments: argparse.Namespace) -> dict[str, Any]:
    """Search the settings of a task, train with them and with the defaults, and return what came out."""
    from gensim.models import Word2Vec

    from gensim_tfw2v import tune

    size = {name: getattr(arguments, name) for name in ("trials", "epochs", "rounds", "seed", "workers")}
    with tempfile.TemporaryDirectory(prefix="tfw2v-tuning-") as folder:
        corpus = Path(folder) / "corpus.txt"
        task.write(corpus)
        began = time.perf_counter()
        found = tune(corpus, metric=task.metric, settings=task.fixed, **size)
        seconds = time.perf_counter() - began
        began = time.perf_counter()
        Word2Vec(corpus_file=str(corpus), workers=arguments.workers, **task.fixed)
        gensim_seconds = time.perf_counter() - began
        scores = {
            f"{system} {which}": scores_of(task, system, settings, corpus, arguments)
            for system in (OURS, GENSIM)
            for which, settings in ((DEFAULT, task.fixed), (FOUND, found.arguments))
        }
    return {
        "task": task.name,
        "metric": found.metric,
        "validation": {DEFAULT: found.default.value, FOUND: found.best.value},
        "settings": found.arguments,
        "trainings": [[trial.arguments, trial.value, trial.seconds] for trial in found.trials],
        "seconds": seconds,
        "gensim_seconds": gensim_seconds,
        "scores": scores,
    }


def scores_of(
    task: Task, system: str, settings: Mapping[str, Any], corpus: Path, arguments: argparse.Namespace
) -> list[dict[str, float]]:
    """Return the scores of models with several seeds. gensim's have those of the settings that gensim knows."""
    from gensim.models import Word2Vec

    from gensim_tfw2v import TFWord2Vec

    class_ = TFWord2Vec if system == OURS else Word2Vec
    known = {name: value for name, value in settings.items() if name in signature(class_).parameters}
    seeds = range(1, arguments.repeats + 1)
    common = {"corpus_file": str(corpus), "workers": arguments.workers, **known}
    return [task.scores(class_(seed=seed, **common)) for seed in seeds]


def table_of(runs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a row for each task and each of the default and the found settings."""
    table = [["task", "settings", "metric", "validation", "tfw2v's scores", "gensim's scores", "search s", "gensim s"]]
    for run in runs:
        for which in (DEFAULT, FOUND):
            seconds = [f"{run['seconds']:.1f}", f"{run['gensim_seconds']:.1f}"] if which == FOUND else ["", ""]
            value = run["validation"][which]
            scores = (shown_scores(run["scores"][f"{system} {which}"]) for system in (OURS, GENSIM))
            table.append([run["task"], which, run["metric"], f"{value:.4f}", *scores, *seconds])
    return table


def shown_scores(scores: Sequence[Mapping[str, float]]) -> str:
    """Return each score's mean and standard deviation over models, in percent."""
    return ", ".join(f"{name} {show_score(mean_and_sd(100 * each[name] for each in scores))}" for name in scores[0])


def settings_table(runs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the settings that each search has found."""
    table = [["task", "trainings", "found"]]
    for run in runs:
        found = ", ".join(f"{name}={value}" for name, value in run["settings"].items())
        table.append([run["task"], str(len(run["trainings"])), f"`{found}`"])
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Search settings for films, news and walks, and score them on what the search has not seen (needs "
        "scikit-learn; films need recbole, as examples/items.py says)."
    )
    add, count = parser.add_argument, number_from(1)
    add_output_arguments(parser, "tuning")
    add("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS), help="default: all")
    add("--trials", type=count, default=27, metavar="N", help="candidates of the first round (default 27)")
    add("--epochs", type=count, default=27, metavar="N", help="epochs of the last round (default 27)")
    add("--rounds", type=count, default=3, metavar="N", help="default: 3")
    add("--seed", type=number_from(0), default=1, metavar="N", help="of the search (default 1)")
    add("--repeats", type=count, default=3, metavar="N", help="models that are scored, each with a seed (default 3)")
    add("--workers", type=count, default=usable_cores(), metavar="N", help="default: all cores")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

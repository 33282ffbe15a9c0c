"""Measures models that are merged from sub-models of sampled sentences: `python benchmarks/partition.py --help`."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from measuring.corpora import cut_corpus
from measuring.jobs import MODES, add_corpus_argument, add_model_arguments, job_from, number_from, usable_cores
from measuring.partition_models import METHODS, Trainer, agreement_when_missing, merge, scores_of_vectors
from measuring.scores import scores_of
from report.reports import (
    MISSING,
    add_output_arguments,
    earlier_runs_with_these_settings,
    say,
    show_score,
    start_report,
)
from report.stopping import status_of
from report.summaries import mean_and_sd

_SETTINGS = ("mode", "vector_size", "epochs", "words", "workers", "missing", "window", "negative", "min_count",
             "sample", "alpha")  # fmt: skip
_NOTES = (
    "budget: the sum of the shares of the corpus that the sub-models train in an epoch. Each sub-model draws every "
    "sentence with the rate budget / models, anew in every epoch. All sub-models have the vocabulary of the corpus, "
    "and a seed of their own. A word that a sub-model has not trained is missing from it.",
    "Scores: percent, the mean of all sets, mean ± standard deviation over seeds. best: the sub-model with the highest "
    "score of each seed.",
    "ALiR, % of single: ALiR's score in percent of the single model's, which trains on all sentences in every epoch.",
    "s of single: seconds of a sub-model in percent of the single model's; its share is the budget / models. The "
    "making of graphs is not in the seconds; reading and tokenising the corpus is.",
    "Missing words: each sub-model lacks a random share of its words. Cosine: of a word's vector with its vector in "
    "the merge of whole sub-models, after the best rotation of all words; the mean over all words that some "
    "sub-models lack, beside those that all have. Without the mean: the same after the mean of all unit vectors is "
    "subtracted, which all words share. Neighbours: the share of the ten nearest among the 10,000 most "
    "frequent words that are the same, for up to 1,000 of them.",
    "words lost: that no sub-model has trained.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure what is not measured yet; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    table = PartitionTable(arguments)
    wanted = [cell for cell in cells(arguments) if not table.has(*cell)]
    say(f"{len(wanted)} of {len(list(cells(arguments)))} trainings are to be measured")
    if wanted:
        with tempfile.TemporaryDirectory() as folder:
            corpus = arguments.corpus
            if arguments.words is not None:
                corpus = str(Path(folder) / "corpus.txt")
                cut_corpus(Path(arguments.corpus), arguments.words, Path(corpus))
            trainer = Trainer(job_from(arguments, system="tfw2v", corpus=corpus))
            for models, budget, seed in wanted:
                table.keep(measure(trainer, models, budget, seed, arguments.missing))
    print(table.save())
    return 0


def cells(arguments: argparse.Namespace) -> Iterator[tuple[int, float, int]]:
    """Yield sub-models, budget and seed of each training; one sub-model is the single model."""
    for seed in range(1, arguments.repeats + 1):
        yield 1, 1.0, seed
        for models in arguments.models:
            for budget in dict.fromkeys([*(b for b in arguments.budgets if b <= models), float(models)]):
                yield models, budget, seed


def measure(trainer: Trainer, models: int, budget: float, seed: int, missing: float) -> dict[str, Any]:
    """Return what these sub-models and their merges came to."""
    share = budget / models
    trained = [trainer.train(share, 1000 * seed + number) for number in range(models)]
    record: dict[str, Any] = {
        "models": models,
        "budget": budget,
        "seed": seed,
        "share": share,
        "seconds": [model.seconds for model in trained],
        "words": [model.words for model in trained],
        "untrained": [int(model.untrained.sum()) for model in trained],
        "scores": [scores_of(model.keyed_vectors) for model in trained],
        "merged": {},
    }
    if models > 1:
        for method in METHODS:
            vectors, seconds = merge(trained, method)
            record["merged"][method] = {"seconds": seconds, "scores": scores_of_vectors(trained[0], vectors)}
        record["lost"] = int(sum(~vectors.any(axis=1)))
        record["missing"] = agreement_when_missing(trained, missing, seed)
    return record


class PartitionTable:
    """The results so far, saved after every training; those of an interrupted command with equal settings are kept."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.report = start_report("Merged sub-models", arguments, _SETTINGS, _NOTES)
        self.runs: list[dict[str, Any]] = [] if arguments.again else earlier_runs_with_these_settings(self.report)

    def has(self, models: int, budget: float, seed: int) -> bool:
        """Return whether a training is measured."""
        return any((run["models"], run["budget"], run["seed"]) == (models, budget, seed) for run in self.runs)

    def keep(self, run: dict[str, Any]) -> None:
        """Add a training, print its scores, and save."""
        self.runs.append(run)
        merged = {method: _shown(result["scores"]["mean"]) for method, result in run["merged"].items()}
        own = ", ".join(_shown(scores["mean"]) for scores in run["scores"])
        say(f"{run['models']} of {run['share']:.2f}, seed {run['seed']}: {own}; merged {merged}")
        self.save()

    def save(self) -> str:
        """Write JSON and Markdown, and return the Markdown."""
        groups: dict[tuple[int, float], list[dict[str, Any]]] = {}
        for run in sorted(self.runs, key=lambda run: (run["models"], run["budget"], run["seed"])):
            groups.setdefault((run["models"], run["budget"]), []).append(run)
        single = groups.get((1, 1.0), [])
        merged = [group for (models, _), group in groups.items() if models > 1]
        tables = {"Scores": _score_table(single, merged), "Seconds": _second_table(single, merged)}
        tables["Missing words"] = _missing_table(merged)
        return self.report.save(tables, {"runs": self.runs})


_Run = dict[str, Any]
_AGREEMENTS = ("cosine", "mean_apart", "neighbours")


def _best(run: _Run) -> float | None:
    means = [scores["mean"] for scores in run["scores"]]
    return None if None in means else max(means)


def _over_seeds(group: Sequence[_Run], value: Callable[[_Run], float | None]) -> str:
    return show_score(mean_and_sd(value(run) for run in group)) if group else MISSING


def _head(group: Sequence[_Run]) -> list[str]:
    return [str(group[0]["models"]), f"{group[0]['budget']:g}", f"{group[0]['share']:.2f}", str(len(group))]


def _score_table(single: Sequence[_Run], merged: Sequence[Sequence[_Run]]) -> list[list[str]]:
    heading = ["models", "budget", "share", "seeds", "single", "best", "ALiR", "average", "PCA", "concatenation"]
    table = [[*heading, "ALiR, % of single", "words lost"]]
    one = mean_and_sd(_best(run) for run in single) if single else None
    for group in merged:
        scores = [_over_seeds(group, lambda run, m=method: run["merged"][m]["scores"]["mean"]) for method in METHODS]
        alir = mean_and_sd(run["merged"]["alir"]["scores"]["mean"] for run in group)
        ratio = MISSING if one is None or alir is None or not one.mean else f"{100 * alir.mean / one.mean:.1f}"
        lost = f"{statistics.fmean(run['lost'] for run in group):,.0f}"
        table.append([*_head(group), show_score(one), _over_seeds(group, _best), *scores, ratio, lost])
    return table


def _second_table(single: Sequence[_Run], merged: Sequence[Sequence[_Run]]) -> list[list[str]]:
    table = [["models", "budget", "share", "seeds", "s of a sub-model (min to max)", "% of single", "s of ALiR"]]
    whole = statistics.fmean(run["seconds"][0] for run in single) if single else None
    for group in merged:
        seconds = [value for run in group for value in run["seconds"]]
        middle = statistics.fmean(seconds)
        merging = statistics.fmean(run["merged"]["alir"]["seconds"] for run in group)
        shown = f"{middle:.2f} ({min(seconds):.2f} to {max(seconds):.2f})"
        part = MISSING if whole is None else f"{100 * middle / whole:.0f}"
        table.append([*_head(group), shown, part, f"{merging:.2f}"])
    return table


def _missing_table(merged: Sequence[Sequence[_Run]]) -> list[list[str]]:
    table = [["models", "budget", "share", "seeds"]]
    for measure in ("cosine", "without the mean", "neighbours"):
        table[0] += [measure, "of whole words"]
    names = [f"{which}_{measure}" for measure in _AGREEMENTS for which in ("lacking", "whole")]
    for group in merged:
        values = (statistics.fmean(run["missing"][name] for run in group) for name in names)
        table.append([*_head(group), *(f"{value:.3f}" for value in values)])
    return table


def _shown(score: float | None) -> str:
    return MISSING if score is None else f"{score:.2f}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Train sub-models on sampled sentences, merge them by every method, and compare them with one "
        "model of all sentences. A command that was stopped continues from its results."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "partition")
    add("--models", nargs="+", type=number_from(2), default=[2, 5, 10], metavar="N", help="default: 2 5 10")
    add(
        "--budgets",
        nargs="+",
        type=number_from(0.01, float),
        default=[1.0, 2.0],
        metavar="X",
        help="sums of the shares trained, up to the number of models, which is a budget as well (default: 1 2)",
    )
    add("--repeats", type=count, default=3, metavar="N", help="seeds 1 to N (default 3)")
    add("--words", type=count, metavar="N", help="of the corpus, from its start (default: all)")
    add("--missing", type=number_from(0, float), default=0.3, metavar="X", help="share of missing words (default 0.3)")
    add("--again", action="store_true", help="measure all anew")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--epochs", type=count, default=5, metavar="N", help="passes over the corpus (default 5)")
    add("--workers", type=count, default=usable_cores(), metavar="N", help="default: all cores")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

"""Measures training on random walks beside gensim: `python benchmarks/walks.py --help`."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measuring.checkout import HERE
from measuring.graphs import WALK_LENGTH, make_graph, random_walks, write_graph, write_walks
from measuring.jobs import (
    INPUTS,
    MODES,
    OPTIMIZERS,
    Job,
    add_revision_argument,
    job_from,
    number_from,
    usable_cores,
)
from measuring.runner import run_all
from report.reports import add_output_arguments, failure_tables, say, show_score, show_spread, start_report
from report.stopping import status_of
from report.summaries import by_round, mean_and_sd, paired_ratio, spread

GENSIM, OURS = "gensim", "tfw2v"


@dataclass(frozen=True)
class Size:
    """The size of a graph and of the walks on it."""

    nodes: int
    tokens: int
    hubs: bool = False  # degrees by Zipf's law

    def __str__(self) -> str:
        return f"{self.nodes:,} nodes{' with hubs' if self.hubs else ''}, {self.tokens:,} tokens"


SIZES = (Size(4_000, 3_000_000), Size(20_000, 10_000_000), Size(5_000, 4_000_000, hubs=True))
QUICK = (Size(500, 100_000),)
_GRAPH_SEED = 1  # the same graphs and walks in every run
_SETTINGS = ("modes", "systems", "repeats", "epochs", "input", "workers", "vector_size", "window")
_OF_ROW = ("corpus", "mode", "system", "revision", "optimizer")  # runs that differ in none of these share a row
_NOTES = (
    f"Graphs have communities and degrees that differ. Walks have {WALK_LENGTH} nodes. All nodes have vectors "
    "(`min_count=1`), and no occurrence is dropped (`sample=0`).",
    "hubs: the graph of 5,000 nodes has degrees by Zipf's law, and edges that are drawn several times count as often.",
    "words/s: in the epochs, without TensorFlow's import and the first graphs, which gensim does not have. seconds: of "
    "counting words and training, with import and first graphs. Both have the middle run, and the slowest and fastest.",
    "ratios: gensim's seconds for a word, and for all, divided by those of this row. In brackets: the smallest and the "
    "largest ratio of runs of the same round.",
    "communities: micro-averaged F1 in percent of communities that a logistic regression predicts from vectors. links: "
    "area under the ROC curve, in percent, of cosine similarities that tell hidden edges from other pairs of nodes.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure all modes on all graphs; the exit status is 1 if a run failed."""
    arguments = _parser().parse_args(argv)
    report = start_report("Walks on graphs", arguments, _SETTINGS, _NOTES)
    sizes = QUICK if arguments.quick else [size for size in SIZES if size.nodes in arguments.nodes]
    report.settings["graphs"] = list(map(str, sizes))
    runs: list[dict[str, Any]] = []

    def save() -> str:
        good = [run for run in runs if "error" not in run]
        tables = {"Results": table_of(good)} if good else {}
        tables |= failure_tables(runs)
        return report.save(tables, {"runs": runs})

    def keep(record: dict[str, Any]) -> None:
        runs.append(record)
        save()

    with ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tfw2v-walks-")))
        folder.mkdir(parents=True, exist_ok=True)
        for size in sizes:
            run_all(jobs_on(write_corpus(size, folder), arguments), arguments.repeats, keep, say)
    print(save())
    return 1 if any("error" in run for run in runs) else 0


def write_corpus(size: Size, folder: Path) -> Path:
    """Write a graph and walks on it to two files of a folder, and return the path of the walks."""
    rng = np.random.default_rng(_GRAPH_SEED)
    graph = make_graph(size.nodes, rng, size.hubs)
    path = folder / f"{size.nodes}.txt"
    write_walks(random_walks(graph, size.tokens, rng), path)
    write_graph(graph, path.with_suffix(".npz"))
    return path


def jobs_on(walks: Path, arguments: argparse.Namespace) -> list[Job]:
    """Return a job for each mode, system, version of the package and optimizer of ours."""
    return [
        job_from(
            arguments,
            system=system,
            revision=revision,
            optimizer=optimizer,
            mode=mode,
            corpus=str(walks),
            min_count=1,
            sample=0.0,
            graph=str(walks.with_suffix(".npz")),
        )
        for mode in arguments.modes
        for system in arguments.systems
        for revision in (arguments.revision if system == OURS else [HERE])
        for optimizer in (arguments.optimizers if system == OURS else [None])
    ]


def table_of(runs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a row for each graph, mode and system, in the order of their first runs."""
    table = [
        ["nodes", "mode", "system", "runs", "words/s", "ratio", "seconds", "ratio", "communities", "links", "finite"]
    ]
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for run in runs:
        groups.setdefault(tuple(run[key] for key in _OF_ROW), []).append(run)
    for (corpus, mode, system, revision, optimizer), group in groups.items():
        beside = groups.get((corpus, mode, GENSIM, HERE, None), [])
        speed_ratio = paired_ratio(by_round(group, _speed), by_round(beside, _speed))
        seconds_ratio = paired_ratio(by_round(beside, _seconds), by_round(group, _seconds))
        scores = [run["scores"] or {} for run in group]
        table.append(
            [
                f"{int(Path(corpus).stem):,}",
                mode,
                " ".join(filter(None, [system, None if revision == HERE else revision, optimizer])),
                str(len(group)),
                show_spread(spread(map(_speed, group)), ",.0f"),
                show_spread(speed_ratio, ".2f"),
                show_spread(spread(map(_seconds, group)), ".1f"),
                show_spread(seconds_ratio, ".2f"),
                *(show_score(mean_and_sd(score.get(name) for score in scores)) for name in ("communities", "links")),
                "yes" if all(run["finite"] for run in group) else "**NO**",
            ]
        )
    return table


def _speed(run: Mapping[str, Any]) -> float:
    return float(run["started_words_per_second"])


def _seconds(run: Mapping[str, Any]) -> float:
    return float(run["build_vocab_seconds"] + run["train_seconds"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure training on random walks of graphs: words/s, seconds with the start, and how well vectors "
        "tell communities and links (needs scikit-learn)."
    )
    add, count = parser.add_argument, number_from(1)
    add_output_arguments(parser, "walks")
    add("--quick", action="store_true", help="a graph of 500 nodes alone")
    nodes = [size.nodes for size in SIZES]
    add("--nodes", nargs="+", type=int, choices=nodes, default=nodes, help="of the graphs (default: all)")
    add("--modes", nargs="+", choices=list(MODES), default=list(MODES), help="default: all four")
    add("--systems", nargs="+", choices=[OURS, GENSIM], default=[OURS, GENSIM], help="default: both")
    add_revision_argument(parser, nargs="+", default=[HERE])
    add("--optimizers", nargs="+", choices=OPTIMIZERS, default=[None], help="of ours (default: the package's own)")
    add("--repeats", type=count, default=1, metavar="N", help="runs of everything, each with a seed (default 1)")
    add("--epochs", type=count, default=5, metavar="N", help="passes over the walks (default 5)")
    add("--input", choices=INPUTS, default="iterable", help="how the classes get the walks (default iterable)")
    add("--workers", type=count, default=usable_cores(), metavar="N", help="default: all cores")
    add("--vector-size", type=count, default=128, metavar="N", help="default: 128")
    add("--window", type=count, default=10, metavar="N", help="default: 10")
    add("--no-scores", dest="scores", action="store_false", help="measure speed only")
    add("--keep", type=Path, metavar="DIR", help="keep walks and graphs in this folder, for sweep.py --graph")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))

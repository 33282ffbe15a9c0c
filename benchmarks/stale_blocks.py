"""Scores training with many blocks in flight, emulated in one process: `python benchmarks/stale_blocks.py --help`."""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from measuring.corpora import cut_corpus
from measuring.jobs import MODES, Job, add_corpus_argument, add_model_arguments, job_from, number_from
from measuring.scores import is_finite, scores_of
from report.reports import MISSING, add_output_arguments, say, start_report

_SETTINGS = ("mode", "vector_size", "epochs", "seed", "words", "batch_words", "slopes", "parts", "shared_rows",
             "start_share", "window", "negative", "min_count", "sample", "alpha")  # fmt: skip
_NOTES = (
    "in flight: blocks that lack each other's changes, as on so many workers of a cluster that are all equally fast. "
    "Without shared rows one block is in flight at first, and more and more later.",
    "parts: of a block, after each of which blocks in flight exchange their changes of shared rows, those of the most "
    "frequent words and the tree's first nodes.",
    "slopes: of the sigmoid, as assumed for rows of inputs, outputs and nodes. The steeper, the smaller the share of "
    "common changes that is kept.",
    "Scores: percent. Nothing is timed, because nothing runs side by side here.",
    "ideal speed: words divided by the time they would take if all blocks in flight were trained as fast as one alone. "
    "Because of the ramp-up, it is below the number of blocks in flight.",
)


@dataclass(frozen=True)
class Pipeline:
    """How blocks are in flight; None where the package's own rules hold."""

    in_flight: int
    batch_words: int | None = None
    slopes: Sequence[float] | None = None
    start_share: float | None = None
    parts: int | None = None
    shared_rows: int | None = None


def main(argv: list[str] | None = None) -> int:
    """Train with each number of blocks in flight and report the scores; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Blocks in flight, emulated in one process", arguments, _SETTINGS, _NOTES)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        corpus = arguments.corpus
        if arguments.words is not None:
            corpus = str(Path(folder) / "corpus.txt")
            cut_corpus(Path(arguments.corpus), arguments.words, Path(corpus))
        job = job_from(arguments, system="tfw2v", corpus=corpus, workers=1)
        names = {entry.name for entry in dataclasses.fields(Pipeline)}
        chosen = {name: value for name, value in vars(arguments).items() if name in names}
        for in_flight in arguments.in_flight:
            runs.append(measure(job, Pipeline(**{**chosen, "in_flight": in_flight})))
            say(f"{in_flight} in flight: {runs[-1]['scores']}")
            page = report.save({"Results": _table(runs)}, {"runs": runs})
    print(page)
    return 0


def measure(job: Job, pipeline: Pipeline) -> dict[str, Any]:
    """Return what training with this pipeline came to."""
    model = train(job, pipeline)
    alone = pipeline.in_flight == 1
    return {
        "in_flight": pipeline.in_flight,
        "block_words": model.block_words,
        "parts": model.sharing.parts,
        "shared_rows": model.sharing.rows,
        "slopes": None if alone else list(model.placement.slopes),
        "scores": scores_of(model.wv),
        "finite": is_finite(model.wv),
        "ideal_speed": model.placement.ideal_speed,
    }


def train(job: Job, pipeline: Pipeline) -> Any:
    """Return the trained model, which also has its `placement`, `block_words` and `sharing`."""
    from gensim_tfw2v import TFWord2Vec
    from gensim_tfw2v.placement.block_size import (
        choose_block_words,
        choose_negative_pool,
        choose_sharing,
        in_flight_limits,
    )
    from gensim_tfw2v.placement.request import PlacementChoice
    from gensim_tfw2v.runtime.tensorflow import load_tensorflow

    load_tensorflow()  # with its threads set, before others import it
    from measuring.stale_placement import StalePlacement

    from gensim_tfw2v.steps.row_sharing import NOT_SHARED, RowSharing
    from gensim_tfw2v.tuning import SLOPES

    class Stale(TFWord2Vec):
        """Ours, with what is known of its placement."""

        placement: Any = None
        block_words = 0
        sharing = NOT_SHARED

    def placement_for(model: Stale, cluster: Any, total_words: int | None, *_: Any) -> PlacementChoice:
        words, in_flight = total_words or 0, pipeline.in_flight
        limits = in_flight_limits(len(model.wv), job.skip_gram, job.hierarchical_softmax, job.epochs)
        model.block_words = choose_block_words(words, in_flight, pipeline.batch_words, in_flight, limits)
        parts, rows = choose_sharing(model.block_words, words, in_flight, limits)
        shared_rows = rows if pipeline.shared_rows is None else pipeline.shared_rows
        model.sharing = RowSharing(pipeline.parts or parts, shared_rows)

        def make(*settings_and_maker: Any) -> Any:
            start = _start(pipeline, job.epochs * words, model.block_words, model.sharing.parts > 1)
            model.placement = StalePlacement(*settings_and_maker, start, pipeline.slopes or SLOPES, model.sharing)
            return model.placement

        return PlacementChoice(model.block_words, choose_negative_pool(model.block_words), make)

    model = Stale(**job.gensim_arguments(), **job.own_arguments(), progress=False)
    model.build_vocab(corpus_file=job.corpus)
    with patch("gensim_tfw2v.model.training_plan.placement_for", placement_for):
        model.train(
            corpus_file=job.corpus,
            total_examples=model.corpus_count,
            total_words=model.corpus_total_words,
            epochs=job.epochs,
        )
    return model


def _start(pipeline: Pipeline, total_words: int, block_words: int, share_rows: bool) -> Any:
    """Return the rule by which blocks join those in flight."""
    from gensim_tfw2v.placement.calls.ramp_up import RampUp

    joining, blocks = pipeline.in_flight - 1, total_words / block_words
    if pipeline.start_share is None or not joining:
        return RampUp(pipeline.in_flight, blocks, block_words, share_rows=share_rows)
    return RampUp(pipeline.in_flight, blocks, block_words, parts=joining / pipeline.start_share)


def _table(runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    names = list(runs[0]["scores"])
    table = [["in flight", "block words", "parts", "shared rows", "slopes", *names, "finite", "ideal speed"]]
    for run in runs:
        slopes = MISSING if run["slopes"] is None else ", ".join(f"{slope:g}" for slope in run["slopes"])
        scores = [MISSING if (score := run["scores"][name]) is None else f"{score:.2f}" for name in names]
        finite = "yes" if run["finite"] else "**NO**"
        table.append(
            [
                str(run["in_flight"]),
                f"{run['block_words']:,}",
                str(run["parts"]),
                str(run["shared_rows"]),
                slopes,
                *scores,
                finite,
                f"{run['ideal_speed']:.2f}",
            ]
        )
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Score training with many blocks in flight, as on a cluster of so many workers, emulated in one "
        "process: each block is trained on the rows as they were when it began."
    )
    add, count, share = parser.add_argument, number_from(1), number_from(1e-3, float)
    add_corpus_argument(parser)
    add_output_arguments(parser, "stale_blocks")
    add("--in-flight", nargs="+", type=count, default=[1, 16], metavar="N", help="blocks in the end (default 1 16)")
    add("--words", type=count, metavar="N", help="of the corpus, from its start (default: all)")
    add("--batch-words", type=count, metavar="N", help="raw words of a block (default: chosen by blocks in flight)")
    tables = ("INPUTS", "OUTPUTS", "NODES")
    slope_help = "assumed slopes of the sigmoid: 0 keeps all of every block's changes (default: the package's)"
    add("--slopes", nargs=3, type=number_from(0, float), metavar=tables, help=slope_help)
    parts_help = "of a block, after each of which blocks in flight exchange shared rows (default: the package's)"
    add("--parts", type=count, metavar="N", help=parts_help)
    add(
        "--shared-rows",
        "--common-rows",
        type=number_from(0),
        metavar="N",
        help="of each table (default: the package's)",
    )
    start_help = "share of the training after which all are in flight, each after eight more blocks at the soonest"
    add("--start-share", type=share, metavar="X", help=f"{start_help} (default: the package's)")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--epochs", type=count, default=5, metavar="N", help="passes over the corpus (default 5)")
    add("--seed", type=int, default=1, metavar="N", help="default: 1")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

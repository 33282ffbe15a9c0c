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

_SETTINGS = ("mode", "vector_size", "epochs", "seed", "words", "batch_words", "slopes", "blocks_for_one_more", "unseen",
             "window", "negative", "min_count", "sample", "alpha")  # fmt: skip
_NOTES = (
    "in flight: blocks that lack each other's changes, as on so many workers of a cluster that are all equally fast. "
    "One block is in flight at first, and more and more later.",
    "unseen: blocks that are pushed between the moment when a block reads rows again and its push.",
    "slopes: of the sigmoid, as assumed for rows of inputs, outputs and nodes. The steeper, the more of the changes of "
    "other blocks is taken from a block's own.",
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
    blocks_for_one_more: float | None = None
    unseen: int = 0


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
        "unseen": pipeline.unseen,
        "slopes": None if alone else list(model.placement.slopes),
        "scores": scores_of(model.wv),
        "finite": is_finite(model.wv),
        "ideal_speed": model.placement.ideal_speed,
    }


def train(job: Job, pipeline: Pipeline) -> Any:
    """Return the trained model, which also has its `placement` and `block_words`."""
    from gensim_tfw2v import TFWord2Vec, tuning
    from gensim_tfw2v.placement.block_size import choose_block_words, choose_negative_pool, in_flight_limits
    from gensim_tfw2v.placement.calls.ramp_up import RampUp
    from gensim_tfw2v.placement.request import PlacementChoice
    from gensim_tfw2v.runtime.tensorflow import load_tensorflow

    load_tensorflow()  # with its threads set, before others import it
    from measuring.stale_placement import StalePlacement

    class Stale(TFWord2Vec):
        """Ours, with what is known of its placement."""

        placement: Any = None
        block_words = 0

    def placement_for(model: Stale, cluster: Any, total_words: int | None, *_: Any) -> PlacementChoice:
        words, in_flight = total_words or 0, pipeline.in_flight
        limits = in_flight_limits(len(model.wv), job.skip_gram, job.hierarchical_softmax)
        model.block_words = choose_block_words(words, in_flight, pipeline.batch_words, in_flight, limits)
        more = tuning.BLOCKS_FOR_ONE_MORE if pipeline.blocks_for_one_more is None else pipeline.blocks_for_one_more

        def make(*settings_and_maker: Any) -> Any:
            ramp_up, slopes = RampUp(in_flight, blocks_for_one_more=more), pipeline.slopes or tuning.SLOPES
            model.placement = StalePlacement(*settings_and_maker, ramp_up, slopes, pipeline.unseen)
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


def _table(runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    names = list(runs[0]["scores"])
    table = [["in flight", "block words", "unseen", "slopes", *names, "finite", "ideal speed"]]
    for run in runs:
        slopes = MISSING if run["slopes"] is None else ", ".join(f"{slope:g}" for slope in run["slopes"])
        scores = [MISSING if (score := run["scores"][name]) is None else f"{score:.2f}" for name in names]
        finite = "yes" if run["finite"] else "**NO**"
        table.append(
            [
                str(run["in_flight"]),
                f"{run['block_words']:,}",
                str(run["unseen"]),
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
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "stale_blocks")
    add("--in-flight", nargs="+", type=count, default=[1, 16], metavar="N", help="blocks in the end (default 1 16)")
    add("--words", type=count, metavar="N", help="of the corpus, from its start (default: all)")
    add("--batch-words", type=count, metavar="N", help="raw words of a block (default: chosen by blocks in flight)")
    tables = ("INPUTS", "OUTPUTS", "NODES")
    slope_help = "assumed slopes of the sigmoid: 0 takes nothing from a block's changes (default: the package's)"
    add("--slopes", nargs=3, type=number_from(0, float), metavar=tables, help=slope_help)
    more_help = "finished blocks, after each of which one more is in flight; 0: all at once (default: the package's)"
    add("--blocks-for-one-more", type=number_from(0, float), metavar="N", help=more_help)
    unseen_help = "blocks that are pushed between the moment when a block reads rows again and its push (default 0)"
    add("--unseen", type=number_from(0), default=0, metavar="N", help=unseen_help)
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--epochs", type=count, default=5, metavar="N", help="passes over the corpus (default 5)")
    add("--seed", type=int, default=1, metavar="N", help="default: 1")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

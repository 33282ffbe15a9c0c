"""Times small models trained in sequence in one process: `python benchmarks/small_jobs.py --help`.

The first model traces its graph. Each further one should reuse it and start within milliseconds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import Any

from measuring.agreement import FREQUENT_WORDS, NEIGHBOURS, Agreement, Likeness, agreement, likeness_of
from measuring.checkout import import_tensorflow
from measuring.corpora import articles
from measuring.jobs import MODES, usable_cores
from report.reports import MISSING, add_output_arguments, start_report

Sentences = Sequence[list[str]]
_NOTES = (
    "All models are trained in one process, in this order; TensorFlow is imported before the first "
    "(its seconds are in the settings) and gensim's models are trained between ours.",
    "train s: seconds of train() alone, for the first model and as the median of further ones, which differ in seed.",
    "new graphs: graphs traced for the first time; a process needs one for each kind of model.",
    f"similarities, neighbours: rank correlation of the similarities of the {FREQUENT_WORDS} most frequent words, and "
    f"share of their {NEIGHBOURS} nearest neighbours in common, over all pairs of our models and gensim's; then over "
    "all pairs of gensim's models. Each model has a seed of its own.",
)


@dataclass(frozen=True)
class SmallJob:
    """One kind of small model."""

    name: str
    mode: str
    sentences: Sentences
    arguments: dict[str, Any]


@dataclass
class Timing:
    """The seconds that a kind of small model took, and its agreement with gensim's models."""

    name: str
    mode: str
    raw_words: int
    vocabulary: int
    first: float
    further: float | None
    gensim_first: float
    gensim_further: float | None
    new_graphs: int
    agreement: Agreement  # with gensim's models
    gensim_agreement: Agreement | None  # among gensim's models


def graphs_made() -> int:
    """Return the number of graphs that this process has traced."""
    from gensim_tfw2v.steps.graph import block_function

    return block_function.cache_info().misses


def main(argv: list[str] | None = None) -> int:
    """Time the jobs; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Small models in one process", arguments, ("modes", "epochs", "workers", "repeats"), _NOTES)
    began = time.perf_counter()
    import_tensorflow()
    report.settings["tensorflow_import_seconds"] = round(time.perf_counter() - began, 2)
    jobs = [job for mode in arguments.modes for job in small_jobs(mode, arguments)]
    timings = [time_job(job, arguments.repeats) for job in jobs]
    print(report.save({"Results": _table(timings)}, {"rows": [asdict(timing) for timing in timings]}))
    return 0


def small_jobs(mode: str, arguments: argparse.Namespace) -> list[SmallJob]:
    """Return jobs of one mode: the Lee corpus, the same again, and jobs that each differ in one setting."""
    lee = articles("lee_background.cor", "utf8")  # 300 news articles, 60,000 words
    skip_gram, tree = MODES[mode]
    base: dict[str, Any] = {"sg": skip_gram, "hs": tree, "negative": 0 if tree else 5}
    base |= {"epochs": arguments.epochs, "workers": arguments.workers}
    kinds: list[tuple[str, Sentences, dict[str, Any]]] = [
        ("Lee corpus", lee, base),
        ("the same again", lee, base),
        ("200 sentences", lee[:200], base),
        ("vocabulary of all words", lee[:200], {**base, "min_count": 1}),
        ("vector size 64", lee[:200], {**base, "vector_size": 64}),
        ("window 3", lee[:200], {**base, "window": 3}),
        ("window 10", lee[:200], {**base, "window": 10}),
        ("20 sentences", lee[:20], base),
    ]
    return [SmallJob(name, mode, sentences, settings) for name, sentences, settings in kinds]


def time_job(job: SmallJob, repeats: int) -> Timing:
    """Return the timing of `repeats` models of this kind, ours and gensim's in turns."""
    from gensim.models import Word2Vec

    from gensim_tfw2v import TFWord2Vec

    ours: list[float] = []
    gensims: list[float] = []
    learnt: list[Likeness] = []
    learnt_by_gensim: list[Likeness] = []
    before = graphs_made()
    for turn in range(repeats):
        seconds, model = _train_seconds(TFWord2Vec, job, seed=1 + turn)
        ours.append(seconds)
        learnt.append(likeness_of(model.wv))
        seconds, model = _train_seconds(Word2Vec, job, seed=1 + repeats + turn)
        gensims.append(seconds)
        learnt_by_gensim.append(likeness_of(model.wv))
    return Timing(
        name=job.name,
        mode=job.mode,
        raw_words=model.corpus_total_words,
        vocabulary=len(model.wv),
        first=ours[0],
        further=_median_of_further(ours),
        gensim_first=gensims[0],
        gensim_further=_median_of_further(gensims),
        new_graphs=graphs_made() - before,
        agreement=agreement(product(learnt, learnt_by_gensim)),
        gensim_agreement=agreement(combinations(learnt_by_gensim, 2)) if repeats > 1 else None,
    )


def _train_seconds(class_: Any, job: SmallJob, seed: int) -> tuple[float, Any]:
    model = class_(**job.arguments, seed=seed)
    model.build_vocab(job.sentences)
    began = time.perf_counter()
    model.train(job.sentences, total_examples=model.corpus_count, epochs=model.epochs)
    return time.perf_counter() - began, model


def _median_of_further(seconds: list[float]) -> float | None:
    return statistics.median(seconds[1:]) if len(seconds) > 1 else None


def _table(timings: Sequence[Timing]) -> list[list[str]]:
    heading = ["mode", "model", "raw words", "vocabulary", "train s, first", "further", "gensim s, first", "further"]
    table = [[*heading, "new graphs", "similarities", "among gensim's", "neighbours", "among gensim's"]]
    for timing in timings:
        seconds = (timing.first, timing.further, timing.gensim_first, timing.gensim_further)
        agreements = zip(timing.agreement, timing.gensim_agreement or (None, None), strict=True)
        table.append(
            [
                timing.mode,
                timing.name,
                f"{timing.raw_words:,}",
                f"{timing.vocabulary:,}",
                *map(_shown, seconds),
                str(timing.new_graphs),
                *(_shown(value) for of_both in agreements for value in of_both),
            ]
        )
    return table


def _shown(value: float | None) -> str:
    return MISSING if value is None else f"{value:.3f}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Time small models trained in sequence in one process.")
    add = parser.add_argument
    add_output_arguments(parser, "small_jobs")
    add("--modes", nargs="+", choices=list(MODES), default=["cbow-neg"], help="default: cbow-neg, gensim's default")
    add("--epochs", type=int, default=5, metavar="N", help="default: 5")
    add("--repeats", type=int, default=3, metavar="N", help="models of each kind (default 3)")
    add("--workers", type=int, default=usable_cores(), metavar="N", help="default: all cores")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

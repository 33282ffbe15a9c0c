"""Times training with and without a log for TensorBoard: `python benchmarks/logging_cost.py --help`."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from typing import Any

from measuring.jobs import add_corpus_argument, usable_cores
from report.reports import add_output_arguments, start_report

_NOTES = (
    "One model in one process is trained repeatedly: once without and once with logdir in each round, in the opposite "
    "order in every other round. The first round does not count, since it includes imports and graphs.",
    "seconds: of train(), with all that is logged by default: before training, within epochs, after each epoch and "
    "after training.",
    "cost: seconds with the log minus seconds without in the same round, in percent of the latter.",
)


def main(argv: list[str] | None = None) -> int:
    """Time the rounds and report them; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("What logging costs", arguments, ("sg", "epochs", "workers", "repeats"), _NOTES)
    model = _model(arguments)
    rounds = [_round(model, arguments, number) for number in range(arguments.repeats + 1)][1:]
    report.settings["words_in_vocabulary"] = len(model.wv)
    print(report.save({"Results": _table(rounds)}, {"rounds": rounds}))
    return 0


def _model(arguments: argparse.Namespace) -> Any:
    from gensim_tfw2v import TFWord2Vec

    model = TFWord2Vec(sg=arguments.sg, workers=arguments.workers)
    model.build_vocab(corpus_file=arguments.corpus)
    return model


def _round(model: Any, arguments: argparse.Namespace, number: int) -> dict[str, float]:
    """Return the seconds of one training of each kind, and the cost of the log in percent."""
    kinds = ["without", "with"] if number % 2 == 0 else ["with", "without"]
    seconds = {kind: _train_seconds(model, arguments, kind == "with") for kind in kinds}
    return {**seconds, "cost": 100 * (seconds["with"] / seconds["without"] - 1)}


def _train_seconds(model: Any, arguments: argparse.Namespace, logged: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        model.train(
            corpus_file=arguments.corpus,
            total_examples=model.corpus_count,
            total_words=model.corpus_total_words,
            epochs=arguments.epochs,
            logdir=folder if logged else None,
        )
        return time.perf_counter() - began


def _table(rounds: list[dict[str, float]]) -> list[list[str]]:
    rows = [["", "median", "smallest", "largest"]]
    for name, unit in (("without", "s"), ("with", "s"), ("cost", "%")):
        values = [one[name] for one in rounds]
        shown = [f"{value:.2f}" for value in (statistics.median(values), min(values), max(values))]
        rows.append([f"{name}, {unit}", *shown])
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add_corpus_argument(parser)
    parser.add_argument("--sg", type=int, choices=(0, 1), default=1, help="skip-gram or CBOW (default: skip-gram)")
    parser.add_argument("--epochs", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="default: all cores")
    parser.add_argument("--repeats", type=int, default=5, help="rounds that count (default: %(default)s)")
    add_output_arguments(parser, "logging_cost")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""Compares L-BFGS over the whole corpus with SGD: `python benchmarks/lbfgs.py --help`."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from measuring.corpora import cut_corpus
from measuring.jobs import Job, add_corpus_argument, add_model_arguments, job_from, number_from, usable_cores
from measuring.scores import is_finite, scores_of
from report.reports import MISSING, add_output_arguments, earlier_runs_with_these_settings, say, start_report

_MODES = ("sg-neg", "cbow-neg")
_SETTINGS = ("mode", "vector_size", "words", "evaluations", "history", "passes", "rates", "workers", "seed", "window",
             "negative", "min_count", "sample")  # fmt: skip
_NOTES = (
    "loss: mean loss per pair of the whole corpus with the windows, subsampling and negatives that L-BFGS trains, in "
    "all rows. SGD draws these anew in every pass.",
    "An evaluation of L-BFGS and a pass of SGD look at every word of the corpus once.",
    "alpha: SGD's first learning rate, which falls evenly to min_alpha. L-BFGS has none.",
    "train s: the call of `train()`, in this process. Scores: percent.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure all trainings that the results do not have yet; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("L-BFGS over the whole corpus beside SGD", arguments, _SETTINGS, _NOTES)
    runs = earlier_runs_with_these_settings(report)
    with tempfile.TemporaryDirectory(prefix="tfw2v-lbfgs-") as folder:
        corpus = str(Path(folder) / "corpus.txt")
        cut_corpus(Path(arguments.corpus), arguments.words, Path(corpus))
        job = job_from(arguments, system="tfw2v", corpus=corpus, schedule="linear")
        page = ""
        for training in _trainings(arguments):
            if not any(training.items() <= run.items() for run in runs):
                runs += _measure(job, arguments, training)
                say(f"{training}: loss {runs[-1]['loss']:.4f} in {runs[-1]['seconds']:.0f} s")
            page = report.save({"Results": _table(runs)}, {"runs": runs})
    print(page)
    return 0


def _trainings(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what tells the trainings apart."""
    yield {"design": "L-BFGS", "epochs": max(arguments.evaluations)}
    for passes in arguments.passes:
        for rate in arguments.rates:
            yield {"design": "SGD", "epochs": passes, "rate": rate}


def _measure(job: Job, arguments: argparse.Namespace, training: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what one training came to; of L-BFGS, after each of several numbers of evaluations."""
    if training["design"] == "SGD":
        model, seconds = _trained(job, alpha=training["rate"], epochs=training["epochs"])
        return [training | {"seconds": seconds, "loss": _loss_of(job, model), **_quality(model)}]
    return _descend(job, arguments)


def _descend(job: Job, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    from gensim.models.callbacks import CallbackAny2Vec

    runs: list[dict[str, Any]] = []

    class Milestones(CallbackAny2Vec):  # type: ignore[misc]
        """Looks at the accepted point after some evaluations; the time that takes does not count."""

        began = time.perf_counter()

        def on_epoch_end(self, model: Any) -> None:
            evaluations = len(model.epoch_losses)
            if evaluations not in arguments.evaluations:
                return
            looked = time.perf_counter()
            found = model.training_report["lbfgs"]
            pairs = found["losses"][0] / model.epoch_losses[0]
            runs.append(
                {
                    "design": "L-BFGS",
                    "epochs": evaluations,
                    "seconds": looked - self.began,
                    "loss": found["losses"][-1] / pairs,
                    "accepted_steps": found["accepted_steps"],
                    "restarts": found["restarts"],
                    **_quality(model),
                }
            )
            self.began += time.perf_counter() - looked

    own = {"distribution": "lbfgs", "lbfgs_history": arguments.history, "epochs": max(arguments.evaluations)}
    _trained(job, callbacks=[Milestones()], **own)
    return runs


def _trained(job: Job, callbacks: Sequence[Any] = (), **own: Any) -> tuple[Any, float]:
    """Return a trained model, and the seconds of its training."""
    model = _model(job, **own)
    began = time.perf_counter()
    for callback in callbacks:
        callback.began = began
    model.train(
        corpus_file=job.corpus,
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=model.epochs,
        callbacks=callbacks,
    )
    return model, time.perf_counter() - began


def _model(job: Job, **own: Any) -> Any:
    """Return a model with a vocabulary, not trained."""
    from gensim_tfw2v import TFWord2Vec

    model = TFWord2Vec(**{**job.gensim_arguments(), **job.own_arguments(), **own}, progress=False)
    model.build_vocab(corpus_file=job.corpus)
    return model


def _loss_of(job: Job, model: Any) -> float:
    """Return the mean loss that L-BFGS would begin with at a model's vectors."""
    other = _model(job, distribution="lbfgs", epochs=1)
    other.wv.vectors, other.syn1neg = model.wv.vectors.copy(), model.syn1neg.copy()
    other.train(corpus_file=job.corpus, total_examples=other.corpus_count, total_words=other.corpus_total_words,
                epochs=1)  # fmt: skip
    return float(other.epoch_losses[0])


def _quality(model: Any) -> dict[str, Any]:
    return {"scores": scores_of(model.wv), "finite": is_finite(model.wv)}


def _table(runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    names = list(runs[0]["scores"])
    table = [["design", "alpha", "evaluations or passes", "train s", "loss", "accepted steps", *names, "finite"]]
    for run in runs:
        scores = [MISSING if (score := run["scores"][name]) is None else f"{score:.2f}" for name in names]
        table.append(
            [
                run["design"],
                f"{run['rate']:g}" if "rate" in run else MISSING,
                str(run["epochs"]),
                f"{run['seconds']:.1f}",
                f"{run['loss']:.4f}",
                str(run.get("accepted_steps", MISSING)),
                *scores,
                "yes" if run["finite"] else "**NO**",
            ]
        )
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Train the first words of a corpus by L-BFGS and by SGD at several rates, and measure the loss of "
        "the whole corpus for both. Run it again after an interruption: trainings that the results have are left out."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "lbfgs")
    add("--words", type=count, default=200_000, metavar="N", help="of the corpus, from its start (default 200,000)")
    add("--evaluations", nargs="+", type=count, default=[10, 50, 100, 200, 300], metavar="N",
        help="after which L-BFGS is looked at (default 10 50 100 200 300)")  # fmt: skip
    add("--history", type=count, default=10, metavar="N", help="steps that L-BFGS remembers (default 10)")
    add("--passes", nargs="+", type=count, default=[5, 50, 300], metavar="N", help="of SGD (default 5 50 300)")
    add("--rates", nargs="+", type=number_from(0, float), default=[0.025, 0.05, 0.1], metavar="X",
        help="first learning rates of SGD (default 0.025 0.05 0.1)")  # fmt: skip
    add("--mode", choices=_MODES, default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--workers", type=count, default=usable_cores(), metavar="N", help="default: all cores")
    add("--seed", type=int, default=1, metavar="N", help="default: 1")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

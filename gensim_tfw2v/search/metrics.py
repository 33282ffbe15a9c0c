"""What models are compared by: metrics of held-out sentences, scores of words, and functions of users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.training.early_stopping import LOSS, METRICS

HALVES, SCORE = "halves", "score"
NAMES = (*(name for name in METRICS if name != LOSS), HALVES, SCORE, LOSS)


@dataclass(frozen=True)
class Metric:
    """What is measured of a trained model.

    Parameters
    ----------
    name : str
        One of `NAMES`, or the name of the user's function.
    measure : callable
        Takes a model and the folder of the held-out sentences, and returns a number.
    is_loss : bool
        Whether it is the validation loss. Lower values are better, and only those of equal predictions can be compared.
    needs_negatives : bool
        Whether models without negative sampling cannot be measured.
    """

    name: str
    measure: Callable[[Any, str], float]
    is_loss: bool = False
    needs_negatives: bool = False

    def value_to_raise(self, value: float | None) -> float:
        """Return a value as a number that is higher where the model is better; that of a failed training is lowest."""
        if value is None:
            return -float("inf")
        return -value if self.is_loss else value


def metric_of(
    metric: str | Callable[[Any], float],
    pairs: Sequence[str] | None = None,
    analogies: Sequence[str] | None = None,
) -> Metric:
    """Return the metric that a name or a user's function stands for; raise ValueError for another name.

    Parameters
    ----------
    metric : str or callable
        One of `NAMES`, or a function of a model whose result is higher for better models.
    pairs, analogies : sequence of str, optional
        Files of `"score"`, as for `gensim_tfw2v.evaluation.score_vectors`.
    """
    if callable(metric):
        function = metric
        return Metric(getattr(metric, "__name__", "metric"), lambda model, _: float(function(model)))
    if metric not in NAMES:
        raise ValueError(f"metric must be {', '.join(map(repr, NAMES))} or a function of a model, got {metric!r}")
    if metric != SCORE and (pairs is not None or analogies is not None):
        raise ValueError(f"pairs and analogies are files of metric 'score', and metric is {metric!r}")
    if metric == SCORE:
        return Metric(metric, lambda model, _: _score(model, pairs, analogies))
    if metric == HALVES:
        return Metric(metric, _halves)
    return Metric(
        metric,
        lambda model, held_out: _validation(model, held_out, metric),
        is_loss=metric == LOSS,
        needs_negatives=metric != LOSS,
    )


def _validation(model: Any, held_out: str, metric: str) -> float:
    from gensim_tfw2v.model.validation import measured_now

    return measured_now(model, held_out, metric)


def _halves(model: Any, held_out: str) -> float:
    from gensim_tfw2v.model.validation import validation_sentences
    from gensim_tfw2v.search.halves import reciprocal_rank_of_halves

    return reciprocal_rank_of_halves(validation_sentences(model, held_out), model.wv.vectors)


def _score(model: Any, pairs: Sequence[str] | None, analogies: Sequence[str] | None) -> float:
    from gensim_tfw2v.evaluation import score_vectors

    if pairs is not None or analogies is not None:  # then only the user's files count
        pairs, analogies = pairs or [], analogies or []
    mean = score_vectors(model.wv, pairs, analogies).mean
    if mean is None:
        raise ValueError(
            "metric 'score' has no value: no pair of words, or no analogy, of one of the files is in the vocabulary; "
            "give other files, or another metric"
        )
    return mean

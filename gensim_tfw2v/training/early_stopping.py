"""When a training ends early: what is measured, which epoch is the best, and the rule."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

RANKS = 10  # length of the list of words that a model expects
LOSS, HITS, NDCG = "loss", f"hits@{RANKS}", f"ndcg@{RANKS}"
METRICS = (LOSS, HITS, NDCG)


def to_lower(metric: str, values: Sequence[float]) -> list[float]:
    """Return the values of a metric as numbers that are lower where the metric is better."""
    return list(values) if metric == LOSS else [-value for value in values]


@dataclass(frozen=True)
class EarlyStopping:
    """Ends training when validation no longer improves; the model then has the vectors of the best epoch.

    `validation_metric` names what is compared: the loss, which is better when lower, or ``"hits@10"`` or
    ``"ndcg@10"``, which are better when higher.

    Parameters
    ----------
    patience : int
        Number of epochs without improvement after which training ends.
    min_delta : float
        Smallest change of the metric that counts as an improvement.

    Examples
    --------
    >>> from gensim_tfw2v import EarlyStopping, Word2Vec
    >>> stopping = EarlyStopping(patience=2, min_delta=0.01)
    >>> model = Word2Vec(corpus_file="corpus.txt", epochs=2, validation=0.1, early_stopping=stopping)
    """

    patience: int = 1
    min_delta: float = 0.0

    def __post_init__(self) -> None:
        patience, min_delta = self.patience, self.min_delta
        if isinstance(patience, bool) or not isinstance(patience, numbers.Integral) or patience < 1:
            raise ValueError(f"patience must be an int of at least 1, got {patience!r}")
        if not isinstance(min_delta, numbers.Real) or not (math.isfinite(min_delta) and min_delta >= 0):
            raise ValueError(f"min_delta must be a finite number of at least 0, got {min_delta!r}")

    def best(self, losses: Sequence[float]) -> int | None:
        """Return the number of the last epoch that was an improvement, from 0; None if there is none yet."""
        best, lowest = None, math.inf
        for epoch, loss in enumerate(losses):
            if loss < lowest - self.min_delta:
                best, lowest = epoch, loss
        return best

    def is_over(self, losses: Sequence[float]) -> bool:
        """Return whether training ends after epochs with these losses."""
        best = self.best(losses)
        return len(losses) - 1 - (-1 if best is None else best) >= self.patience


class EarlyStoppingRule:
    """The rule of the argument `early_stopping`."""

    def plain(self, name: str, value: Any) -> EarlyStopping | None:
        """Return what an int, which is a patience, or an `EarlyStopping` stands for; raise an error for others."""
        if value is None or isinstance(value, EarlyStopping):
            return value
        message = f"{name} must be an int of at least 1, the patience, or an EarlyStopping, got {value!r}"
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise TypeError(message)
        if value < 1:
            raise ValueError(message)
        return EarlyStopping(int(value))

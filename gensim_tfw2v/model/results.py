"""The attributes in which `train()` leaves its results: what they are before any training, and their documentation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """One attribute of TFWord2Vec that `train()` sets."""

    name: str
    type: str  # as in docstrings
    help: str
    before: Callable[[], Any]  # returns the value before any training


RESULTS: tuple[Result, ...] = (
    Result(
        "epoch_losses",
        "list of float",
        "Mean loss per trained pair of each epoch of the last `train()`: over all batches with ``compute_loss=True``, "
        "otherwise over every 16th batch, or every 64th if batches have 512 words or more.",
        list,
    ),
    Result(
        "validation_losses",
        "list of float",
        "Mean loss per pair of the validation sentences after each epoch of the last `train()`; empty without them.",
        list,
    ),
    Result(
        "validation_scores",
        "dict of list of float",
        "The other metrics by name, if `validation_metric` is one of them.",
        dict,
    ),
    Result(
        "optimizer_states",
        "dict of numpy.ndarray",
        "What Adagrad keeps for each row, by table; empty with SGD. The next `train()` continues with it.",
        dict,
    ),
    Result(
        "training_report",
        "dict or None",
        "What the last `train()` cost on a cluster, or where it ran in this process "
        "(docs/reference/reports-and-tags.md).",
        lambda: None,
    ),
)


def results_before_training() -> dict[str, Any]:
    """Return the values of these attributes in a model that has not been trained."""
    return {result.name: result.before() for result in RESULTS}

"""The attributes in which `train()` leaves its results: what they are, and how a training sets them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.training.early_stopping import LOSS

if TYPE_CHECKING:  # gensim, which `tfw2v --help` need not load
    from gensim.models import Word2Vec

    from gensim_tfw2v.training.epoch import EpochPlan
    from gensim_tfw2v.training.progress import EpochCounts

logger = logging.getLogger(__name__)


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


def record_validation(model: Word2Vec, values: Mapping[str, Sequence[float]]) -> None:
    """Set a model's validation losses, and the scores besides, after each epoch."""
    model.validation_losses = list(values.get(LOSS, ()))
    model.validation_scores = {name: list(found) for name, found in values.items() if name != LOSS}


def record_epochs(model: Word2Vec, epochs: Sequence[EpochCounts], seconds_before: float) -> None:
    """Record that these epochs, and no others, of a training are finished; earlier trainings took `seconds_before`."""
    model.epoch_losses = [counts.mean_loss for counts in epochs]
    model.running_training_loss = sum(counts.loss for counts in epochs) if model.compute_loss else 0.0
    model.total_train_time = seconds_before + sum(counts.seconds for counts in epochs)


def record_epoch(model: Word2Vec, plan: EpochPlan, counts: EpochCounts, from_file: bool) -> None:
    """Record that one more epoch is finished, and log it; the corpus may be a file."""
    if counts.blocks == 0 and counts.raw_words == 0 and model.train_count == 0:
        logger.warning(
            "train() called with an empty iterator (if not intended, "
            "be sure to provide a corpus that offers restartable iteration = an iterable)."
        )
    elif counts.raw_words and not counts.trained_words:
        logger.warning(
            "EPOCH %i: none of %i raw words was trained: they are not in the vocabulary, or sample=%s left them out. "
            "build_vocab(..., update=True) adds words",
            plan.epoch,
            counts.raw_words,
            model.sample,
        )
    model.epoch_losses.append(counts.mean_loss)
    if model.compute_loss:
        model.running_training_loss += counts.loss
    model.total_train_time += counts.seconds
    model._log_epoch_end(
        plan.epoch,
        counts.examples,
        plan.total_examples,
        counts.raw_words,
        plan.total_words,
        counts.trained_words,
        max(counts.seconds, 1e-9),
        from_file,
    )


def record_report(model: Word2Vec, report: dict[str, Any] | None) -> None:
    """Record what a training has used so far, None if nothing measures that."""
    model.training_report = None if report is None else report | {"optimizer": model.optimizer}

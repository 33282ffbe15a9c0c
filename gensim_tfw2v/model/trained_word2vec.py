"""gensim's class as training sees a model: an adapter."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.checkpoints.folder import Checkpoint
from gensim_tfw2v.model.arguments import FIXED_IN_TRAINING
from gensim_tfw2v.model.checkpoint_content import attributes_of, read_tables, vocabulary_arrays
from gensim_tfw2v.model.consistency import check_fits, check_rows
from gensim_tfw2v.model.tables import tables_of
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.training.epoch import EpochPlan
from gensim_tfw2v.training.progress import EpochCounts
from gensim_tfw2v.training.validation_metrics import LOSS

logger = logging.getLogger(__name__)


def record_validation(model: Word2Vec, values: Mapping[str, Sequence[float]]) -> None:
    """Set a model's validation losses, and the scores besides."""
    model.validation_losses = list(values.get(LOSS, ()))
    model.validation_scores = {name: list(found) for name, found in values.items() if name != LOSS}


class TrainedWord2Vec:
    """A `TFWord2Vec` in training: a `gensim_tfw2v.training.trained_model.TrainedModel`."""

    def __init__(self, model: Word2Vec) -> None:
        self._model = model

    @property
    def for_callbacks(self) -> Word2Vec:
        return self._model

    @property
    def epochs(self) -> int:
        epochs: int = self._model.epochs
        return epochs

    @property
    def trainings(self) -> int:
        trainings: int = self._model.train_count
        return trainings

    @property
    def measures_every_loss(self) -> bool:
        measures: bool = self._model.compute_loss
        return measures

    @property
    def max_recoveries(self) -> int:
        most: int = self._model.max_recoveries
        return most

    @property
    def recovery_timeout(self) -> float:
        seconds: float = self._model.recovery_timeout
        return seconds

    def learning_rate(self, epoch: int, fraction: float) -> float:
        return float(self._model._get_next_alpha(fraction, epoch))

    def fixed_settings(self) -> Mapping[str, Any]:
        return {name: getattr(self._model, name) for name in FIXED_IN_TRAINING}

    @property
    def words(self) -> list[Any]:
        words: list[Any] = self._model.wv.index_to_key
        return words

    @property
    def has_tables(self) -> bool:
        return not self._model.vectors_on_servers

    @property
    def has_initial_tables(self) -> bool:
        return bool(self._model.wv.vectors.store.is_untrained)

    def check_fits(self) -> None:
        check_fits(self._model)

    def check_rows(self, words: int) -> None:
        check_rows(self._model, words)

    def tables(self) -> ModelTables:
        return tables_of(self._model)

    def use_new_tables(self) -> None:
        self._model._clear_post_train()

    def attributes(self) -> dict[str, Any]:
        return attributes_of(self._model)

    def vocabulary_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        return vocabulary_arrays(self._model)

    @property
    def lock_factors(self) -> Float32Array:
        return np.asarray(self._model.wv.vectors_lockf, np.float32)

    def read_tables(self, checkpoint: Checkpoint) -> None:
        read_tables(self._model, checkpoint)

    @property
    def training_seconds(self) -> float:
        seconds: float = self._model.total_train_time
        return seconds

    def set_finished(self, epochs: Sequence[EpochCounts], seconds_before: float) -> None:
        model = self._model
        model.epoch_losses = [counts.mean_loss for counts in epochs]
        model.running_training_loss = sum(counts.loss for counts in epochs) if model.compute_loss else 0.0
        model.total_train_time = seconds_before + sum(counts.seconds for counts in epochs)

    def add_finished(self, plan: EpochPlan, counts: EpochCounts, from_file: bool) -> None:
        model = self._model
        if counts.blocks == 0 and counts.raw_words == 0 and model.train_count == 0:
            logger.warning(
                "train() called with an empty iterator (if not intended, "
                "be sure to provide a corpus that offers restartable iteration = an iterable)."
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

    def set_validation(self, values: Mapping[str, Sequence[float]]) -> None:
        record_validation(self._model, values)

    def end_after(self, epochs: int) -> None:
        self._model.epochs = epochs

    def set_report(self, report: dict[str, Any] | None) -> None:
        chosen = {"optimizer": self._model.optimizer}
        self._model.training_report = report if report is None else report | chosen

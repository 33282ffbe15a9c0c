"""The validation of one training: what is measured, early stopping, and the best epoch's vectors."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.checkpoints.folder import Checkpoint
from gensim_tfw2v.training.early_stopping import EarlyStopping
from gensim_tfw2v.training.next_word_scores import NextWordScores
from gensim_tfw2v.training.progress import EpochPosition, ValidationPoint
from gensim_tfw2v.training.table_sync import TableSync
from gensim_tfw2v.training.validation_loss import ValidationLoss
from gensim_tfw2v.training.validation_metrics import LOSS, METRICS, to_lower

logger = logging.getLogger(__name__)

_BEST = "best."  # prefix of the names of the best epoch's tables in a checkpoint


@dataclass(frozen=True, kw_only=True)
class ValidationState:
    """What a training is validated on and the values so far, as its checkpoints have them."""

    share: float | None  # of the corpus's sentences that is held out; None: the sentences come from elsewhere
    path: str | None  # of the file that has the sentences
    checksum: int  # of the pairs
    sentences: int
    words: int  # raw words of these sentences
    metric: str = LOSS  # decides which epoch is the best
    patience: int | None  # None: no early stopping
    min_delta: float
    every: int | None = None  # raw words between two measurements within epochs; None: only epochs are measured
    values: dict[str, dict[str, float]] = field(default_factory=dict)  # number of the epoch → metric → value
    points: list[ValidationPoint] = field(default_factory=list)  # what was measured within epochs, in order

    @property
    def early_stopping(self) -> EarlyStopping | None:
        """The rule that ends training, if there is one."""
        return None if self.patience is None else EarlyStopping(self.patience, self.min_delta)

    def held_out(self) -> tuple[int, int]:
        """Return how many sentences and raw words of the corpus are not trained."""
        return (0, 0) if self.share is None else (self.sentences, self.words)

    def of_epochs(self, metric: str, epochs: int) -> list[float]:
        """Return the values of a metric after the first epochs, nan where it was not measured."""
        return [self.values.get(str(epoch), {}).get(metric, math.nan) for epoch in range(epochs)]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of what is measured after each epoch."""
        return (LOSS,) if self.metric == LOSS else METRICS

    def of_all(self, epochs: int) -> dict[str, list[float]]:
        """Return the values of each metric after the first epochs."""
        return {name: self.of_epochs(name, epochs) for name in self.metrics}

    def to_lower(self, epochs: int) -> list[float]:
        """Return the values by which epochs are compared, the lower the better."""
        return to_lower(self.metric, self.of_epochs(self.metric, epochs))

    def best_of(self, epochs: int) -> int | None:
        """Return which of the first epochs is the best if the model gets its vectors, None if there is none."""
        return None if self.early_stopping is None else self.early_stopping.best(self.to_lower(epochs))

    def ends_with_earlier(self, epochs: int) -> bool:
        """Return whether the model's vectors after so many epochs are those of an earlier epoch than the last."""
        best = self.best_of(epochs)
        return best is not None and best + 1 < epochs


class Validation:
    """Measures the vectors after each epoch and within epochs; keeps the best epoch's if early stopping needs them.

    Parameters
    ----------
    loss : ValidationLoss, optional
        Measures the loss of tables; without it, nothing is measured and training does not end early.
    state : ValidationState, optional
        What is measured, the rule that ends training, and the values of epochs before training resumes.
    checkpoint : Checkpoint, optional
        The checkpoint from which training resumes, which may have the best epoch's tables.
    next_words : NextWordScores, optional
        Measures how high the last words of sentences are ranked.
    """

    def __init__(
        self,
        loss: ValidationLoss | None = None,
        state: ValidationState | None = None,
        checkpoint: Checkpoint | None = None,
        next_words: NextWordScores | None = None,
    ) -> None:
        self._loss, self._state, self._next_words = loss, state, next_words
        self._stopping = None if state is None else state.early_stopping
        self._seconds = 0.0
        self._best: Mapping[str, Float32Array] = {} if checkpoint is None else best_tables_in(checkpoint)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of what is measured after each epoch; none if nothing is."""
        return () if self._state is None else self._state.metrics

    @property
    def every(self) -> int | None:
        """Raw words between two measurements within epochs; None if only epochs are measured."""
        return None if self._state is None else self._state.every

    @property
    def keeps_best(self) -> bool:
        """Whether the model gets the vectors of the best epoch."""
        return self._stopping is not None

    def held_out(self) -> tuple[int, int]:
        """Return how many sentences and raw words of the corpus are not trained."""
        return (0, 0) if self._state is None else self._state.held_out()

    def state(self) -> ValidationState | None:
        """Return what a checkpoint has of it."""
        return self._state

    def values(self, epochs: int) -> dict[str, list[float]]:
        """Return the values of each metric after the first epochs, nan where it was not measured."""
        return {} if self._state is None else self._state.of_all(epochs)

    def misses(self, epochs: int) -> bool:
        """Return whether nothing was measured after the last of these epochs."""
        return self._state is not None and epochs > 0 and str(epochs - 1) not in self._state.values

    def measure(self, sync: TableSync, epoch: int) -> dict[str, float]:
        """Return the values of the current vectors, which are those after this epoch; keep the tables if best."""
        if self._loss is None or self._state is None:
            return {}
        values = self._measured(sync)
        self._state = replace(self._state, values={**self._state.values, str(epoch): values})
        if self._state.best_of(epoch + 1) == epoch:
            began = time.perf_counter()
            self._best = {}  # so that there are not two copies, unless a checkpoint is still writing the former one
            self._best = sync.copies()
            self._seconds += time.perf_counter() - began
        return values

    def measure_within(self, sync: TableSync, position: EpochPosition) -> ValidationPoint:
        """Return the values of the current vectors at a position within an epoch, which early stopping ignores."""
        assert self._state is not None
        counts = position.counts
        point = ValidationPoint(position.epoch, counts.raw_words, counts.trained_words, self._measured(sync))
        self._state = replace(self._state, points=[*self._state.points, point])
        return point

    def _measured(self, sync: TableSync) -> dict[str, float]:
        """Return the values of the current vectors."""
        assert self._loss is not None
        began = time.perf_counter()
        values = {LOSS: self._loss.mean_loss(sync.rows)}
        if self._next_words is not None:
            values |= self._next_words.measure(sync.rows)
        self._seconds += time.perf_counter() - began
        return values

    def continue_from(self, positions: Sequence[EpochPosition]) -> None:
        """Forget what was measured within epochs after these positions of all epochs."""
        if self._state is not None:
            trained = {position.epoch: position.counts.raw_words for position in positions}
            kept = [point for point in self._state.points if point.raw_words <= trained.get(point.epoch, 0)]
            self._state = replace(self._state, points=kept)

    def ends_after(self, epochs: int) -> bool:
        """Return whether early stopping ends the training after so many epochs; log it if so."""
        if self._state is None or self._stopping is None or not self._stopping.is_over(self._state.to_lower(epochs)):
            return False
        best = self._state.best_of(epochs)
        logger.info(
            "training ends after %i epochs: the validation %s has not improved by more than %g for %i epochs; %s",
            epochs,
            self._state.metric,
            self._stopping.min_delta,
            self._stopping.patience,
            "it never was a finite number" if best is None else f"the vectors are those after EPOCH {best}",
        )
        return True

    def give_back_best(self, sync: TableSync, epochs: int) -> None:
        """Set the model's vectors to those of the best of these epochs, unless it is the last one."""
        if self._state is not None and self._state.ends_with_earlier(epochs) and self._best:
            sync.put(self._best)

    def kept_arrays(self) -> Mapping[str, Float32Array]:
        """Return the arrays that a checkpoint holds besides the tables in training."""
        return {_BEST + name: table for name, table in self._best.items()}

    def report(self, epochs: int) -> dict[str, Any]:
        """Return what was measured, how long that took, and the best epoch so far."""
        assert self._loss is not None and self._state is not None
        compared = self._state.to_lower(epochs)
        found: dict[str, Any] = {
            "pairs": len(self._loss),
            "sentences": self._state.sentences,
            "words": self._state.words,
            "seconds": self._seconds,
            "best_epoch": (self._stopping or EarlyStopping()).best(compared),
            "ended_early": self._stopping is not None and self._stopping.is_over(compared),
        }
        if self._state.every is not None:
            found["within_epochs"] = [
                {"epoch": point.epoch, "words": point.raw_words, **point.values} for point in self._state.points
            ]
        return found if self._next_words is None else found | {"next_words": len(self._next_words)}


NO_VALIDATION = Validation()


def best_tables_in(checkpoint: Checkpoint) -> Mapping[str, Float32Array]:
    """Return the best epoch's tables in a checkpoint, and their states, by name; none if it has none."""
    return {name.removeprefix(_BEST): checkpoint.array(name) for name in checkpoint.arrays if name.startswith(_BEST)}

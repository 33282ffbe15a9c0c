"""The validation of one training: what is measured and when, early stopping, and the best epoch's vectors."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.checkpoints.folder import Checkpoint
from gensim_tfw2v.training.early_stopping import LOSS, EarlyStopping
from gensim_tfw2v.training.measures import NextWordScores, ReadRows, ValidationLoss
from gensim_tfw2v.training.progress import EpochPosition, ValidationPoint
from gensim_tfw2v.training.state import ValidationState

logger = logging.getLogger(__name__)

_BEST = "best."  # prefix of the names of the best epoch's tables in a checkpoint


class Validation:
    """Measures the vectors after each epoch and within epochs; keeps the best epoch's if early stopping needs them.

    Within epochs it measures at the first end of a chunk after every so many raw words, over all epochs. The thread
    that trained the chunk measures. With one chunk at a time, training pauses meanwhile. With several, the other
    threads train on, and no second measurement begins before the first has ended.

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
        self._loss, self.state, self._next_words = loss, state, next_words
        self._stopping = None if state is None else state.early_stopping
        self._seconds = 0.0
        self._best: Mapping[str, Float32Array] = {} if checkpoint is None else best_tables_in(checkpoint)
        self._lock = threading.Lock()  # guards the next four
        self._words = self._due = 0  # trained so far, and when the next measurement within epochs is due
        self._is_measuring = False
        self._new_points: list[ValidationPoint] = []  # that `new_points` has not returned yet

    def begin(self, read: ReadRows, copies: Callable[[], Mapping[str, Float32Array]]) -> None:
        """Measure with these functions: the first returns rows of the current tables, the other copies of all."""
        self._read, self._copies = read, copies

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of what is measured after each epoch; none if nothing is."""
        return () if self.state is None else self.state.metrics

    @property
    def keeps_best(self) -> bool:
        """Whether the model gets the vectors of the best epoch."""
        return self._stopping is not None

    def held_out(self) -> tuple[int, int]:
        """Return how many sentences and raw words of the corpus are not trained."""
        return (0, 0) if self.state is None else self.state.held_out()

    def values(self, epochs: int) -> dict[str, list[float]]:
        """Return the values of each metric after the first epochs, nan where it was not measured."""
        return {} if self.state is None else self.state.of_all(epochs)

    def misses(self, epochs: int) -> bool:
        """Return whether nothing was measured after the last of these epochs."""
        return self.state is not None and epochs > 0 and str(epochs - 1) not in self.state.values

    def measure(self, epoch: int) -> Mapping[str, float]:
        """Return the values of the current vectors, which are those after this epoch; keep the tables if best."""
        if self.state is None:
            return {}
        values = self._measured()
        self.state = replace(self.state, values={**self.state.values, str(epoch): values})
        if self.state.best_of(epoch + 1) == epoch:
            began = time.perf_counter()
            self._best = {}  # so that there are not two copies, unless a checkpoint is still writing the former one
            self._best = self._copies()
            self._seconds += time.perf_counter() - began
        return values

    def after_chunk(self, raw_words: int, positions: Callable[[], list[EpochPosition]]) -> None:
        """Count the words of a trained chunk, and measure if that is due. Early stopping ignores what is measured."""
        if self.state is None or self.state.every is None:
            return
        with self._lock:
            self._words += raw_words
            if self._is_measuring or self._words < self._due:
                return
            self._due = self._next_due()
            self._is_measuring = True
        try:
            position = positions()[-1]
            counts = position.counts
            point = ValidationPoint(position.epoch, counts.raw_words, counts.trained_words, self._measured())
            self.state = replace(self.state, points=[*self.state.points, point])
            with self._lock:
                self._new_points.append(point)
        finally:
            with self._lock:
                self._is_measuring = False

    def new_points(self) -> Sequence[ValidationPoint]:
        """Return what was measured within epochs since this was called last."""
        with self._lock:
            found, self._new_points = self._new_points, []
        return found

    def continue_from(self, positions: Sequence[EpochPosition]) -> None:
        """Continue from these positions of all epochs, and forget what was measured within epochs after them."""
        if self.state is not None:
            trained = {position.epoch: position.counts.raw_words for position in positions}
            kept = [point for point in self.state.points if point.raw_words <= trained.get(point.epoch, 0)]
            self.state = replace(self.state, points=kept)
        with self._lock:
            self._words = sum(position.counts.raw_words for position in positions)
            self._due = self._next_due()

    def _next_due(self) -> int:
        every = None if self.state is None else self.state.every
        return 0 if every is None else (self._words // every + 1) * every

    def _measured(self) -> dict[str, float]:
        assert self._loss is not None
        began = time.perf_counter()
        values = {LOSS: self._loss.mean_loss(self._read)}
        if self._next_words is not None:
            values |= self._next_words.measure(self._read)
        self._seconds += time.perf_counter() - began
        return values

    def ends_after(self, epochs: int) -> bool:
        """Return whether early stopping ends the training after so many epochs; log it if so."""
        if self.state is None or self._stopping is None or not self._stopping.is_over(self.state.to_lower(epochs)):
            return False
        best = self.state.best_of(epochs)
        logger.info(
            "training ends after %i epochs: the validation %s has not improved by more than %g for %i epochs; %s",
            epochs,
            self.state.metric,
            self._stopping.min_delta,
            self._stopping.patience,
            "it never was a finite number" if best is None else f"the vectors are those after EPOCH {best}",
        )
        return True

    def best_tables(self, epochs: int) -> Mapping[str, Float32Array]:
        """Return the tables of the best of these epochs for the model; none if it is the last one."""
        return self._best if self.state is not None and self.state.ends_with_earlier(epochs) else {}

    def kept_arrays(self) -> Mapping[str, Float32Array]:
        """Return the arrays that a checkpoint holds besides the tables in training."""
        return {_BEST + name: table for name, table in self._best.items()}

    def report(self, epochs: int) -> dict[str, Any]:
        """Return what was measured, how long that took, and the best epoch so far."""
        assert self._loss is not None and self.state is not None
        compared = self.state.to_lower(epochs)
        found: dict[str, Any] = {
            "pairs": len(self._loss),
            "sentences": self.state.sentences,
            "words": self.state.words,
            "seconds": self._seconds,
            "best_epoch": (self._stopping or EarlyStopping()).best(compared),
            "ended_early": self._stopping is not None and self._stopping.is_over(compared),
        }
        if self.state.every is not None:
            found["within_epochs"] = [
                {"epoch": point.epoch, "words": point.raw_words, **point.values} for point in self.state.points
            ]
        return found if self._next_words is None else found | {"next_words": len(self._next_words)}


def best_tables_in(checkpoint: Checkpoint) -> Mapping[str, Float32Array]:
    """Return the best epoch's tables in a checkpoint, and their states, by name; none if it has none."""
    return {name.removeprefix(_BEST): checkpoint.array(name) for name in checkpoint.arrays if name.startswith(_BEST)}

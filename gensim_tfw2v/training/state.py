"""How far a training has come ↔ the content of a checkpoint about it, and the folder of its checkpoints."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from gensim_tfw2v.blocks.batches import BatchShape, Windows
from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.corpus.positions import PassPosition
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.training.early_stopping import LOSS, METRICS, EarlyStopping, to_lower
from gensim_tfw2v.training.progress import EpochCounts, EpochPosition, ValidationPoint

ResumeFrom = bool | str | os.PathLike[str]
"""True: resume from the newest checkpoint, if there is one. A path: from that one. False: start from the beginning."""


@dataclass(frozen=True, kw_only=True)
class TrainingChoices:
    """The choices made when a training begins. They stay as they are if the training is resumed elsewhere."""

    total_examples: int | None  # sentences of an epoch
    total_words: int | None  # raw words of an epoch
    fall: float  # how far the learning rate falls within an epoch, as a share of an even fall to `min_alpha`
    entropy: tuple[int, ...]  # of the training's random numbers
    alpha: float  # the model's rates at the beginning; callbacks may change them
    min_alpha: float
    block_words: int
    negative_pool: int | None
    shape: BatchShape
    windows: Windows
    settings: StepSettings
    first_pass: int = 0  # number of the pass that the first epoch reads, of sentences whose passes differ

    def without(self, sentences: int, raw_words: int) -> TrainingChoices:
        """Return the choices for a corpus of which so many sentences and words are not trained."""
        examples = None if self.total_examples is None else max(1, self.total_examples - sentences)
        words = None if self.total_words is None else max(1, self.total_words - raw_words)
        return replace(self, total_examples=examples, total_words=words) if raw_words else self

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> TrainingChoices:
        """Return the choices that a checkpoint has as JSON."""
        return cls(
            **{
                **found,
                "entropy": tuple(found["entropy"]),
                "shape": BatchShape(**found["shape"]),
                "windows": Windows(found["windows"]),
                "settings": StepSettings(**found["settings"]),
            }
        )


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
        """Return how many whole sentences and raw words of the corpus are not trained."""
        return (0, 0) if self.share is None else (self.sentences, self.words)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of what is measured after each epoch."""
        return (LOSS,) if self.metric == LOSS else METRICS

    def of_all(self, epochs: int) -> dict[str, list[float]]:
        """Return the values of each metric after the first epochs, nan where it was not measured."""
        measured = [self.values.get(str(epoch), {}) for epoch in range(epochs)]
        return {name: [values.get(name, math.nan) for values in measured] for name in self.metrics}

    def to_lower(self, epochs: int) -> list[float]:
        """Return the values by which epochs are compared, the lower the better."""
        return to_lower(self.metric, self.of_all(epochs)[self.metric])

    def best_of(self, epochs: int) -> int | None:
        """Return which of the first epochs is the best if the model gets its vectors, None if there is none."""
        return None if self.early_stopping is None else self.early_stopping.best(self.to_lower(epochs))

    def ends_with_earlier(self, epochs: int) -> bool:
        """Return whether the model's vectors after so many epochs are those of an earlier epoch than the last."""
        best = self.best_of(epochs)
        return best is not None and best + 1 < epochs


@dataclass(frozen=True)
class TrainingState:
    """How far a training has come, besides its tables."""

    run: str  # the training's name, which it keeps when it is resumed
    choices: TrainingChoices
    epochs: list[EpochPosition]  # all epochs that have begun, in their order
    placement: Mapping[str, Any]  # what `Placement.state` returns
    epochs_ended: int  # epochs at whose end callbacks have been called
    seconds_before: float  # how long the model had been trained when the training began
    log_folder: str | None = None  # of the TensorBoard run
    validation: ValidationState | None = None  # None: no loss is measured on other sentences

    def raw_words(self) -> int:
        """Return the raw words that have been trained, over all epochs."""
        return sum(position.counts.raw_words for position in self.epochs)

    def trained_words(self) -> int:
        """Return how many of these words subsampling kept."""
        return sum(position.counts.trained_words for position in self.epochs)

    def is_finished(self, epochs: int) -> bool:
        """Return whether a training of `epochs` epochs is finished."""
        return sum(position.is_finished for position in self.epochs) >= epochs

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self), default=np.generic.item))
        return found


@dataclass(frozen=True)
class Beginning:
    """Where a training begins."""

    folder: CheckpointFolder | None = None  # for checkpoints
    state: TrainingState | None = None  # how far the training came in another process; None: from the beginning
    checkpoint: Checkpoint | None = None  # of this state


def state_in(checkpoint: Checkpoint) -> TrainingState:
    """Return how far the training of a checkpoint had come."""
    try:
        found = checkpoint.content["training"]
        choices, epochs = TrainingChoices.from_json(found["choices"]), [_position(epoch) for epoch in found["epochs"]]
        validation = None if found.get("validation") is None else _validation(found["validation"])
        return TrainingState(**{**found, "choices": choices, "epochs": epochs, "validation": validation})
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{checkpoint.path} is of another version of this package ({type(error).__name__}: {error}); resume the "
            "training with the version that began it"
        ) from None


def note_epochs_ended(folder: CheckpointFolder, run: str, ended: int) -> None:
    """Note beside the checkpoints for how many epochs callbacks have been called, even if no checkpoint follows."""
    folder.note({**folder.notes_if_whole(), "run": run, "epochs_ended": ended})


def with_noted_epochs(state: TrainingState, folder: CheckpointFolder) -> TrainingState:
    """Return the state, updated with the number of ended epochs that was noted after the checkpoint."""
    notes = folder.notes_if_whole()
    ended = notes.get("epochs_ended", 0) if notes.get("run") == state.run else 0
    return replace(state, epochs_ended=max(state.epochs_ended, ended))


def _validation(found: Mapping[str, Any]) -> ValidationState:
    points = [ValidationPoint(**point) for point in found.get("points", ())]
    return ValidationState(**{**found, "points": points})


def _position(found: Mapping[str, Any]) -> EpochPosition:
    passed = found["passed"]
    position = PassPosition(passed["chunks"], passed["checksum"], tuple(passed["missing"]))
    return EpochPosition(found["epoch"], position, EpochCounts(**found["counts"]), found["is_finished"])


def check_folder(checkpoint_dir: Any) -> None:
    """Raise TypeError if this is no path, and OSError if it is the path of a file."""
    if checkpoint_dir is None:
        return
    if not isinstance(checkpoint_dir, str | os.PathLike):
        raise TypeError(f"checkpoint_dir must be the path of a folder, got {checkpoint_dir!r}")
    CheckpointFolder(checkpoint_dir).check()


@contextmanager
def usable(folder: CheckpointFolder, resume: ResumeFrom) -> Iterator[Checkpoint | None]:
    """Keep a folder for one training, and yield the checkpoint to resume from, or the newest one, if there is any.

    Raise an error if the folder cannot be used, or has a training that is neither finished nor resumed.
    """
    folder.prepare()
    with folder.held():
        found = folder.newest() if isinstance(resume, bool) else Checkpoint(resume)
        if not resume:
            _check_is_finished(found)
        elif found is not None and found.path.parent != folder.path:
            _check_is_finished(folder.newest())
        yield found


def _check_is_finished(newest: Checkpoint | None) -> None:
    if newest is not None and not state_in(newest).is_finished(epochs_in(newest)):
        raise ValueError(
            f"checkpoint_dir {str(newest.path.parent)!r} has a training that is not finished; resume it (resume=True, "
            "on the command line --resume), or name another folder, or remove this one"
        )


def epochs_in(checkpoint: Checkpoint) -> int:
    """Return how many epochs the training of a checkpoint was to have."""
    epochs: int = checkpoint.content["model"]["epochs"]
    return epochs

"""How far a training has come ↔ the content of a checkpoint about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.corpus.passes import PassPosition
from gensim_tfw2v.training.choices import TrainingChoices
from gensim_tfw2v.training.progress import EpochCounts, EpochPosition, ValidationPoint
from gensim_tfw2v.training.validation import ValidationState


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

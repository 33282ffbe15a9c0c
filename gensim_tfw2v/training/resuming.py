"""Where a training begins: the folder of its checkpoints, and the checkpoint to resume from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.training.state import TrainingState, state_in

ResumeFrom = bool | str | os.PathLike[str]
"""True: resume from the newest checkpoint, if there is one. A path: from that one. False: start from the beginning."""


@dataclass(frozen=True)
class Beginning:
    """Where a training begins."""

    folder: CheckpointFolder | None = None  # for checkpoints
    state: TrainingState | None = None  # how far the training came in another process; None: from the beginning
    checkpoint: Checkpoint | None = None  # of this state


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
    """Raise ValueError if the newest checkpoint of a folder is of a training that is not finished."""
    if newest is not None and not state_in(newest).is_finished(epochs_in(newest)):
        raise ValueError(
            f"checkpoint_dir {str(newest.path.parent)!r} has a training that is not finished; resume it (resume=True, "
            "on the command line --resume), or name another folder, or remove this one"
        )


def epochs_in(checkpoint: Checkpoint) -> int:
    """Return how many epochs the training of a checkpoint was to have."""
    epochs: int = checkpoint.content["model"]["epochs"]
    return epochs

"""Errors of checkpoints, and errors of the operating system with a message about the checkpoints."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


class CheckpointError(ValueError):
    """A checkpoint is damaged or missing, or a value cannot be in a checkpoint."""


class FolderInUseError(RuntimeError):
    """Another training writes checkpoints to the folder."""


def damaged(path: Path, why: object) -> CheckpointError:
    """Return the error for a file whose content is not what was written."""
    return CheckpointError(f"{path} is damaged: {' '.join(str(why).split())}")


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise CheckpointError if the system cannot read a file."""
    try:
        yield
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from None


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Add the name of the folder of checkpoints to errors in writing."""
    try:
        yield
    except OSError as error:
        message = f"cannot write checkpoints, and those that are there stay: {error.strerror or error}"
        raise OSError(error.errno, message, str(folder)) from error

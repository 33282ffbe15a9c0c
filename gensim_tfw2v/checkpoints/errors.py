"""Errors of checkpoints, and errors of the operating system said in a way that tells what has become of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


class CheckpointError(ValueError):
    """A checkpoint that is damaged or not there, or something that no checkpoint can hold."""


def damaged(path: Path, why: object) -> CheckpointError:
    """Return the error for a file that is not what was written."""
    return CheckpointError(f"{path} is damaged: {' '.join(str(why).split())}")


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise CheckpointError for a file that the system does not read."""
    try:
        yield
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from None


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Give errors in writing the name of the folder of checkpoints."""
    try:
        yield
    except OSError as error:
        message = f"cannot write checkpoints, and those that are there stay: {error.strerror or error}"
        raise OSError(error.errno, message, str(folder)) from error

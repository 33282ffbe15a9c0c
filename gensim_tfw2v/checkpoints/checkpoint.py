"""A checkpoint, read and checked."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.checkpoints.arrays import ArrayLayout, Rows, check_size, read_pieces, shown
from gensim_tfw2v.checkpoints.errors import CheckpointError, reading
from gensim_tfw2v.checkpoints.manifest import MANIFEST_FILE, array_file, read_manifest

_NAME = re.compile(r"checkpoint-(?P<number>[0-9]{6,18})")


class Checkpoint:
    """A checkpoint on disk. Its manifest has been read and checked; arrays are checked when they are read.

    An error names the damaged file. It says which earlier checkpoint can be resumed from instead.

    Parameters
    ----------
    path : str or os.PathLike
        The checkpoint's folder, or a folder of checkpoints, whose newest one is then taken.

    Attributes
    ----------
    path : Path
        The checkpoint's folder.
    content : dict
        The content that was written with it.
    arrays : Mapping
        Shape and type of each array by name.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _newest_in(absolute(path))
        with self._former_named():
            manifest = read_manifest(self.path)
        self.content: dict[str, Any] = manifest.content
        self.arrays: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]] = {
            name: (layout.shape, layout.dtype.newbyteorder("=")) for name, layout in manifest.arrays.items()
        }
        self._layouts = manifest.arrays

    def pieces(self, name: str) -> Iterator[tuple[int, Rows]]:
        """Yield the rows of an array in order: the number of the first one, and as many as fit in about 4 MB.

        Each piece is checked before it is yielded.
        """
        layout = self._layout(name)
        with self._former_named():
            yield from read_pieces(self.path / array_file(name), layout)

    def read_into(self, name: str, array: Rows) -> None:
        """Read an array into one of the same shape and type. If an error is raised, a part of it may have been read."""
        layout = self._layout(name)
        if array.shape != layout.shape or array.dtype != layout.dtype.newbyteorder("="):
            raise CheckpointError(
                f"array {name!r} of {self.path} has shape {layout.shape} and type {layout.dtype}, "
                f"and does not fit into one of shape {array.shape} and type {array.dtype}"
            )
        for first, rows in self.pieces(name):
            array[first : first + len(rows)] = rows

    def array(self, name: str) -> Rows:
        """Return a whole array, which may be changed."""
        layout = self._layout(name)
        with self._former_named():
            check_size(self.path / array_file(name), layout)  # so that no more memory is used than there are bytes
        array: Rows = np.empty(layout.shape, layout.dtype.newbyteorder("="))
        self.read_into(name, array)
        return array

    def check(self) -> None:
        """Read every file; raise CheckpointError for the first one that is damaged."""
        with self._former_named():
            read_manifest(self.path)
        for name in self.arrays:
            for _ in self.pieces(name):
                pass

    def _layout(self, name: str) -> ArrayLayout:
        if name not in self._layouts:
            known = ", ".join(self._layouts) or "none"
            raise CheckpointError(f"{self.path} has no array {shown(name)}; it has {known}")
        return self._layouts[name]

    @contextlib.contextmanager
    def _former_named(self) -> Iterator[None]:
        try:
            yield
        except CheckpointError as error:
            former = next(filter(_seems_whole, reversed(_those_before(self.path))), None)
            if former is None:
                raise CheckpointError(f"{error}; there is no checkpoint before it") from None
            raise CheckpointError(f"{error}; resume from {former} instead, the checkpoint before it") from None


def checkpoints_in(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, oldest first; none if the folder does not exist."""
    try:
        found = [path for path in folder.iterdir() if _NAME.fullmatch(path.name) and path.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=number_of)


def number_of(path: Path) -> int:
    """Return the number of a checkpoint."""
    found = _NAME.fullmatch(path.name)
    return int(found["number"]) if found else 0


def absolute(path: str | os.PathLike[str]) -> Path:
    """Return a path that stays right when the working directory changes."""
    return Path(os.path.abspath(os.path.expanduser(path)))


def is_checkpoint(path: Path) -> bool:
    """Return whether a path is that of a checkpoint, and not of the folder of checkpoints."""
    return bool(_NAME.fullmatch(path.name) and path.is_dir()) or (path / MANIFEST_FILE).exists()


def _newest_in(path: Path) -> Path:
    if is_checkpoint(path):
        return path
    with reading(path):
        found = checkpoints_in(path)
    if not found:
        found_instead = "holds no checkpoint" if path.is_dir() else "is no folder of checkpoints"
        raise CheckpointError(f"{path} {found_instead}; give the checkpoint_dir of the training to resume")
    return found[-1]


def _those_before(path: Path) -> list[Path]:
    try:
        return [found for found in checkpoints_in(path.parent) if number_of(found) < number_of(path)]
    except OSError:
        return []


def _seems_whole(path: Path) -> bool:
    try:
        for name, layout in read_manifest(path).arrays.items():
            check_size(path / array_file(name), layout)
    except CheckpointError:
        return False
    return True

"""A folder of checkpoints: each is complete or does not exist, and one training at a time writes them."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gensim_tfw2v.checkpoints.arrays import ArrayToWrite, write_array
from gensim_tfw2v.checkpoints.checkpoint import Checkpoint, absolute, checkpoints_in, is_checkpoint, number_of
from gensim_tfw2v.checkpoints.errors import CheckpointError, FolderInUseError, reading, writing
from gensim_tfw2v.checkpoints.manifest import (
    MANIFEST_FILE,
    NOTES_FILE,
    Manifest,
    array_file,
    checked_content,
    manifest_text,
    notes_text,
    read_notes,
)
from gensim_tfw2v.checkpoints.owner import Owner, become_owner, read_owner
from gensim_tfw2v.checkpoints.unfinished import (
    remove_folder,
    remove_folders_of,
    remove_leftovers,
    unfinished_folder,
)
from gensim_tfw2v.files.whole_files import bring_to_disk
from gensim_tfw2v.runtime.system import call_after_fork, lock_file

__all__ = ["Checkpoint", "CheckpointFolder"]

logger = logging.getLogger(__name__)

_LOCK_FILE = ".lock"
_TAKEN = (errno.EWOULDBLOCK, errno.EACCES)
_HELD: set[int] = set()  # descriptors of this process's locks


class CheckpointFolder:
    """Writes checkpoints to a folder, and finds those that are there.

    Parameters
    ----------
    path : str or os.PathLike
        The folder.
    keep : int
        How many checkpoints are kept, the newest ones.
    """

    def __init__(self, path: str | os.PathLike[str], keep: int = 3) -> None:
        if keep < 1:
            raise ValueError(f"at least one checkpoint has to be kept, not {keep}")
        self.path = absolute(path)
        self._keep = keep
        self._owner: Owner | None = None  # the training that has held the folder by this object

    def check(self) -> None:
        """Raise an error if the path is not that of a folder of checkpoints or a new one; create nothing."""
        if is_checkpoint(self.path) or number_of(self.path):
            raise ValueError(f"{self.path} has the name of a checkpoint; name a folder of checkpoints")
        with writing(self.path):
            if self.path.exists() and not self.path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, "this is a file, and not a folder")

    def prepare(self) -> None:
        """Make the folder, check that it can be written to, and remove unfinished folders that dead writers left."""
        self.check()
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.path)
        with unfinished_folder(self.path) as folder:
            self._write_file(folder / MANIFEST_FILE, b"{}")

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Reserve the existing folder for one training, of this or another process; raise FolderInUseError if it is.

        The system releases the lock when the process ends, whatever ends it. A file server also releases it if the
        machine does not answer for long, and another training may take the folder then: it becomes the folder's next
        owner, and what a former one has begun to write is removed. A warning is logged if the file system has no locks.
        """
        with writing(self.path):
            lock = os.open(self.path / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
        _HELD.add(lock)
        try:
            _take(lock, self.path)
            with writing(self.path):
                self._owner, former = become_owner(lock)
            if former is not None:
                remove_folders_of(self.path, former.writer)
            yield
        finally:
            _HELD.discard(lock)
            os.close(lock)

    def check_is_held(self) -> None:
        """Raise FolderInUseError if this training has held the folder, and another one has taken it.

        A thread of the former training may still write, as on a storage that has hung.
        """
        if self._owner is None:
            return
        with contextlib.suppress(OSError):  # removed, or the system lets nobody read it
            found = read_owner(self.path / _LOCK_FILE)
            if found != self._owner:
                newer = "" if found is None else f" as owner {found.number}"
                raise FolderInUseError(
                    f"another training has resumed from checkpoint_dir {str(self.path)!r}{newer} while this one, "
                    f"owner {self._owner.number}, did not run; this one ends, so that only one of them writes there"
                )

    @contextlib.contextmanager
    def _unfinished(self) -> Iterator[Path]:
        """Yield a folder to write in; raise FolderInUseError if another training has taken this folder meanwhile.

        The next owner removes such folders. So a training that is frozen after it has checked that it holds the folder
        cannot give its files their names.
        """
        try:
            with unfinished_folder(self.path) as folder:
                yield folder
        except OSError:
            self.check_is_held()
            raise

    def write(self, content: Mapping[str, Any], arrays: Mapping[str, ArrayToWrite]) -> Checkpoint:
        """Write a checkpoint, and remove those that are older than the newest `keep`.

        An error or an interrupt while it is written leaves the former checkpoints as they are, and no new one. Raise
        FolderInUseError if another training holds the folder now.

        Parameters
        ----------
        content : Mapping
            Any content that JSON can hold.
        arrays : Mapping
            Arrays by name: letters, digits and ``_``, and after the first also ``-`` and ``.``.

        Returns
        -------
        Checkpoint
            The checkpoint on the disk.
        """
        found = checked_content(content)
        files = {name: array_file(name) for name in arrays}
        remove_leftovers(self.path)
        with self._unfinished() as folder:
            layouts = {name: write_array(folder / files[name], name, array) for name, array in arrays.items()}
            self._write_file(folder / MANIFEST_FILE, manifest_text(Manifest(found, layouts)))
            self.check_is_held()
            with writing(self.path):
                bring_to_disk(folder)
                path = self._move_to_its_name(folder)
                bring_to_disk(self.path)
        self.check_is_held()  # else the next owner may have removed it by now
        written = Checkpoint(path)
        self._remove_old()
        return written

    def checkpoints(self) -> list[Path]:
        """Return the checkpoints in the folder, oldest first; none if the folder does not exist."""
        with reading(self.path):
            return checkpoints_in(self.path)

    def newest(self) -> Checkpoint | None:
        """Return the newest checkpoint, if there is any; raise CheckpointError if its manifest is damaged."""
        found = self.checkpoints()
        return Checkpoint(found[-1]) if found else None

    def note(self, content: Mapping[str, Any]) -> None:
        """Write notes about the training, which replace the former ones.

        Raise FolderInUseError if another training holds the folder now.
        """
        text = notes_text(checked_content(content))
        with self._unfinished() as folder:
            self._write_file(folder / NOTES_FILE, text)
            self.check_is_held()
            with writing(self.path):
                os.replace(folder / NOTES_FILE, self.path / NOTES_FILE)
                bring_to_disk(self.path)

    def notes(self) -> dict[str, Any]:
        """Return the notes; an empty dict if there are none."""
        path = self.path / NOTES_FILE
        return read_notes(path) if path.exists() else {}

    def notes_if_whole(self) -> dict[str, Any]:
        """Return the notes; if they are damaged, warn and return an empty dict."""
        try:
            return self.notes()
        except CheckpointError as error:
            logger.warning("%s; these notes are not used", error)
            return {}

    def _write_file(self, path: Path, data: bytes) -> None:
        with writing(self.path):
            path.write_bytes(data)
            bring_to_disk(path)

    def _move_to_its_name(self, folder: Path) -> Path:
        while True:
            number = max(map(number_of, checkpoints_in(self.path)), default=0) + 1
            path = self.path / f"checkpoint-{number:06d}"
            try:
                return folder.rename(path)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # else another process has just taken it
                    raise

    def _remove_old(self) -> None:
        for path in self.checkpoints()[: -self._keep]:
            try:
                remove_folder(path)
            except OSError as error:
                logger.warning("cannot remove the old checkpoint %s: %s", path, error.strerror or error)


def _take(lock: int, folder: Path) -> None:
    try:
        lock_file(lock)
    except OSError as error:
        if error.errno in _TAKEN:
            raise FolderInUseError(
                f"checkpoint_dir {str(folder)!r} is in use by another training; wait until that has ended, or name "
                "another folder"
            ) from None
        logger.warning("%s cannot be locked (%s): let no other training use it", folder, error.strerror or error)


def _release_in_child() -> None:
    """Close the locks of the parent process, which a forked process would still hold after the parent has ended."""
    for lock in _HELD:
        with contextlib.suppress(OSError):
            os.close(lock)
    _HELD.clear()


call_after_fork(_release_in_child)

"""A lock on a folder of checkpoints, so that one training at a time writes there."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from gensim_tfw2v.checkpoints.errors import writing
from gensim_tfw2v.runtime.system import call_after_fork, lock_file

logger = logging.getLogger(__name__)

LOCK_FILE = ".lock"
_TAKEN = (errno.EWOULDBLOCK, errno.EACCES)
_HELD: set[int] = set()  # descriptors of this process's locks


class FolderInUseError(RuntimeError):
    """Another training writes checkpoints to the folder."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; raise FolderInUseError if another training, of this or another process, holds it.

    The system releases the lock when the process ends, whatever ends it. A warning is logged if the file system has no
    locks.
    """
    with writing(folder):
        lock = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
    _HELD.add(lock)
    try:
        _take(lock, folder)
        yield
    finally:
        _HELD.discard(lock)
        os.close(lock)


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

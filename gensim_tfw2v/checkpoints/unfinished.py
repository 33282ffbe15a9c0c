"""Folders of files that are being written or removed; a folder's name says by which process.

A folder of a process that has ended is a leftover. Whether a process of another machine still runs is not known. Its
folder is a leftover when nothing in it has changed for an hour.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from gensim_tfw2v.checkpoints.errors import writing
from gensim_tfw2v.files.whole_files import bring_to_disk
from gensim_tfw2v.runtime.processes import machine_name, start_time

_ABANDONED_SECONDS = 3600.0
_PREFIX = ".tfw2v-checkpoint-"
_WRITER = r"(?P<machine>[0-9a-f]{16})-(?P<process>[1-9][0-9]{0,8})-(?P<start>[0-9]+)"
_NAME = re.compile(rf"{re.escape(_PREFIX)}{_WRITER}-\w+")
_IN_USE: set[str] = set()  # names of folders that this process writes or removes


@contextlib.contextmanager
def unfinished_folder(parent: Path) -> Iterator[Path]:
    """Make an empty folder, yield it, and remove it at the end if it is still there under its name."""
    folder = _new_name(parent)
    _IN_USE.add(folder.name)
    try:
        with writing(parent):
            folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _IN_USE.discard(folder.name)


def remove_folder(path: Path) -> None:
    """Remove a folder in such a way that a part of it never exists under its name."""
    removed = _new_name(path.parent)
    _IN_USE.add(removed.name)
    try:
        path.rename(removed)
        bring_to_disk(path.parent)
        shutil.rmtree(removed)
    finally:
        shutil.rmtree(removed, ignore_errors=True)  # after an interrupt
        _IN_USE.discard(removed.name)


def remove_leftovers(parent: Path) -> None:
    """Remove folders that processes left behind when they ended. What cannot be removed stays."""
    with writing(parent):
        found = [path for path in parent.iterdir() if _NAME.fullmatch(path.name)]
    if not found:
        return
    with unfinished_folder(parent) as folder:
        now = folder.stat().st_mtime  # by the storage's clock, which may differ from this machine's
        for path in found:
            if _is_leftover(path, now):
                shutil.rmtree(path, ignore_errors=True)


def remove_folders_of(parent: Path, writer: str) -> None:
    """Remove the unfinished folders of a process that may be frozen: it cannot give them another name then."""
    with writing(parent):
        found = [path for path in parent.iterdir() if path.name.startswith(f"{_PREFIX}{writer}-")]
    for path in found:
        with contextlib.suppress(OSError):  # it has got another name meanwhile, or cannot be removed
            remove_folder(path)


def own_writer() -> str:
    """Return how names of folders show that this process writes them."""
    process = os.getpid()
    return f"{machine_name()}-{process}-{start_time(process) or 0}"


def _new_name(parent: Path) -> Path:
    return parent / f"{_PREFIX}{own_writer()}-{secrets.token_hex(8)}"


def _is_leftover(path: Path, now: float) -> bool:
    owner = _NAME.fullmatch(path.name)
    assert owner is not None
    if owner["machine"] != machine_name():
        return now - _last_change(path) > _ABANDONED_SECONDS
    if int(owner["process"]) == os.getpid():
        return path.name not in _IN_USE  # after an interrupt, or of a process that had this number before
    start = start_time(int(owner["process"]))
    return start is None or (start != int(owner["start"]) and 0 not in (start, int(owner["start"])))


def _last_change(path: Path) -> float:
    times = [0.0]
    with contextlib.suppress(OSError):  # its writer may move it meanwhile
        times.append(path.stat().st_mtime)
        times += [file.stat().st_mtime for file in path.iterdir()]
    return max(times)

"""A small file system, which a schedule fills, and a lock that the storage gives up."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_BYTES = 64 * 2**20
_FILLER = "filler"
_PIECE = 2**16


def why_not(folder: Path) -> str | None:
    """Return why no file system can be mounted in a folder, None if one can."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return "that needs root and the program 'mount'"
    try:
        with small_disk(folder / "trial"):
            return None
    except OSError as error:
        return str(error)


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """Have a small file system at a new folder; raise OSError where it cannot be mounted."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_BYTES}", "tmpfs", str(place)], capture_output=True, text=True
    )
    if mounted.returncode:
        raise OSError(mounted.stderr.strip())
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> None:
    """Take all that is free on a small file system."""
    with (place / _FILLER).open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(_PIECE))


def empty(place: Path) -> None:
    """Give it back."""
    (place / _FILLER).unlink(missing_ok=True)


def release_lock(path: Path) -> None:
    """Give up the lock on a file, as a file server does whose client does not answer; the content stays."""
    if path.exists():
        copy = path.with_name(path.name + "-copy")
        shutil.copyfile(path, copy)
        os.replace(copy, path)  # whoever has locked the former file has no lock on this one

"""Files that are complete or do not exist: written under a temporary name, flushed to the disk, and moved.

A model of several files cannot be moved at once. Its main file exists only while all files beside it belong to it:

1. All new files are written to ``.tfw2v-*/unfinished`` in the same folder. When they are on the disk, that becomes
   ``.tfw2v-*/new``.
2. If a new file beside the main one has the name of an old one, the old main file and then these old ones move to
   ``.tfw2v-*/old``.
3. The new files move to their places, the main one last. Then ``.tfw2v-*`` is removed.

An error or an interrupt moves everything back. A process that is killed between two moves leaves no main file, so that
no program opens a mixture, and the folder ``.tfw2v-*`` has the missing files of both models. `explain_missing` names
it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_PREFIX = ".tfw2v-"  # of unfinished files and folders
_UNFINISHED, _NEW, _OLD = "unfinished", "new", "old"
_LOST = {errno.EIO, errno.ENOSPC, errno.EDQUOT}  # errors of fsync which mean that content is not on the disk
_UNCHANGED = "cannot write, and what was there before stays"


@contextlib.contextmanager
def written_file(path: Path) -> Iterator[Path]:
    """Yield a path for writing one file, and move the file to `path` at the end; a failed write changes nothing."""
    unfinished = path.with_name(f"{_PREFIX}{secrets.token_hex(8)}{path.suffix}")
    try:
        yield unfinished
        _keep_permissions(path, unfinished)
        bring_to_disk(unfinished)
        os.replace(unfinished, os.path.realpath(path))
    finally:
        unfinished.unlink(missing_ok=True)
    bring_to_disk(path.parent)


def check_new_folder(path: Path) -> None:
    """Raise FileExistsError if there is something at `path`, and FileNotFoundError if there is no folder for it."""
    if os.path.lexists(path):
        raise FileExistsError(f"folder {str(path)!r} is there already; name a new one, or remove it first")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"folder {str(path.parent)!r} is not there; make it first")


@contextlib.contextmanager
def written_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder to fill, and give it the name `path` at the end; a failed write leaves nothing.

    Raise the errors of `check_new_folder`.
    """
    check_new_folder(path)
    unfinished = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=path.parent))
    try:
        yield unfinished
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o777 & ~mask)  # the usual permissions: other users may read it
        for file in sorted(unfinished.iterdir()):
            bring_to_disk(file)
        bring_to_disk(unfinished)
        unfinished.rename(path)
        bring_to_disk(path.parent)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


@contextlib.contextmanager
def written_files(path: Path, side_files: Callable[[Path], Iterable[Path]]) -> Iterator[Path]:
    """Yield a path for writing a main file and others beside it; at the end, move all of them to the folder of `path`.

    A failed write changes nothing. Where `path` is a link, the file it leads to is replaced. Where it is a device or a
    pipe, `path` itself is yielded.

    Parameters
    ----------
    path : Path
        The main file.
    side_files : callable
        Takes the path of a main file and returns the files beside it that belong to it. The former ones are removed.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    with _errors_named(path):
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_place_of(path).parent))
        try:
            (folder / _UNFINISHED).mkdir()
            yield folder / _UNFINISHED / path.name
            obsolete = set(side_files(path))
            _finish(path, folder)
            for file in obsolete - {path.with_name(name) for name in _move_all(path, folder)}:
                with contextlib.suppress(OSError):  # an obsolete file does no harm
                    file.unlink()
        finally:
            if not _names(folder / _OLD) or not _names(folder / _NEW):  # else it has the only copy of some files
                shutil.rmtree(folder, ignore_errors=True)


def explain_missing(path: Path) -> str | None:
    """Return which files may not belong together, and what to do, if a kill between two moves left none at `path`."""
    if path.exists():
        return None
    for folder in sorted(_place_of(path).parent.glob(f"{_PREFIX}*")):
        if path.name in _names(folder / _NEW):
            return _explanation(path, folder)
    return None


def _explanation(path: Path, folder: Path) -> str:
    arrays = [file.name for file in path.parent.glob("*.np[yz]") if file.name.startswith(f"{path.name}.")]
    names = ", ".join(sorted(map(repr, arrays)))
    beside = f"These files may belong to the old model or to the new one: {names}. " if arrays else ""
    old = f"for the old model, move those of {str(folder / _OLD)!r}; " if path.name in _names(folder / _OLD) else ""
    return (
        f"model {str(path)!r} is not there: saving it was cut off while files were moved. {beside}For the new model, "
        f"move all files of {str(folder / _NEW)!r} to {str(path.parent)!r}; {old}then remove {str(folder)!r}. "
        "Or save the model again"
    )


def _finish(path: Path, folder: Path) -> None:
    """Flush the new files to the disk, and then give their folder the name that says so."""
    new = folder / _NEW
    for name in sorted(_names(folder / _UNFINISHED)):
        _keep_permissions(path.with_name(name), folder / _UNFINISHED / name)
        bring_to_disk(folder / _UNFINISHED / name)
    bring_to_disk(folder / _UNFINISHED)
    (folder / _OLD).mkdir()
    (folder / _UNFINISHED).rename(new)
    bring_to_disk(folder)


def _move_all(path: Path, folder: Path) -> set[str]:
    """Move the new files to their places, and return their names. An error or an interrupt moves all of them back."""
    new, old = folder / _NEW, folder / _OLD
    names = _names(new)
    replaced = [name for name in sorted(names - {path.name}) if path.with_name(name).is_file()]
    try:
        if replaced and path.exists():
            _move(_place_of(path), old / path.name)
        for name in replaced:
            _move(_place_of(path.with_name(name)), old / name)
        for name in sorted(names - {path.name}):
            _move(new / name, _place_of(path.with_name(name)))
        _move(new / path.name, _place_of(path))
    except BaseException:
        if path.name in _names(new):  # otherwise all are moved
            _move_back(path, names, folder)
        raise
    return names


def _move_back(path: Path, names: set[str], folder: Path) -> None:
    """Undo moves. The folders' content shows how far the moves had come, wherever the interrupt was."""
    for name in sorted(names - _names(folder / _NEW)):
        _move(_place_of(path.with_name(name)), folder / _NEW / name)
    old = _names(folder / _OLD)
    for name in [*sorted(old - {path.name}), *sorted(old & {path.name})]:  # the main file last
        _move(folder / _OLD / name, _place_of(path.with_name(name)))


def _move(source: Path, target: Path) -> None:
    """Move a file, so that the next move reaches the disk after this one."""
    try:
        os.replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copy2(source, target)  # a link leads to another file system
        bring_to_disk(target)
        source.unlink()
    bring_to_disk(target.parent)
    bring_to_disk(source.parent)


def _names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()} if folder.is_dir() else set()


def _place_of(path: Path) -> Path:
    """Return where a file is, or will be, behind a link as well."""
    return Path(os.path.realpath(path))


def _keep_permissions(path: Path, unfinished: Path) -> None:
    with contextlib.suppress(OSError):  # there is none, or the file system has no permissions
        shutil.copymode(path, unfinished)


def bring_to_disk(path: Path) -> None:
    """Wait until the content of a file, or the names in a folder, would survive a crash of the machine."""
    try:
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        # Some file systems, such as those of networks, have no such call for folders, or none at all.
        if error.errno in _LOST and not path.is_dir():
            raise


@contextlib.contextmanager
def _errors_named(path: Path) -> Iterator[None]:
    """Add the name that the user gave to errors in writing."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())  # NumPy's errors have no strerror
        explanation = explain_missing(path)  # if moving the old files back has failed as well
        message = f"cannot write: {reason}; {explanation}" if explanation else f"{_UNCHANGED}: {reason}"
        raise OSError(error.errno, message, str(path)) from error

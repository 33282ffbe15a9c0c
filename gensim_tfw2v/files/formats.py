"""A model file's name → its format and its side files, which are written together or not at all."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

FORMATS = ("gensim", "keyed-vectors", "text", "binary")
SUFFIX_FORMATS = {".txt": "text", ".vec": "text", ".bin": "binary", ".kv": "keyed-vectors"}
COMPRESSED = (".gz", ".bz2")
# gensim writes large arrays to files beside MODEL: MODEL.ARRAY.npy, MODEL.wv.ARRAY.npy (npz if compressed).
# Only its own array names match, because MODEL.labels.npy may belong to something else.
_SIDE_FILE = re.compile(r"\.((wv\.)?(vectors|norms|vectors_lockf)|syn1|syn1neg|cum_table)\.np[yz]")

_SAVING_LOGGERS = "gensim.utils", "gensim.models.keyedvectors"  # they name the files that they write


class ModelFileError(ValueError):
    """A model file cannot be read or written. The message gives the reason in one line."""


def format_of(path: Path) -> str:
    """Return the format that a model file's suffix means; an unknown suffix means a whole gensim model."""
    name = path.name.lower()
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return SUFFIX_FORMATS.get(Path(name).suffix, "gensim")


def side_files(path: Path) -> list[Path]:
    """Return the files beside `path` that hold large arrays of the gensim model of that name."""
    if not path.parent.is_dir():
        return []
    length = len(path.name)
    return sorted(
        file
        for file in path.parent.iterdir()
        if file.name.startswith(path.name) and _SIDE_FILE.fullmatch(file.name[length:])
    )


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a path for writing a model, and move the model to `path` at the end; a failed write changes nothing.

    All files are first written to a folder beside `path`, under the model's own name, because gensim finds a model's
    separate arrays by it.
    """
    folder = Path(tempfile.mkdtemp(prefix=".tfw2v-", dir=path.parent))
    try:
        with _final_name_in_log(folder / path.name, path):
            yield folder / path.name
        _replace(path, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _final_name_in_log(unfinished: Path, path: Path) -> Iterator[None]:
    """Give gensim's log lines the name that a file will have."""

    def rename(record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage().replace(str(unfinished), str(path)), ()
        return True

    loggers = [logging.getLogger(name) for name in _SAVING_LOGGERS]
    for logger in loggers:
        logger.addFilter(rename)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(rename)


def _replace(path: Path, folder: Path) -> None:
    """Move a model's files from `folder` to the folder of `path`. The model file itself comes last."""
    path.unlink(missing_ok=True)
    for file in side_files(path):
        file.unlink()
    for file in side_files(folder / path.name):
        os.replace(file, path.parent / file.name)
    os.replace(folder / path.name, path)

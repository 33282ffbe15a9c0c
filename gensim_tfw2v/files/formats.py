"""A model file's name → its format and the files beside it, which are put there together or not at all."""

from __future__ import annotations

import contextlib
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
# Only its own names are listed: MODEL.labels.npy may be anybody's.
_SIDE_FILE = re.compile(r"\.((wv\.)?(vectors|norms|vectors_lockf)|syn1|syn1neg|cum_table)\.np[yz]")


class ModelFileError(ValueError):
    """A model file that cannot be read or written, with the reason in one line."""


def format_of(path: Path) -> str:
    """The format that a model file's suffix asks for; what is not known otherwise is a whole gensim model."""
    name = path.name.lower()
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return SUFFIX_FORMATS.get(Path(name).suffix, "gensim")


def side_files(path: Path) -> list[Path]:
    """The files beside `path` in which gensim keeps large arrays of the model named so."""
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
    """Yield a path to write a model to instead of `path`, where it is put at the end; after a failure nothing new is.

    All files are written to a folder beside `path` first. gensim finds a model's separate arrays by the name
    of the model file, so keeping that name and moving them together keeps the model whole.
    """
    folder = Path(tempfile.mkdtemp(prefix=".tfw2v-", dir=path.parent))
    try:
        yield folder / path.name
        _replace(path, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _replace(path: Path, folder: Path) -> None:
    """Move a model's files from `folder` to where `path` is, its own file last: until then there is none."""
    path.unlink(missing_ok=True)
    for file in side_files(path):
        file.unlink()
    for file in side_files(folder / path.name):
        os.replace(file, path.parent / file.name)
    os.replace(folder / path.name, path)

"""The files that sections have in common, in a folder beside the shards until the corpus is complete.

For each section   .ids    its words, as numbers of its own vocabulary, int32
                   .lines  words of each of its lines, int64; the first and the last may continue in other sections
                   .index  its words in the order of their hashes, and their counts (`section_words`)
                   .texts  their texts in the same order, each with a line end
For each bucket    .places words of each section: their numbers there, and their numbers in the bucket, int32
                   .owned  numbers of the bucket's words in the sections in which they appear first, int32
                   .counts a line of the vocabulary for each word
                   .ids    the word's id in the corpus, int32
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

IDS, LINES, INDEX, TEXTS, PLACES, OWNED, COUNTS = "ids", "lines", "index", "texts", "places", "owned", "counts"


def of_section(folder: str | Path, number: int, kind: str) -> Path:
    """Return a file of a section."""
    return Path(folder) / f"section-{number:06d}.{kind}"


def of_bucket(folder: str | Path, number: int, kind: str) -> Path:
    """Return a file of a bucket."""
    return Path(folder) / f"bucket-{number:04d}.{kind}"


@contextlib.contextmanager
def written_apart(*paths: Path) -> Iterator[list[Path]]:
    """Yield names under which to write files, and give the files their own names at the end.

    A request is repeated when its process was lost, which may still run on another machine. Both write the same bytes.
    So whoever ends last replaces files by equal ones, and no file is ever incomplete.
    """
    mark = secrets.token_hex(8)
    unfinished = [path.with_name(f"{path.name}.{mark}") for path in paths]
    try:
        yield unfinished
        for old, new in zip(unfinished, paths, strict=True):
            os.replace(old, new)
    except BaseException:
        for path in unfinished:
            path.unlink(missing_ok=True)
        raise


def numbers_in(path: Path, dtype: Any, first: int = 0, count: int = -1) -> Any:
    """Return some numbers of a file, all of them by default; raise OSError if they are not there."""
    found = np.fromfile(path, dtype, count, offset=first * np.dtype(dtype).itemsize)
    if 0 <= count != found.size:
        raise OSError(None, "the file is too short", str(path))
    return found

"""The files that sections have in common, in a folder beside the shards until the corpus is complete.

For each section   .ids    its words, as numbers of its own vocabulary, int32
                   .lines  words of each of its lines, int64; the first and the last may continue in other sections
                   .index  its words in the order of their hashes, and their counts
                   .texts  their texts in the same order, each with a line end
For each bucket    .places words of each section: their numbers there, and their numbers in the bucket, int32
                   .owned  numbers of the bucket's words in the sections in which they appear first, int32
                   .counts a line of the vocabulary for each word
                   .ids    the word's id in the corpus, int32

A hash is the first 16 bits of the CRC-32 of a word's UTF-8 bytes. A bucket has the words of one of several equal ranges
of hashes, so that words can be merged range by range.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int64Array

IDS, LINES, INDEX, TEXTS, PLACES, OWNED, COUNTS = "ids", "lines", "index", "texts", "places", "owned", "counts"
HASHES = 2**16
_ENTRY = np.dtype([("hash", "<u2"), ("number", "<i4"), ("count", "<i8"), ("begin", "<i8")])


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


def numbers_in(path: Path, dtype: Any, first: int, count: int) -> Any:
    """Return some numbers of a file; raise OSError if they are not there."""
    found = np.fromfile(path, dtype, count, offset=first * np.dtype(dtype).itemsize)
    if count != found.size:
        raise OSError(None, "the file is too short", str(path))
    return found


def write_words(index: Path, texts: Path, words: list[str], counts: Int64Array) -> None:
    """Write the vocabulary of a section, whose words have the numbers 0, 1, 2 and so on."""
    encoded = "\n".join(words).encode("utf-8").split(b"\n") if words else []
    checksums = np.fromiter(map(zlib.crc32, encoded), np.uint32, len(words))
    hashes = (checksums >> 16).astype(np.uint16)
    order = np.argsort(hashes, kind="stable")
    ordered = list(map(encoded.__getitem__, order.tolist()))
    ends = np.cumsum(np.fromiter(map(len, ordered), np.int64, len(words)) + 1)  # each has a line end
    entries = np.empty(len(words), _ENTRY)
    entries["hash"], entries["number"], entries["count"] = hashes[order], order, counts[order]
    entries["begin"][1:] = ends[:-1]
    entries["begin"][:1] = 0
    entries.tofile(index)
    texts.write_bytes(b"".join([b"\n".join(ordered), b"\n"] if words else []))


def words_in_bucket(folder: str, section: int, bucket: int, buckets: int) -> tuple[bytes, Any]:
    """Return a section's words in one of several buckets, each with a line end, and their entries.

    An entry has the fields "number", which the word has in the section, and "count".
    """
    path = of_section(folder, section, INDEX)
    if not path.stat().st_size:
        return b"", np.empty(0, _ENTRY)
    index = np.memmap(path, _ENTRY, "r")
    bounds = (HASHES * bound // buckets for bound in (bucket, bucket + 1))
    begin, end = (bisect.bisect_left(index["hash"], bound, key=int) for bound in bounds)
    entries = np.array(index[begin:end])
    if not entries.size:
        return b"", entries
    with of_section(folder, section, TEXTS).open("rb") as file:
        file.seek(int(entries["begin"][0]))
        size = int(index["begin"][end]) - int(entries["begin"][0]) if end < index.size else -1
        return file.read(size), entries

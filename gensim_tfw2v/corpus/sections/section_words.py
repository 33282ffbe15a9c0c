"""The vocabulary of a section: words and counts, found by ranges of hashes, so that words can be merged range by range.

A hash is the first 16 bits of the CRC-32 of a word's UTF-8 bytes.
"""

from __future__ import annotations

import bisect
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.corpus.sections.section_files import INDEX, TEXTS, of_section

HASHES = 2**16
_ENTRY = np.dtype([("hash", "<u2"), ("number", "<i4"), ("count", "<i8"), ("begin", "<i8")])


def write_words(index: Path, texts: Path, words: list[str], counts: Int64Array) -> None:
    """Write a vocabulary, whose words have the numbers 0, 1, 2 and so on."""
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
    """Return a section's words in one of several equal ranges of hashes, each with a line end, and their entries.

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

"""A section's words and lines → their places in the shards, as ids of the whole corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.raw_vocabulary import renumbered
from gensim_tfw2v.corpus.sections.requests import Run, WriteRequest
from gensim_tfw2v.corpus.sections.section_files import IDS, LINES, PLACES, numbers_in, of_bucket, of_section
from gensim_tfw2v.corpus.sentences import LineLengths
from gensim_tfw2v.corpus.shard_file import (
    HEADER_BYTES,
    NUMBER,
    NUMBERS_PER_PAGE,
    PAGE_CHECKSUM_BYTES,
    PageChecksums,
    bring_to_disk,
    shard_path,
)

_NUMBERS_AT_ONCE = 2**20


def write_section(request: WriteRequest) -> None:
    """Write the ids and the sentence lengths of a section into the shards, and the checksums of the pages they fill."""
    table = _ids_of_corpus(request)
    ids = (renumbered(block, table) for block in _blocks(of_section(request.folder, request.number, IDS), np.int32))
    _write(request.target, request.words, ids)
    _write(request.target, request.lengths, _sentence_lengths(request))


def _ids_of_corpus(request: WriteRequest) -> Int32Array:
    """Return the corpus's id of each word of the section's vocabulary."""
    table = np.empty(request.distinct, np.int32)
    for bucket, (first, count) in enumerate(request.places):
        places = of_bucket(request.folder, bucket, PLACES)
        # Both arrays of the sections before come first.
        own_numbers = numbers_in(places, np.int32, 2 * first, count)
        numbers = numbers_in(places, np.int32, 2 * first + count, count)
        if count:
            ids = np.memmap(of_bucket(request.folder, bucket, IDS), np.int32, "r")
            table[own_numbers] = ids[numbers]
    return table


def _sentence_lengths(request: WriteRequest) -> Iterator[Int32Array]:
    """Yield the lengths of the section's sentences, some at a time."""
    lengths = LineLengths(request.open_words)
    last = np.empty(0, np.int64)
    for block in _blocks(of_section(request.folder, request.number, LINES), np.int64):
        # The last line of a block may continue only where the section ends.
        yield lengths.join(np.concatenate([last, block[:-1], [0]]))
        last = block[-1:]
    yield lengths.join(last)
    if request.section.ends_file:
        yield lengths.rest()


def _blocks(path: Path, dtype: Any) -> Iterator[Any]:
    with path.open("rb") as file:
        while (block := np.fromfile(file, dtype, _NUMBERS_AT_ONCE)).size:
            yield block


def _write(folder: str, runs: Iterable[Run], blocks: Iterator[Int32Array]) -> None:
    """Write numbers to the places of the runs, one run after the other."""
    rest = np.empty(0, np.int32)
    for run in runs:
        with shard_path(Path(folder), run.shard).open("r+b") as file:
            writer, left = _RunWriter(file, run), run.size
            while left:
                if not rest.size:
                    rest = next(blocks)
                piece, rest = rest[:left], rest[left:]
                writer.append(piece)
                left -= piece.size
            writer.finish()


class _RunWriter:
    """Writes consecutive numbers of a shard, and the checksums of the pages that they fill."""

    def __init__(self, file: IO[bytes], run: Run) -> None:
        self._file, self._run = file, run
        self._pages = PageChecksums()
        self._before_pages = -run.first % NUMBERS_PER_PAGE * NUMBER.itemsize  # bytes of a page that begins before it
        file.seek(HEADER_BYTES + run.first * NUMBER.itemsize)

    def append(self, numbers: Int32Array) -> None:
        """Write the next numbers."""
        data = numbers.astype(NUMBER, copy=False).tobytes()
        self._file.write(data)
        in_pages = data[self._before_pages :]
        self._before_pages -= len(data) - len(in_pages)
        self._pages.add(in_pages)

    def finish(self) -> None:
        """Write the checksums, and bring everything to the disk."""
        first_page = -(-self._run.first // NUMBERS_PER_PAGE)
        self._file.seek(HEADER_BYTES + self._run.shard_bytes + first_page * PAGE_CHECKSUM_BYTES)
        self._file.write(self._pages.of_whole_pages)
        bring_to_disk(self._file)

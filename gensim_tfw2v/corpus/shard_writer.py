"""Sentences of ids → the files of an encoded corpus. Every file is on the disk when writing ends."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shard_file import (
    HEADER_BYTES,
    NUMBER,
    NUMBERS_PER_PAGE,
    PAGE_BYTES,
    PAGE_CHECKSUM_BYTES,
    PageChecksums,
    ShardSize,
    checksum_bytes,
    header_of_shard,
    page_checksums,
    shard_path,
)
from gensim_tfw2v.corpus.shards import HEADER_FILE, VOCABULARY_FILE, header_text
from gensim_tfw2v.files.checked_json import sha256_of
from gensim_tfw2v.files.word_texts import as_texts, check_undivided

NUMBERS_AND_TEXTS = "some tables hold whole numbers and others the same numbers as text; encode them apart"


def as_lines(words: Sequence[Any]) -> list[str]:
    """Return words as texts that the vocabulary can have; raise ValueError naming a word of a table that it cannot."""
    texts = as_texts(words, NUMBERS_AND_TEXTS)
    check_undivided(
        texts,
        "the column holds the word {!r}, and words of an encoded corpus have no white space and are not empty; train "
        "from the table itself, or replace these words",
    )
    return texts


def vocabulary_lines(words: Iterable[str], counts: Int64Array) -> bytes:
    """Return words and their counts as the vocabulary has them."""
    return "".join([f"{word} {count}\n" for word, count in zip(words, counts.tolist(), strict=True)]).encode("utf-8")


class ShardWriter:
    """Writes an encoded corpus to an empty folder, and starts a new shard when one is full."""

    def __init__(self, folder: Path, shard_words: int) -> None:
        self._folder = folder
        self._shard_words = shard_words
        self._shards: list[ShardSize] = []
        self._checksums: list[str] = []  # SHA-256 of the checksums of each shard
        self._file: IO[bytes] | None = None  # of the shard that is not full yet
        self._words = 0
        self._lengths: list[Int32Array] = []
        self._pages = PageChecksums()

    def append(self, sentences: Sentences) -> None:
        """Write more sentences."""
        if not sentences.ids.size:
            return
        if self._file is None:
            self._file = shard_path(self._folder, len(self._shards)).open("wb")
            self._file.write(bytes(HEADER_BYTES))  # which is known when the fingerprint of the corpus is
        self._pages.add(_written(self._file, sentences.ids))
        self._words += sentences.ids.size
        self._lengths.append(sentences.lengths)
        if self._words >= self._shard_words:
            self._end_shard(self._file)

    def finish(self, words: Iterable[str], counts: Int64Array) -> None:
        """Write the vocabulary, in the order of ids, the headers of all shards and ``corpus.json``."""
        if self._file is not None:
            self._end_shard(self._file)
        vocabulary = vocabulary_lines(words, counts)
        with (self._folder / VOCABULARY_FILE).open("wb") as file:
            file.write(vocabulary)
            _bring_to_disk(file)
        write_headers(self._folder, sha256_of(vocabulary), self._shards, self._checksums)

    def close(self) -> None:
        """Close the open shard."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _end_shard(self, file: IO[bytes]) -> None:
        lengths = np.concatenate(self._lengths)
        self._pages.add(_written(file, lengths))
        checksums = self._pages.finish()
        file.write(checksums)
        self.close()
        self._shards.append(ShardSize(self._words, lengths.size))
        self._checksums.append(sha256_of(checksums))
        self._words, self._lengths, self._pages = 0, [], PageChecksums()


def create_shard(folder: Path, shard: int, size: ShardSize) -> None:
    """Make a shard's file of the right size, whose content several processes write."""
    with shard_path(folder, shard).open("xb") as file:
        file.truncate(HEADER_BYTES + size.data_bytes + checksum_bytes(size.data_bytes))


def write_run(folder: Path, shard: int, shard_bytes: int, first: int, numbers: Iterable[Int32Array]) -> None:
    """Write consecutive numbers of a shard, and the checksums of the pages that they fill.

    Parameters
    ----------
    shard_bytes : int
        Of all ids and lengths of the shard.
    first : int
        The place of the first one among the shard's numbers.
    """
    pages = PageChecksums(-first % NUMBERS_PER_PAGE * NUMBER.itemsize)
    with shard_path(folder, shard).open("r+b") as file:
        file.seek(HEADER_BYTES + first * NUMBER.itemsize)
        for some in numbers:
            pages.add(_written(file, some))
        first_page = -(-first // NUMBERS_PER_PAGE)
        file.seek(HEADER_BYTES + shard_bytes + first_page * PAGE_CHECKSUM_BYTES)
        file.write(pages.of_whole_pages)
        _bring_to_disk(file)


def write_page_checksum(folder: Path, shard: int, size: ShardSize, page: int) -> None:
    """Compute the checksum of a page from what the file has there, and write it."""
    with shard_path(folder, shard).open("r+b") as file:
        begin = page * PAGE_BYTES
        file.seek(HEADER_BYTES + begin)
        checksum = page_checksums(file.read(min(PAGE_BYTES, size.data_bytes - begin)))
        file.seek(HEADER_BYTES + size.data_bytes + page * PAGE_CHECKSUM_BYTES)
        file.write(checksum)


def read_checksums(folder: Path, shard: int, size: ShardSize) -> bytes:
    """Return the checksums of all pages of a shard whose header is not written yet."""
    with shard_path(folder, shard).open("rb") as file:
        file.seek(HEADER_BYTES + size.data_bytes)
        return file.read()


def write_headers(folder: Path, vocabulary: str, shards: Sequence[ShardSize], checksums: Sequence[str]) -> None:
    """Write the headers of all shards and ``corpus.json``.

    Parameters
    ----------
    vocabulary : str
        The SHA-256 of the vocabulary.
    checksums : sequence of str
        The SHA-256 of each shard's checksums.
    """
    text, fingerprint = header_text(vocabulary, shards, checksums)
    for shard, size in enumerate(shards):
        with shard_path(folder, shard).open("r+b") as file:
            file.write(header_of_shard(size, shard, fingerprint))
            _bring_to_disk(file)
    with (folder / HEADER_FILE).open("wb") as file:
        file.write(text)
        _bring_to_disk(file)


def _written(file: IO[bytes], numbers: Int32Array) -> bytes:
    data = numbers.astype(NUMBER, copy=False).tobytes()
    file.write(data)
    return data


def _bring_to_disk(file: IO[bytes]) -> None:
    """Wait until what was written would survive a crash of the machine."""
    file.flush()
    os.fsync(file.fileno())

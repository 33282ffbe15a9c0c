"""Sentences of ids → the files of an encoded corpus. Every file is on the disk when writing ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.corpus_header import HEADER_FILE, VOCABULARY_FILE, header_text
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shard_file import (
    HEADER_BYTES,
    NUMBER,
    PageChecksums,
    ShardSize,
    bring_to_disk,
    header_of_shard,
    shard_path,
)
from gensim_tfw2v.files.checked_json import sha256_of


class ShardWriter:
    """Writes an encoded corpus to an empty folder, and starts a new shard when one is full."""

    def __init__(self, folder: Path, shard_words: int) -> None:
        self._folder = folder
        self._shard_words = shard_words
        self._shards: list[ShardSize] = []
        self._checksums: list[str] = []  # SHA-256 of the checksums of each shard
        self._open: _UnfinishedShard | None = None

    def append(self, sentences: Sentences) -> None:
        """Write more sentences."""
        if not sentences.ids.size:
            return
        if self._open is None:
            self._open = _UnfinishedShard(shard_path(self._folder, len(self._shards)))
        self._open.append(sentences)
        if self._open.words >= self._shard_words:
            self._end_shard()

    def finish(self, words_and_counts: Iterable[tuple[str, int]]) -> None:
        """Write the vocabulary, in the order of ids, the headers of all shards and ``corpus.json``."""
        self._end_shard()
        vocabulary = "".join([f"{word} {count}\n" for word, count in words_and_counts]).encode("utf-8")
        with (self._folder / VOCABULARY_FILE).open("wb") as file:
            file.write(vocabulary)
            bring_to_disk(file)
        write_headers(self._folder, sha256_of(vocabulary), self._shards, self._checksums)

    def close(self) -> None:
        """Close the open shard."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _end_shard(self) -> None:
        if self._open is None:
            return
        size, checksums = self._open.finish()
        self.close()
        self._shards.append(size)
        self._checksums.append(sha256_of(checksums))


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
            bring_to_disk(file)
    with (folder / HEADER_FILE).open("wb") as file:
        file.write(text)
        bring_to_disk(file)


class _UnfinishedShard:
    """The file of a shard that grows. Its header is written when the fingerprint of the corpus is known."""

    def __init__(self, path: Path) -> None:
        self.words = 0
        self._lengths: list[Int32Array] = []
        self._pages = PageChecksums()
        self._file: IO[bytes] = path.open("wb")
        self._file.write(bytes(HEADER_BYTES))

    def append(self, sentences: Sentences) -> None:
        """Write the ids of more sentences."""
        self._write(sentences.ids)
        self.words += sentences.ids.size
        self._lengths.append(sentences.lengths)

    def finish(self) -> tuple[ShardSize, bytes]:
        """Write the lengths of all sentences and the checksums; return the size and the checksums."""
        lengths = np.concatenate(self._lengths)
        self._write(lengths)
        checksums = self._pages.finish()
        self._file.write(checksums)
        return ShardSize(self.words, lengths.size), checksums

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, numbers: Int32Array) -> None:
        data = numbers.astype(NUMBER).tobytes()
        self._pages.add(data)
        self._file.write(data)

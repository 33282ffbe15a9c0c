"""An encoded corpus in a folder: words with their counts, and shards of ids. Any span of a shard can be read.

Folder:  corpus.json      format, fingerprint, and the words and sentences of each shard
         vocabulary.txt   one word and its count a line; a word's id is the number of its line, from 0
         shard-00000.ids  a header of 64 bytes, then ids, then sentence lengths, all little-endian int32

The fingerprint is that of vocabulary.txt. It is also in each header, so that shards of another encoding are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.sentences import Sentences

_HEADER_FILE, _VOCABULARY_FILE = "corpus.json", "vocabulary.txt"
_FORMAT = "gensim_tfw2v encoded corpus 1"
_HEADER = struct.Struct("<16s32sQQ")  # magic, fingerprint, words, sentences
_MAGIC = b"tfw2v shard 1\0\0\0"
_INT = np.dtype("<i4")


class EncodedCorpusError(ValueError):
    """A folder or file that is not an encoded corpus, or is damaged."""


class Span(NamedTuple):
    """Consecutive whole sentences of one shard."""

    shard: int
    first_word: int
    end_word: int
    first_sentence: int
    end_sentence: int


@dataclass(frozen=True)
class ShardSize:
    """Words and sentences of a shard. Each piece of an overlong sentence counts as a sentence."""

    words: int
    sentences: int

    @property
    def file_bytes(self) -> int:
        """Bytes of the shard's file."""
        return _HEADER.size + _INT.itemsize * (self.words + self.sentences)


def is_encoded(path: Any) -> bool:
    """Return whether a path names the folder of an encoded corpus."""
    return isinstance(path, str | os.PathLike) and os.path.isfile(header_of(path))


def header_of(folder: str | os.PathLike[str]) -> str:
    """Return the file that makes a folder an encoded corpus."""
    return os.path.join(os.fspath(folder), _HEADER_FILE)


def shard_path(folder: Path, shard: int) -> Path:
    """Return the file of a shard."""
    return folder / f"shard-{shard:05d}.ids"


class EncodedCorpus:
    """An encoded corpus. Opening it checks that all of its shards are there and have the right size."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(os.path.abspath(folder))
        path = Path(header_of(self.folder))
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["format"] != _FORMAT:
                raise EncodedCorpusError(f"{path}: the format is {found['format']!r}, not {_FORMAT!r}; encode anew")
            self.fingerprint: str = found["fingerprint"]
            self.shards = [ShardSize(**shard) for shard in found["shards"]]
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise EncodedCorpusError(f"{path} is damaged ({type(error).__name__}: {error}); encode anew") from None
        for shard, size in enumerate(self.shards):
            with _OpenShard(self.folder, shard, self.fingerprint) as file:
                if file.size != size:
                    raise file.damaged(f"it says that it holds {file.size} instead of {size}")

    @property
    def words(self) -> int:
        """Words of the whole corpus."""
        return sum(shard.words for shard in self.shards)

    @property
    def sentences(self) -> int:
        """Sentences of the whole corpus."""
        return sum(shard.sentences for shard in self.shards)

    def counts(self) -> dict[str, int]:
        """Return how often each word appears, in the order of ids."""
        data = (self.folder / _VOCABULARY_FILE).read_bytes()
        if fingerprint_of(data) != self.fingerprint:
            raise EncodedCorpusError(
                f"{self.folder / _VOCABULARY_FILE} is not the vocabulary that the corpus was encoded with; encode anew"
            )
        lines = (line.rpartition(b" ") for line in data.split(b"\n")[:-1])
        return {word.decode("utf-8"): int(count) for word, _, count in lines}

    def sentence_lengths(self, shard: int) -> Int32Array:
        """Return the number of words of each sentence of a shard."""
        with _OpenShard(self.folder, shard, self.fingerprint) as file:
            return file.lengths(0, file.size.sentences)

    def reader(self, key_to_index: Mapping[str, int]) -> ShardReader:
        """Return a reader that gives ids of the vocabulary `key_to_index`."""
        words = self.counts()
        ids = np.fromiter((key_to_index.get(word, -1) for word in words), np.int32, len(words))
        return ShardReader(str(self.folder), self.fingerprint, ids)


@dataclass(frozen=True)
class ShardReader:
    """Reads spans in any process that sees the folder. Several threads may use it."""

    folder: str
    fingerprint: str
    word_ids: Int32Array  # the id that a model gives each of the corpus's words, -1 for unknown words

    def read(self, span: Span) -> Sentences:
        """Return the known words of a span's sentences."""
        with _OpenShard(Path(self.folder), span.shard, self.fingerprint) as file:
            ids = file.ids(span.first_word, span.end_word)
            lengths = file.lengths(span.first_sentence, span.end_sentence)
            if ids.size and not 0 <= int(np.min(ids)) <= int(np.max(ids)) < self.word_ids.size:
                raise file.damaged("it holds ids of no word")
            if int(lengths.sum()) != ids.size:
                raise file.damaged("its sentences do not end where its words do")
        return Sentences(self.word_ids[ids], lengths).known_words()


class _OpenShard:
    """The open file of a shard, whose header and size have been checked."""

    def __init__(self, folder: Path, shard: int, fingerprint: str) -> None:
        self._path = shard_path(folder, shard)
        try:
            self._file = self._path.open("rb")
        except OSError as error:
            raise OSError(
                error.errno,
                f"{error.strerror}; an encoded corpus has to be where all workers that read it see it under this path",
                str(self._path),
            ) from None
        try:
            self.size = self._check(fingerprint)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> _OpenShard:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _check(self, fingerprint: str) -> ShardSize:
        header = self._file.read(_HEADER.size)
        if len(header) < _HEADER.size or not header.startswith(_MAGIC):
            raise self.damaged("it does not begin as a shard does")
        _, found, words, sentences = _HEADER.unpack(header)
        if found.hex() != fingerprint:
            raise self.damaged("it was encoded with another vocabulary")
        size = ShardSize(words, sentences)
        there = os.fstat(self._file.fileno()).st_size
        if there != size.file_bytes:
            raise self.damaged(f"it has {there} bytes instead of {size.file_bytes}")
        return size

    def damaged(self, why: str) -> EncodedCorpusError:
        """Return the error for a damaged shard."""
        return EncodedCorpusError(f"{self._path} is no shard of this corpus: {why}; encode the corpus anew")

    def ids(self, first: int, end: int) -> Int32Array:
        """Return the ids of words `first` to `end`."""
        return self._numbers(first, end)

    def lengths(self, first: int, end: int) -> Int32Array:
        """Return the number of words of sentences `first` to `end`."""
        return self._numbers(self.size.words + first, self.size.words + end)

    def _numbers(self, first: int, end: int) -> Int32Array:
        self._file.seek(_HEADER.size + _INT.itemsize * first)
        data = self._file.read(_INT.itemsize * (end - first))
        if len(data) != _INT.itemsize * (end - first):
            raise self.damaged("it has become shorter")
        return np.frombuffer(data, _INT).astype(np.int32, copy=False)


class ShardWriter:
    """Writes an encoded corpus to an empty folder, and starts a new shard when one is full."""

    def __init__(self, folder: Path, shard_words: int) -> None:
        self._folder = folder
        self._shard_words = shard_words
        self._shards: list[ShardSize] = []
        self._file: Any = None
        self._words = 0  # of the open shard
        self._lengths: list[Int32Array] = []

    def append(self, sentences: Sentences) -> None:
        """Write more sentences."""
        if not sentences.ids.size:
            return
        if self._file is None:
            self._file = shard_path(self._folder, len(self._shards)).open("wb")
            self._file.write(bytes(_HEADER.size))
        self._file.write(sentences.ids.astype(_INT).data)
        self._words += sentences.ids.size
        self._lengths.append(sentences.lengths)
        if self._words >= self._shard_words:
            self._end_shard()

    def finish(self, words_and_counts: Iterable[tuple[str, int]]) -> None:
        """Write the vocabulary, in the order of ids, the headers of all shards and ``corpus.json``."""
        self._end_shard()
        data = "".join(f"{word} {count}\n" for word, count in words_and_counts).encode("utf-8")
        (self._folder / _VOCABULARY_FILE).write_bytes(data)
        fingerprint = fingerprint_of(data)
        for shard, size in enumerate(self._shards):
            with shard_path(self._folder, shard).open("r+b") as file:
                file.write(_HEADER.pack(_MAGIC, bytes.fromhex(fingerprint), size.words, size.sentences))
        found = {"format": _FORMAT, "fingerprint": fingerprint, "shards": [asdict(size) for size in self._shards]}
        Path(header_of(self._folder)).write_text(json.dumps(found, indent=1), encoding="utf-8")

    def close(self) -> None:
        """Close the open shard."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _end_shard(self) -> None:
        if self._file is None:
            return
        lengths = np.concatenate(self._lengths)
        self._file.write(lengths.astype(_INT).data)
        self.close()
        self._shards.append(ShardSize(self._words, lengths.size))
        self._words, self._lengths = 0, []


def fingerprint_of(vocabulary: bytes) -> str:
    """Return the SHA-256 of a vocabulary file, in hexadecimal."""
    return hashlib.sha256(vocabulary).hexdigest()

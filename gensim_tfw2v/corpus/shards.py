"""An encoded corpus in a folder: words with their counts, and shards of ids. Any span of a shard can be read.

Folder:  corpus.json      the header of the corpus
         vocabulary.txt   one word and its count a line; a word's id is the number of its line, from 0
         shard-00000.ids  ids and sentence lengths (`shard_file`)

The header holds the format, the SHA-256 of the vocabulary and, for each shard, its words, its sentences and the SHA-256
of its checksums. Its last field is the SHA-256 of all bytes before that field. This is the fingerprint of the corpus:
no other text has it. In the former format there is no such field, and the fingerprint is the SHA-256 of the vocabulary.

Every byte is under a checksum, which is compared before anything that depends on the byte is used. The fingerprint of
the corpus is in the header of each shard, so that shards of another encoding are refused.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shard_file import (
    WHAT_TO_DO,
    EncodedCorpusError,
    OpenShard,
    ShardSize,
    shard_path,
    with_path,
)
from gensim_tfw2v.files.checked_json import checksum_in, sha256_of, with_checksum

logger = logging.getLogger(__name__)

HEADER_FILE, VOCABULARY_FILE = "corpus.json", "vocabulary.txt"
# These differ in many bits, so that damage does not turn one into the other.
_FORMAT, _FORMER_FORMAT = "gensim_tfw2v encoded and checked corpus 2", "gensim_tfw2v encoded corpus 1"
_LONGEST_QUOTE = 80


class Span(NamedTuple):
    """Consecutive whole sentences of one shard."""

    shard: int
    first_word: int
    end_word: int
    first_sentence: int
    end_sentence: int


def is_encoded(path: Any) -> bool:
    """Return whether a path names the folder of an encoded corpus, which may be damaged."""
    return isinstance(path, str | os.PathLike) and os.path.isfile(header_of(path))


def header_of(folder: str | os.PathLike[str]) -> str:
    """Return the file that marks a folder as an encoded corpus: the header, or the first shard if that is lost."""
    header, shard = os.path.join(os.fspath(folder), HEADER_FILE), str(shard_path(Path(folder), 0))
    return shard if os.path.isfile(shard) and not os.path.lexists(header) else header


class _Header(NamedTuple):
    """The content of ``corpus.json``."""

    fingerprint: str  # SHA-256 in hexadecimal, as all of these
    vocabulary: str
    shards: list[ShardSize]
    checksums: list[str]  # of each shard's checksums; none in the former format


class EncodedCorpus:
    """An encoded corpus. Opening it checks its header, and that all of its shards are there and have the right size.

    Attributes
    ----------
    fingerprint : str
        The SHA-256 of the corpus's header, in hexadecimal, which identifies the corpus.
    shards : list of ShardSize
        The size of each shard.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(os.path.abspath(folder))
        self.fingerprint, self._vocabulary, self.shards, self._checksums = _read_header(self.folder)
        self._has_checksums = bool(self._checksums)
        if not self._has_checksums:
            _warn_of_former_format(self.folder)
        for shard in range(len(self.shards)):
            self._check_shard(shard)

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
        path = self.folder / VOCABULARY_FILE
        data = _read_file(path)
        if sha256_of(data) != self._vocabulary:
            raise EncodedCorpusError(f"{path} is not the vocabulary that the corpus was encoded with; {WHAT_TO_DO}")
        lines = [line.rpartition(b" ") for line in data.split(b"\n")[:-1]]
        try:
            counts = {word.decode("utf-8"): int(count) for word, _, count in lines}
        except ValueError as error:
            raise EncodedCorpusError(f"{path} is damaged ({error}); encode the corpus anew") from None
        if len(counts) != len(lines) or sum(counts.values()) != self.words:
            raise EncodedCorpusError(f"{path} does not have the counts of this corpus; encode the corpus anew")
        return counts

    def sentence_lengths(self, shard: int) -> Int32Array:
        """Return the number of words of each sentence of a shard."""
        with self._opened(shard) as file:
            return file.lengths(0, file.size.sentences, file.size.words)

    def reader(self, key_to_index: Mapping[str, int]) -> ShardReader:
        """Return a reader that returns ids of the vocabulary `key_to_index`."""
        words = self.counts()
        ids = np.fromiter((key_to_index.get(word, -1) for word in words), np.int32, len(words))
        return ShardReader(str(self.folder), self.fingerprint, self._has_checksums, ids)

    def _opened(self, shard: int) -> OpenShard:
        return OpenShard(self.folder, shard, self.fingerprint, self._has_checksums)

    def _check_shard(self, shard: int) -> None:
        with self._opened(shard) as file:
            if file.size != self.shards[shard]:
                raise file.damaged(f"it says that it holds {file.size} instead of {self.shards[shard]}")
            if self._has_checksums and sha256_of(file.checksums()) != self._checksums[shard]:
                raise file.damaged("its checksums have changed")


def header_text(vocabulary: str, shards: Sequence[ShardSize], checksums: Sequence[str]) -> tuple[bytes, str]:
    """Return the bytes of ``corpus.json`` and the fingerprint of the corpus."""
    of_shards = [asdict(size) | {"checksums": found} for size, found in zip(shards, checksums, strict=True)]
    fields = {"format": _FORMAT, "vocabulary": vocabulary, "shards": of_shards}
    return with_checksum(json.dumps(fields, indent=1))


def raw_vocabulary(corpus: EncodedCorpus, max_vocab_size: int | None) -> defaultdict[str, int]:
    """Return the word counts of an encoded corpus as gensim's ``raw_vocab``."""
    if max_vocab_size:
        raise ValueError(
            f"max_vocab_size={max_vocab_size} cannot be applied to an encoded corpus, whose words are counted already; "
            "leave it out, or use max_final_vocab"
        )
    return defaultdict(int, corpus.counts())


@dataclass(frozen=True)
class ShardReader:
    """Reads spans in any process that sees the folder, and checks what it reads. Several threads may use it."""

    folder: str
    fingerprint: str
    has_checksums: bool
    word_ids: Int32Array  # a model's id of each of the corpus's words, -1 for unknown words

    def read(self, span: Span) -> Sentences:
        """Return the known words of a span's sentences."""
        with self._opened(span) as file:
            ids = file.ids(span.first_word, span.end_word, self.word_ids.size)
            lengths = file.lengths(span.first_sentence, span.end_sentence, ids.size)
        return Sentences(ids, lengths).known_words(self.word_ids)

    def lengths(self, span: Span) -> Int32Array:
        """Return the number of words, known or not, of each of a span's sentences."""
        with self._opened(span) as file:
            return file.lengths(span.first_sentence, span.end_sentence, span.end_word - span.first_word)

    def _opened(self, span: Span) -> OpenShard:
        return OpenShard(Path(self.folder), span.shard, self.fingerprint, self.has_checksums)


@functools.cache  # a folder's first warning is enough
def _warn_of_former_format(folder: Path) -> None:
    logger.warning(
        "encoded corpus %s has the former format, without checksums: damage to its ids goes undetected. "
        "Encode the corpus anew",
        folder,
    )


def _read_header(folder: Path) -> _Header:
    path = folder / HEADER_FILE
    data = _read_file(path)
    try:
        found = json.loads(data)
        if found["format"] == _FORMAT:
            fingerprint, shards = checksum_in(data), _sizes(found["shards"])
            checksums = [_sha256(shard["checksums"]) for shard in found["shards"]]
            return _Header(fingerprint, _sha256(found["vocabulary"]), shards, checksums)
        if found["format"] == _FORMER_FORMAT:
            fingerprint = _sha256(found["fingerprint"])
            return _Header(fingerprint, fingerprint, _sizes(found["shards"]), [])
        shown = repr(found["format"])[:_LONGEST_QUOTE]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EncodedCorpusError(f"{path} is damaged ({type(error).__name__}: {error}); {WHAT_TO_DO}") from None
    raise EncodedCorpusError(f"{path}: the format is {shown}, not {_FORMAT!r}; {WHAT_TO_DO}")


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise with_path(error, f"an encoded corpus has this file; {WHAT_TO_DO}", path) from None


def _sizes(shards: Sequence[dict[str, Any]]) -> list[ShardSize]:
    sizes = [ShardSize(shard["words"], shard["sentences"]) for shard in shards]
    numbers = [number for size in sizes for number in (size.words, size.sentences)]
    if not sizes or not all(type(number) is int and number > 0 for number in numbers):
        raise ValueError("every shard must have words and sentences")
    return sizes


def _sha256(text: Any) -> str:
    if not isinstance(text, str) or len(text) != hashlib.sha256().digest_size * 2 or bytes.fromhex(text).hex() != text:
        raise ValueError(f"{repr(text)[:_LONGEST_QUOTE]} is no SHA-256")
    return text

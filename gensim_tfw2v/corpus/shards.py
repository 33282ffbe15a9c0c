"""An encoded corpus in a folder: words with their counts, and shards of ids. Any span of a shard can be read.

Folder:  corpus.json      what belongs to the corpus (`corpus_header`)
         vocabulary.txt   one word and its count a line; a word's id is the number of its line, from 0
         shard-00000.ids  ids and sentence lengths (`shard_file`)

Every byte is under a checksum, which is compared before anything that depends on the byte is used. The fingerprint of
the corpus is in the header of each shard, so that shards of another encoding are refused.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.corpus_header import HEADER_FILE, VOCABULARY_FILE, read_file, read_header
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shard_file import WHAT_TO_DO, EncodedCorpusError, OpenShard, ShardName, ShardSize, shard_path
from gensim_tfw2v.files.checked_json import sha256_of

logger = logging.getLogger(__name__)


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


class EncodedCorpus:
    """An encoded corpus. Opening it checks its header, and that all of its shards are there and have the right size."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(os.path.abspath(folder))
        self._header = read_header(self.folder)
        if not self._header.has_checksums:
            _warn_of_former_format(self.folder)
        for shard in range(len(self.shards)):
            self._check_shard(shard)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the corpus's header, in hexadecimal, which identifies the corpus."""
        return self._header.fingerprint

    @property
    def shards(self) -> list[ShardSize]:
        """The size of each shard."""
        return self._header.shards

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
        data = read_file(path)
        if sha256_of(data) != self._header.vocabulary:
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
        with OpenShard(self._name(shard)) as file:
            lengths = file.lengths(0, file.size.sentences)
            file.check_lengths(lengths, file.size.words)
        return lengths

    def reader(self, key_to_index: Mapping[str, int]) -> ShardReader:
        """Return a reader that returns ids of the vocabulary `key_to_index`."""
        words = self.counts()
        ids = np.fromiter((key_to_index.get(word, -1) for word in words), np.int32, len(words))
        return ShardReader(str(self.folder), self._header.fingerprint, self._header.has_checksums, ids)

    def _name(self, shard: int) -> ShardName:
        return ShardName(self.folder, shard, self._header.fingerprint, self._header.has_checksums)

    def _check_shard(self, shard: int) -> None:
        with OpenShard(self._name(shard)) as file:
            if file.size != self.shards[shard]:
                raise file.damaged(f"it says that it holds {file.size} instead of {self.shards[shard]}")
            if self._header.has_checksums and sha256_of(file.checksums()) != self._header.checksums[shard]:
                raise file.damaged("its checksums have changed")


@dataclass(frozen=True)
class ShardReader:
    """Reads spans in any process that sees the folder, and checks what it reads. Several threads may use it."""

    folder: str
    fingerprint: str
    has_checksums: bool
    word_ids: Int32Array  # a model's id of each of the corpus's words, -1 for unknown words

    def read(self, span: Span) -> Sentences:
        """Return the known words of a span's sentences."""
        with OpenShard(ShardName(Path(self.folder), span.shard, self.fingerprint, self.has_checksums)) as file:
            ids = file.ids(span.first_word, span.end_word)
            lengths = file.lengths(span.first_sentence, span.end_sentence)
            file.check_ids(ids, self.word_ids.size)
            file.check_lengths(lengths, ids.size)
        return Sentences(ids, lengths).known_words(self.word_ids)

    def lengths(self, span: Span) -> Int32Array:
        """Return the number of words, known or not, of each of a span's sentences."""
        with OpenShard(ShardName(Path(self.folder), span.shard, self.fingerprint, self.has_checksums)) as file:
            lengths = file.lengths(span.first_sentence, span.end_sentence)
            file.check_lengths(lengths, span.end_word - span.first_word)
        return lengths


@functools.cache
def _warn_of_former_format(folder: Path) -> None:
    """Warn once of a folder whose damage may go undetected."""
    logger.warning(
        "encoded corpus %s has the former format, without checksums: damage to its ids goes undetected. "
        "Encode the corpus anew",
        folder,
    )

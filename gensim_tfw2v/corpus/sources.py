"""Corpora → chunks of ids. Each epoch yields all sentences; text is encoded once if it fits a budget."""

from __future__ import annotations

import numbers
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array, Int32Array
from gensim_tfw2v.corpus.cache import CacheBudget, EncodedStore
from gensim_tfw2v.corpus.chunks import Chunk, Pieces, cut_into_chunks, spans_of
from gensim_tfw2v.corpus.file_parts import file_parts
from gensim_tfw2v.corpus.file_scan import FileScan, sentences_of_parts
from gensim_tfw2v.corpus.hold_out import HoldOut, Take
from gensim_tfw2v.corpus.sentence_scan import SentenceScan
from gensim_tfw2v.corpus.sentence_weights import with_weights
from gensim_tfw2v.corpus.sentences import MAX_SENTENCE_WORDS, Sentences
from gensim_tfw2v.corpus.shards import EncodedCorpus, ShardReader

__all__ = ["MAX_SENTENCE_WORDS", "CacheBudget", "Chunk", "FileSource", "Reading", "Source", "TextSource"]


class Source(ABC):
    """A corpus that yields chunks in every epoch, the same ones unless its sentences differ from pass to pass."""

    reader: ShardReader | None = None
    """Reads the chunks that are spans of an encoded corpus."""

    def __init__(self) -> None:
        self._abandoned = threading.Event()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        """Yield the chunks of one pass over the whole corpus, without the sentences that are held out.

        Parameters
        ----------
        number : int, optional
            Of the epoch: 0, 1, 2, ... in a training.
        """

    def hold_out(self, take: Take) -> None:
        """Read the corpus once, and give the sentences that are held out to `take`; by default there are none."""
        return

    def abandon(self) -> None:
        """End a pass over an iterable at its next sentence, and let no other pass begin. Any thread may call this."""
        self._abandoned.set()

    def allow_passes(self) -> None:
        """Let passes begin again; a pass that was abandoned still ends."""
        self._abandoned = threading.Event()

    @abstractmethod
    def close(self) -> None:
        """Free the memory and the disk space that the corpus takes."""


@dataclass(frozen=True)
class Reading:
    """How a text becomes chunks of ids."""

    key_to_index: Mapping[Any, int]
    """Ids of the known words. It must not change during a pass."""
    words_per_chunk: int
    """A chunk ends with the first sentence, or piece of an overlong one, that brings it to this many words."""
    budget: CacheBudget
    """Memory and disk for the encoded corpus. If it does not fit, every epoch encodes it again in bounded memory."""
    ids_below: int | None = None
    """Rows of the tables to train, which all ids must be below. By default it follows from the largest id."""
    held_out: HoldOut | None = None
    """Which sentences are held out of all passes."""
    weights: Float32Array | None = None
    """The weight of each sentence."""

    def __post_init__(self) -> None:
        if self.words_per_chunk < 1:
            raise ValueError(f"words_per_chunk is {self.words_per_chunk!r}; give a number of words above 0")


class TextSource(Source):
    """A corpus of text that is encoded as it is read, and stays encoded after the first epoch if it fits a budget."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self._reading, self._key_to_index = reading, reading.key_to_index
        self._known_words = len(self._key_to_index)
        below = reading.ids_below
        self._ids_below = max(self._key_to_index.values(), default=-1) + 1 if below is None else below
        self._budget: CacheBudget | None = reading.budget
        self._cache: EncodedStore | None = None
        self._cached_totals: list[tuple[int, int]] = []  # raw words and sentences of each cached chunk
        self._take: Take | None = None  # receives the sentences that are held out

    def hold_out(self, take: Take) -> None:
        self._take = take
        try:
            for _ in self.epoch():
                continue
        finally:
            self._take = None

    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        if self._cache is not None:
            for place, (sentences, totals) in enumerate(zip(self._cache, self._cached_totals, strict=True)):
                yield Chunk(place, sentences, *totals)
        elif self._budget is None or self._kept() is not None:
            yield from self._encoded_chunks()
        else:
            yield from self._first_epoch(EncodedStore(self._budget))

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _pieces(self) -> Generator[Pieces, None, None]:
        """Yield the corpus as pieces of sentences, any number at a time."""
        scan = self._kept()
        return self._read() if scan is None else self._kept_pieces(scan)

    @abstractmethod
    def _kept(self) -> FileScan | SentenceScan | None:
        """Return an earlier pass over this corpus that keeps the encoded sentences, None if there is none."""

    @abstractmethod
    def _read(self) -> Generator[Pieces, None, None]:
        """Read the corpus, and yield it as `_pieces` does."""

    def _kept_pieces(self, scan: FileScan | SentenceScan) -> Generator[Pieces, None, None]:
        ids = self._ids_of_words(scan.words)
        for sentences in scan.encoded:
            yield Pieces.whole(Sentences(ids[sentences.ids], sentences.lengths))

    def _ids_of_words(self, words: list[Any]) -> Int32Array:
        return np.fromiter(map(self._id, words), dtype=np.int32, count=len(words))

    def _has_right_id(self, word: Any) -> bool:
        found = self._key_to_index.get(word, -1)
        return isinstance(found, numbers.Integral) and -1 <= found < self._ids_below

    def _id(self, word: Any) -> int:
        """Return the id of a word, -1 for an unknown one."""
        found = self._key_to_index.get(word, -1)
        if not -1 <= found < self._ids_below:
            raise self._wrong_id(word)
        return found

    def _wrong_id(self, word: Any) -> RuntimeError:
        return RuntimeError(
            f"wv.key_to_index has the id {self._key_to_index.get(word)!r} for the word {word!r}, and the vectors in "
            f"training have ids from 0 to {self._ids_below - 1}; change the vocabulary before train()"
        )

    def _first_epoch(self, store: EncodedStore) -> Iterator[Chunk]:
        totals = []
        try:
            for chunk in self._encoded_chunks():
                assert isinstance(chunk.content, Sentences)  # all chunks of text carry sentences
                store.append(chunk.content)
                totals.append((chunk.raw_words, chunk.sentences))
                yield chunk
        except BaseException:
            store.close()
            raise
        if not store.complete:
            self._budget = None  # it did not fit, and would not fit in a later epoch
        elif self._cache is None:
            self._cache, self._cached_totals = store, totals

    def _encoded_chunks(self) -> Iterator[Chunk]:
        weights, held_out = self._reading.weights, self._reading.held_out
        with closing(self._pieces()) as found:
            pieces = found if weights is None else with_weights(found, weights)
            trained = pieces if held_out is None else held_out.without(pieces, self._take)
            yield from cut_into_chunks(trained, self._reading.words_per_chunk)


class FileSource(TextSource):
    """A file in gensim's `LineSentence` format, or a table, read by several processes.

    Parameters
    ----------
    path : str or path-like
        The file.
    workers : int
        Reading processes.
    scan : FileScan, optional
        Result of an earlier pass. If it keeps the encoded corpus, and the file has not changed since, the file is not
        read again. The caller closes the scan.
    part_bytes : int, optional
        Size of the parts that the processes read by turns.
    column : str, optional
        The column of a table that has the sentences, if more than one could.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        reading: Reading,
        workers: int,
        scan: FileScan | None = None,
        *,
        part_bytes: int = tuning.FILE_PART_BYTES,
        column: str | None = None,
    ) -> None:
        super().__init__(reading)
        self._path = path
        self._column = column
        self._workers = workers
        self._scan = scan
        self._part_bytes = part_bytes

    def _kept(self) -> FileScan | None:
        scan = self._scan
        return scan if scan is not None and scan.stands_for(self._path, self._column) else None

    def _read(self) -> Generator[Pieces, None, None]:
        parts = file_parts(os.path.abspath(self._path), self._workers, self._part_bytes, self._column)
        with closing(sentences_of_parts(parts, self._id)) as found:
            for sentences in found:
                yield Pieces.whole(sentences)  # gensim counts each piece of an overlong line as a sentence


class EncodedSource(Source):
    """An encoded corpus, whose chunks name spans of it. No ids are here: the worker that trains a chunk reads its span.

    Parameters
    ----------
    corpus : EncodedCorpus
        The corpus. A chunk ends with its shard.
    key_to_index : mapping
        Ids of the known words.
    words_per_chunk : int
        A chunk ends with the first sentence that brings it to this many words.
    """

    def __init__(self, corpus: EncodedCorpus, key_to_index: Mapping[str, int], words_per_chunk: int) -> None:
        super().__init__()
        self._corpus = corpus
        self._words_per_chunk = words_per_chunk
        self.reader = corpus.reader(key_to_index)

    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        chunk = 0
        for shard in range(len(self._corpus.shards)):
            for span in spans_of(shard, self._corpus.sentence_lengths(shard), self._words_per_chunk):
                words, sentences = span.end_word - span.first_word, span.end_sentence - span.first_sentence
                yield Chunk(chunk, span, words, sentences)
                chunk += 1

    def close(self) -> None:
        """Do nothing: no file is open, and no ids are in memory."""

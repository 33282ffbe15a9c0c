"""Iterables of sentences → chunks of ids. One whose sentences differ from pass to pass is read in every epoch."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Generator, Hashable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.chunks import Chunk, Pieces
from gensim_tfw2v.corpus.file_scan import sentences_of_parts
from gensim_tfw2v.corpus.number_sentences import NumberTable
from gensim_tfw2v.corpus.sentence_batches import SentenceBatch, sentence_batches
from gensim_tfw2v.corpus.sentence_parts import SentenceParts
from gensim_tfw2v.corpus.sentence_scan import SentenceScan
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.sources import Reading, TextSource

logger = logging.getLogger(__name__)


class _AbandonedError(Exception):
    """The pass over the corpus was abandoned."""


@dataclass
class PassBeginning:
    """The first sentences of a pass as checksums of their ids, lengths and tags. Two are equal if the sentences are."""

    words_missing: int = field(default_factory=lambda: tuning.COMPARED_WORDS)
    pieces_missing: int = field(default_factory=lambda: tuning.COMPARED_PIECES)
    checksums: tuple[int, ...] = (0, 0, 0, 0)

    @property
    def is_whole(self) -> bool:
        """Whether no further sentence counts."""
        return self.words_missing <= 0 or self.pieces_missing <= 0

    def add(self, pieces: Pieces) -> None:
        """Add the next pieces of the pass, as many as are missing."""
        if self.is_whole:
            return
        ends = np.cumsum(pieces.sentences.lengths, dtype=np.int64)
        count = min(self.pieces_missing, int(np.searchsorted(ends, self.words_missing)) + 1, ends.size)
        words = int(ends[count - 1]) if count else 0
        counted = pieces.sentences.between(slice(words), slice(count))
        documents = pieces.begun[:0] if counted.documents is None else counted.documents
        arrays = counted.ids, counted.lengths, pieces.begun[:count], documents
        self.checksums = tuple(
            zlib.crc32(array.tobytes(), sum_) for array, sum_ in zip(arrays, self.checksums, strict=True)
        )
        self.words_missing -= words
        self.pieces_missing -= count


class IterableSource(TextSource):
    """An iterable of sentences that can be iterated over again.

    Before the sentences of one pass stand for another one, the beginnings of both are compared, once.

    Parameters
    ----------
    sentences : iterable of sequence of hashable
        Sentences; each is a sequence of words, and a plain string is a sequence of characters.
    scan : SentenceScan, optional
        Result of an earlier pass. If it keeps the encoded sentences, they are the first pass. The caller closes the
        scan.
    """

    def __init__(
        self, sentences: Iterable[Iterable[Hashable]], reading: Reading, scan: SentenceScan | None = None
    ) -> None:
        super().__init__(reading)
        self._sentences = sentences
        self._scan = scan
        self._beginning: PassBeginning | None = None  # of the first whole pass
        self._is_compared = False  # with another pass

    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        self._drop_if_passes_differ()
        yield from super().epoch(number)

    def _drop_if_passes_differ(self) -> None:
        """Free what is kept of the first pass, if it would stand for another one and the two differ."""
        scan = self._kept()
        if self._beginning is None or self._is_compared or (self._cache is None and scan is None):
            return
        if not self._begins_with(self._beginning):
            logger.info("sentences differ from pass to pass: every epoch reads them anew")
            self._budget = None
            self.close()
            if scan is not None:
                scan.close()
        self._is_compared = True

    def _pieces(self) -> Generator[Pieces, None, None]:
        beginning = PassBeginning()
        with closing(super()._pieces()) as found:
            for pieces in found:
                beginning.add(pieces)
                yield pieces
        if self._beginning is None:
            self._beginning = beginning

    def _kept(self) -> SentenceScan | None:
        scan = self._scan
        return scan if scan is not None and scan.stands_for(self._sentences) else None

    def _begins_with(self, beginning: PassBeginning) -> bool:
        again = PassBeginning()
        with closing(self._read_in_batches(again.words_missing, again.pieces_missing)) as found:
            for pieces in found:
                again.add(pieces)
                if again.is_whole:  # no further sentence is taken
                    break
        # Without a sentence, it could be read only once, and what is kept is all there is.
        return again in (beginning, PassBeginning())

    def _read(self) -> Generator[Pieces, None, None]:
        return self._read_in_batches(tuning.ITERABLE_WORDS, tuning.ITERABLE_PIECES)

    def _read_in_batches(self, words: int, pieces: int) -> Generator[Pieces, None, None]:
        """Read the iterable, and yield its sentences once there are so many words or pieces of them."""
        return self._in_batches(self._sentences, words, pieces)

    def _in_batches(
        self, sentences: Iterable[Iterable[Hashable]], words: int, pieces: int, are_cut: bool = True
    ) -> Generator[Pieces, None, None]:
        """Yield these sentences as `_read_in_batches` does; without `are_cut`, each is one piece."""
        abandoned = self._abandoned

        def raise_if_abandoned() -> None:
            if abandoned.is_set():
                raise _AbandonedError  # a plain end would look like the end of the corpus

        table = NumberTable(self._ids_of_words)
        for batch in sentence_batches(sentences, words, pieces, raise_if_abandoned, are_cut):
            ids = self._ids_of(batch) if batch.numbers is None else table.ids(batch.numbers)
            yield Pieces(Sentences(ids, np.array(batch.lengths, np.int32)), np.array(batch.begun, np.int32))

    def _ids_of_words(self, words: list[Any]) -> Int32Array:
        return self._ids_of(SentenceBatch(words, [len(words)], [1], 0))

    def _ids_of(self, batch: SentenceBatch) -> Int32Array:
        """Return the ids of a batch's words, -1 for unknown ones."""
        if len(self._key_to_index) != self._known_words:  # changed by the iterator, or by a thread of the caller
            raise RuntimeError(
                f"wv.key_to_index had {self._known_words} words when train() began and has {len(self._key_to_index)} "
                "now; change the vocabulary before train(), with build_vocab(), and not while the corpus is read"
            )
        try:
            ids = batch.ids(map(self._key_to_index.get, batch.words, repeat(-1)))
        except (ValueError, OverflowError):  # an id in the dictionary is no number, or too large
            raise self._wrong_id(next(word for word in batch.words if not self._has_right_id(word))) from None
        # An id below -1 would pass for an unknown word.
        if not -1 <= ids.min(initial=-1) <= ids.max(initial=-1) < self._ids_below:
            raise self._wrong_id(next(word for word in batch.words if not self._has_right_id(word)))
        return ids


class PartsSource(IterableSource):
    """Sentences that come in parts.

    Parameters
    ----------
    sentences : object
        The sentences as the user gave them, by which the scan knows them again.
    shown : SentenceParts
        The same sentences, which are read.
    reading, scan
        As for `IterableSource`. If passes differ, the budget is nothing, and there is no scan that keeps sentences.
    first_pass : int, optional
        Number of the pass that the first epoch reads, if passes differ.
    """

    def __init__(
        self,
        sentences: Any,
        shown: SentenceParts,
        reading: Reading,
        scan: SentenceScan | None = None,
        first_pass: int = 0,
    ) -> None:
        super().__init__(sentences, reading, scan)
        self._shown = shown
        self._first_pass = self._pass = first_pass

    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        self._pass = self._first_pass + number
        yield from super().epoch(number)

    def _begins_with(self, beginning: PassBeginning) -> bool:
        return True  # nothing is kept if passes differ

    def _read(self) -> Generator[Pieces, None, None]:
        abandoned = self._abandoned
        with closing(sentences_of_parts(self._shown.of_pass(self._pass).numbered_parts(), self._id)) as found:
            for sentences in found:
                if abandoned.is_set():
                    raise _AbandonedError
                yield Pieces.whole(sentences)

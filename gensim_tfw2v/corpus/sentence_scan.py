"""An iterable of sentences → its words and their counts, and the sentences as word numbers, in one pass."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.corpus.cache import CacheBudget, EncodedStore
from gensim_tfw2v.corpus.file_scan import ScanProgress, counted_and_kept
from gensim_tfw2v.corpus.number_sentences import NumberTable
from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary
from gensim_tfw2v.corpus.sentence_batches import NumberBatch, sentence_batches
from gensim_tfw2v.corpus.sentence_parts import SentenceParts
from gensim_tfw2v.corpus.sentences import Sentences


@dataclass
class SentenceScan:
    """The result of one pass over an iterable of sentences."""

    sentences: object
    """The iterable."""
    words: list[Any]
    """Distinct words in the order of their first appearance."""
    counts: Int64Array
    """How often each of `words` appears."""
    total_words: int
    sentence_count: int
    encoded: EncodedStore
    """The sentences as places in `words`, if they fit the budget and none was cut (`encoded.complete`)."""

    def stands_for(self, sentences: object) -> bool:
        """Return whether the encoded sentences are those that this iterable had."""
        return self.encoded.complete and sentences is self.sentences

    def close(self) -> None:
        """Free the encoded sentences; the counts stay."""
        self.encoded.close()


def scan_sentences(
    sentences: object, shown: Iterable[Iterable[Hashable]], budget: CacheBudget, progress: ScanProgress
) -> SentenceScan:
    """Return the words of sentences and their counts, and keep the sentences as numbers within a budget.

    Parameters
    ----------
    sentences : object
        The iterable as the user gave it, by which `SentenceScan.stands_for` knows it again.
    shown : iterable of iterable of hashable
        The same sentences, which are read.
    progress : callable
        Called after each batch of sentences with the words, distinct words and sentences so far.
    """
    vocabulary, store = RawVocabulary(), EncodedStore(budget)
    tally, table = _Tally(vocabulary), NumberTable(vocabulary.numbers)
    try:
        for batch in sentence_batches(shown, tuning.ITERABLE_WORDS, tuning.ITERABLE_PIECES):
            if isinstance(batch, NumberBatch):
                ids = table.ids(batch.numbers)
            else:
                ids = batch.ids(map(vocabulary.number, batch.words))
            tally.add(ids)
            if 0 in batch.begun:
                store.close()  # pieces would pass for sentences
            store.append(Sentences(ids, np.array(batch.lengths, dtype=np.int32)))
            vocabulary.total_words += ids.size
            vocabulary.sentence_count = batch.position + 1
            progress(vocabulary.total_words, len(vocabulary), vocabulary.sentence_count)
    except BaseException:
        store.close()
        raise
    tally.end()
    words, counts = vocabulary.words_and_counts()
    return SentenceScan(sentences, words, counts, vocabulary.total_words, vocabulary.sentence_count, store)


def scan_parts(sentences: object, shown: SentenceParts, budget: CacheBudget, progress: ScanProgress) -> SentenceScan:
    """Return what `scan_sentences` does, of sentences that come in parts."""
    vocabulary, store = counted_and_kept(shown.numbered_parts(), budget, progress)
    words, counts = vocabulary.words_and_counts()
    return SentenceScan(sentences, words, counts, vocabulary.total_words, vocabulary.sentence_count, store)


class _Tally:
    """Counts words of a vocabulary, as many at once as it has distinct ones: each count passes over all of these."""

    def __init__(self, vocabulary: RawVocabulary) -> None:
        self._vocabulary = vocabulary
        self._pending: list[Int32Array] = []
        self._words = 0

    def add(self, numbers: Int32Array) -> None:
        """Count words, given by their numbers."""
        self._pending.append(numbers)
        self._words += numbers.size
        if self._words >= len(self._vocabulary):
            self.end()

    def end(self) -> None:
        """Count what is pending."""
        if self._pending:
            counts = np.bincount(np.concatenate(self._pending))
            self._vocabulary.add(np.arange(counts.size, dtype=np.int32), counts)
            self._pending, self._words = [], 0

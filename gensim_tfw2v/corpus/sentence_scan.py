"""An iterable of sentences → its words and their counts, and the sentences as word numbers, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.corpus.cache import CacheBudget, EncodedStore
from gensim_tfw2v.corpus.file_scan import RawVocabulary, ScanProgress
from gensim_tfw2v.corpus.sentence_batches import sentence_batches
from gensim_tfw2v.corpus.sentences import Sentences


@dataclass
class SentenceScan:
    """The result of one pass over an iterable of sentences."""

    sentences: Any
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
    sentences: Any,
    budget: CacheBudget,
    progress: ScanProgress,
    shown: Callable[[Any], Iterable[Iterable[Hashable]]],
) -> SentenceScan:
    """Return the words of sentences and their counts, and keep the sentences as numbers within a budget.

    Parameters
    ----------
    progress : callable
        Called after each batch of sentences with the words, distinct words and sentences so far.
    shown : callable
        Returns the sentences to iterate over for `sentences`, such as with checks and a bar.
    """
    vocabulary, store = RawVocabulary(), EncodedStore(budget)
    try:
        for batch in sentence_batches(shown(sentences)):
            ids = batch.ids(map(vocabulary.number, batch.words))
            counts = np.bincount(ids)
            numbers = np.flatnonzero(counts).astype(np.int32)
            vocabulary.add(numbers, counts[numbers])
            if 0 in batch.begun:
                store.close()  # pieces would pass for sentences
            store.append(Sentences(ids, np.array(batch.lengths, dtype=np.int32)))
            vocabulary.total_words += ids.size
            vocabulary.sentence_count = batch.position + 1
            progress(vocabulary.total_words, len(vocabulary), vocabulary.sentence_count)
    except BaseException:
        store.close()
        raise
    words, counts = vocabulary.words_and_counts()
    return SentenceScan(sentences, words, counts, vocabulary.total_words, vocabulary.sentence_count, store)

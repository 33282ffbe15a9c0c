"""An iterable of sentences → its words and their counts, and the sentences as word numbers, in one pass."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.cache import CacheBudget, EncodedStore
from gensim_tfw2v.corpus.file_scan import Scan, ScanProgress, scan_of_parts
from gensim_tfw2v.corpus.number_sentences import NumberTable
from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary
from gensim_tfw2v.corpus.sentence_batches import sentence_batches
from gensim_tfw2v.corpus.sentence_parts import SentenceParts
from gensim_tfw2v.corpus.sentences import Sentences


@dataclass
class SentenceScan(Scan):
    """The result of one pass over an iterable of sentences."""

    sentences: object
    """The iterable."""

    def stands_for(self, sentences: object) -> bool:
        """Return whether the encoded sentences are those that this iterable had."""
        return self.encoded.complete and sentences is self.sentences


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
    table = NumberTable(vocabulary.numbers)
    try:
        for batch in sentence_batches(shown, tuning.ITERABLE_WORDS, tuning.ITERABLE_PIECES):
            ids = batch.ids(map(vocabulary.number, batch.words)) if batch.numbers is None else table.ids(batch.numbers)
            vocabulary.count(ids)
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
    return SentenceScan(words, counts, vocabulary.total_words, vocabulary.sentence_count, store, sentences)


def scan_parts(sentences: object, shown: SentenceParts, budget: CacheBudget, progress: ScanProgress) -> SentenceScan:
    """Return what `scan_sentences` does, of sentences that come in parts."""
    return SentenceScan(**vars(scan_of_parts(shown.numbered_parts(), budget, progress)), sentences=sentences)

"""How a model reads a corpus: once to count its words, and every epoch as ids to train on."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gensim_tfw2v.corpus.file_scan import FileScan, scan_file
from gensim_tfw2v.corpus.shard_source import EncodedSource, raw_vocabulary
from gensim_tfw2v.corpus.shards import EncodedCorpus, header_of, is_encoded
from gensim_tfw2v.corpus.sources import CacheBudget, FileSource, IterableSource, Source, checked_sentences
from gensim_tfw2v.model.server_vectors import ServerVectors
from gensim_tfw2v.runtime.tensorflow import usable_cores
from gensim_tfw2v.training.progress import ScanBar, ScanLog, counted_sentences, wants_bar

logger = logging.getLogger(__name__)

_BYTES_PER_ENCODED_WORD = 4


class CorpusReading(ServerVectors):
    """Reads sentences from an iterable, a file or an encoded corpus, with all cores where it can."""

    progress: bool | None
    cache_memory: int
    cache_disk: int
    cache_dir: str | None
    _scan: FileScan | None  # the file read last, whose ids training need not look up again

    def scan_vocab(
        self,
        corpus_iterable: Iterable[Sequence[Any]] | None = None,
        corpus_file: str | None = None,
        progress_per: int = 10000,
        workers: int | None = None,
        trim_rule: Callable[[str, int, int], int] | None = None,
    ) -> tuple[int, int]:
        """Count the words of a corpus into ``raw_vocab``; a `corpus_file` is read by all `workers` at once.

        Returns
        -------
        (int, int)
            Number of raw words and of sentences.
        """
        self._forget_scan()
        if corpus_file is not None and is_encoded(corpus_file):
            corpus = EncodedCorpus(corpus_file)
            self.raw_vocab = raw_vocabulary(corpus, self.max_vocab_size)
            return corpus.words, corpus.sentences
        if corpus_file is None or self.max_vocab_size:  # pruning depends on the order in which words come
            if corpus_iterable is not None:
                shown = counted_sentences(corpus_iterable) if wants_bar(self.progress) else corpus_iterable
                corpus_iterable = checked_sentences(shown)
            words, sentences = super().scan_vocab(corpus_iterable, corpus_file, progress_per, workers, trim_rule)
            return words, sentences
        logger.info("collecting all words and their counts")
        report = ScanBar() if wants_bar(self.progress) else ScanLog()
        try:
            scan = scan_file(corpus_file, self._readers(workers), self._cache_budget(), report)
        finally:
            report.close()
        self._scan = scan
        self.raw_vocab = defaultdict(int, zip(scan.words, scan.counts.tolist(), strict=True))
        logger.info(
            "collected %i word types from a corpus of %i raw words and %i sentences",
            len(scan.words),
            scan.total_words,
            scan.sentence_count,
        )
        return scan.total_words, scan.sentence_count

    def _check_corpus_sanity(
        self,
        corpus_iterable: Iterable[Sequence[Any]] | None = None,
        corpus_file: str | None = None,
        passes: int | None = 1,
    ) -> None:
        """Raise TypeError if there is no corpus, or one that cannot be used."""
        if corpus_file is not None and is_encoded(corpus_file):
            corpus_file = header_of(corpus_file)  # gensim wants a file
        super()._check_corpus_sanity(corpus_iterable, corpus_file, passes)

    def _source(
        self,
        corpus_iterable: Iterable[Sequence[Any]] | None,
        corpus_file: str | None,
        total_words: int | None,
        block_words: int,
    ) -> Source:
        if corpus_file is not None and is_encoded(corpus_file):
            return EncodedSource(EncodedCorpus(corpus_file), self.wv.key_to_index, block_words)
        words = total_words or self.corpus_total_words or 0
        budget = self._cache_budget()
        # Nothing is begun to be kept that is read once only, or that is known not to fit.
        if self.epochs == 1 or words * _BYTES_PER_ENCODED_WORD > self.cache_memory + self.cache_disk:
            budget = CacheBudget(0, 0, None)
        if corpus_iterable is not None:
            return IterableSource(corpus_iterable, self.wv.key_to_index, block_words, budget)
        return FileSource(str(corpus_file), self.wv.key_to_index, block_words, budget, self._readers(), scan=self._scan)

    def _cache_budget(self) -> CacheBudget:
        return CacheBudget(self.cache_memory, self.cache_disk, self.cache_dir)

    def _readers(self, workers: int | None = None) -> int:
        return max(1, min(workers or self.workers, usable_cores()))

    def _forget_scan(self) -> None:
        if self._scan is not None:
            self._scan.close()
            self._scan = None

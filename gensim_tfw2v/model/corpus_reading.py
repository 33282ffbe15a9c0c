"""How a model reads a corpus: once to count its words, and in every epoch as ids to train on."""

from __future__ import annotations

import logging
import os
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any

from gensim.models.doc2vec import TaggedLineDocument
from gensim.models.word2vec import LineSentence, Word2Vec
from smart_open import open as smart_open

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.corpus.cache import CacheBudget
from gensim_tfw2v.corpus.documents import DocumentSource, TagLists
from gensim_tfw2v.corpus.file_scan import FileScan, scan_file
from gensim_tfw2v.corpus.hold_out import HoldOut
from gensim_tfw2v.corpus.iterable_source import IterableSource, PartsSource
from gensim_tfw2v.corpus.sentence_batches import checked_sentences
from gensim_tfw2v.corpus.sentence_parts import SentenceParts, TableSentences, column_of, is_column
from gensim_tfw2v.corpus.sentence_scan import SentenceScan, scan_parts, scan_sentences
from gensim_tfw2v.corpus.shards import EncodedCorpus, header_of, is_encoded, raw_vocabulary
from gensim_tfw2v.corpus.sources import EncodedSource, FileSource, Reading, Source
from gensim_tfw2v.corpus.table_file import check_table, is_table
from gensim_tfw2v.corpus.text_file import is_compressed
from gensim_tfw2v.model.arguments import plain_arguments
from gensim_tfw2v.runtime.cores import ALL_CORES
from gensim_tfw2v.runtime.tensorflow import import_ahead, usable_cores
from gensim_tfw2v.training.display import ScanBar, ScanLog, SentenceScanLog, counted_sentences, wants_bar

logger = logging.getLogger(__name__)

_BYTES_PER_ENCODED_WORD = 4
_NOTHING_KEPT = CacheBudget(0, 0, None)
_BLOCK_BYTES = 2**20


@dataclass(frozen=True)
class Corpus:
    """A corpus as a user gives it: either sentences or a file."""

    sentences: Iterable[Sequence[Any]] | None
    file: str | None
    weights: Float32Array | None = None
    """Of the sentences; None: each has the weight 1."""

    @property
    def next_pass(self) -> int:
        """Number of the next pass over sentences whose passes differ, 0 for others."""
        return self.sentences.passes if isinstance(self.sentences, SentenceParts) else 0


@dataclass(frozen=True)
class RawVocabulary:
    """All words of a corpus, and how many words and sentences it has."""

    counts: defaultdict[Any, int]
    raw_words: int
    sentences: int


class CorpusReader:
    """Reads corpora for one model. It remembers the corpus counted last, whose words need not be looked up again."""

    def __init__(self) -> None:
        self._scan: FileScan | None = None
        self._sentence_scan: SentenceScan | None = None

    def forget(self) -> None:
        """Free the data kept from the corpus counted last."""
        if self._scan is not None:
            self._scan.close()
            self._scan = None
        self.forget_sentences()

    def forget_sentences(self) -> None:
        """Free the data kept from sentences, which the program may change from now on."""
        if self._sentence_scan is not None:
            self._sentence_scan.close()
            self._sentence_scan = None

    def keeps_deleted(self, path: str | None) -> bool:
        """Return whether a deleted file can still be read from the data kept of it."""
        scan = self._scan
        return path is not None and scan is not None and scan.is_of_deleted(path) and scan.encoded.complete

    def count(
        self, model: Word2Vec, sentences: Any, path: str | None, progress_per: int, workers: int | None
    ) -> RawVocabulary | None:
        """Return the words of a corpus, counted faster than by gensim; None where gensim must count.

        Pruning by ``max_vocab_size`` depends on the order of the words, so gensim's loop must count them.
        """
        if path is not None and is_encoded(path):
            corpus = EncodedCorpus(path)
            return RawVocabulary(raw_vocabulary(corpus, model.max_vocab_size), corpus.words, corpus.sentences)
        if model.max_vocab_size or (path is None and sentences is None):
            return None
        logger.info("collecting all words and their counts")
        if path is None:
            return self._count_sentences(model, sentences, progress_per)
        readers = _processes(workers or model.workers)
        with closing(_scan_report(model)) as report:
            self._scan = scan_file(path, readers, _budget(model), report, column=model.column, meanwhile=import_ahead)
        return _collected(self._scan)

    def _count_sentences(self, model: Word2Vec, sentences: Any, progress_per: int) -> RawVocabulary:
        """Return the vocabulary of sentences; keep them as numbers if they are trained before they can change."""
        parts = in_parts(sentences, model.column)
        is_kept = not model._is_constructed and (parts is None or parts.repeats)
        budget = _budget(model) if is_kept else _NOTHING_KEPT
        if parts is None:
            shown = _shown_and_warned(sentences, wants_bar(model.progress))
            self._sentence_scan = scan_sentences(sentences, shown, budget, SentenceScanLog(progress_per))
        else:
            with closing(_scan_report(model)) as report:
                self._sentence_scan = scan_parts(sentences, parts, budget, report)
        return _collected(self._sentence_scan)

    def source(
        self,
        model: Word2Vec,
        corpus: Corpus,
        block_words: int,
        total_words: int,
        is_read_again: bool,
        held_out: HoldOut | None = None,
        first_pass: int = 0,
        tags: TagLists | None = None,
    ) -> Source:
        """Return a source that yields the corpus as chunks of ids in every epoch.

        Parameters
        ----------
        model : TFWord2Vec
            Its vocabulary has the ids, and its arguments say how corpora are read.
        block_words : int
            Raw words of a chunk.
        total_words : int
            Raw words of the corpus, 0 if not known.
        held_out : HoldOut, optional
            Which sentences of a text or an iterable are left out.
        first_pass : int, optional
            Number of the pass that the first epoch reads, of sentences whose passes differ.
        tags : TagLists, optional
            Numbers the tags of a corpus of documents.
        """
        known = model.wv.key_to_index
        if corpus.file is not None and is_encoded(corpus.file):
            return EncodedSource(EncodedCorpus(corpus.file), known, block_words)
        budget = _budget(model)
        bytes_needed = total_words * _BYTES_PER_ENCODED_WORD
        # A corpus that is read once, or that is known not to fit, is not kept.
        if not is_read_again or bytes_needed > budget.memory_bytes + budget.disk_bytes:
            budget = _NOTHING_KEPT
        if self.keeps_deleted(corpus.file):
            logger.warning("%s has been deleted; its words are read from the data kept of them", corpus.file)
        reading = Reading(known, block_words, budget, len(model.wv), held_out, corpus.weights)
        if tags is not None:
            documents = TaggedLineDocument(corpus.file) if corpus.sentences is None else corpus.sentences
            return DocumentSource(documents, tags, reading)
        if corpus.sentences is None:
            return FileSource(str(corpus.file), reading, _processes(model.workers), self._scan, column=model.column)
        parts, scan = in_parts(corpus.sentences, model.column), self._sentence_scan
        if parts is None:
            return IterableSource(corpus.sentences, reading, scan)
        if not parts.repeats:
            reading = replace(reading, budget=_NOTHING_KEPT)
        return PartsSource(corpus.sentences, parts, reading, scan, first_pass)


def _budget(model: Word2Vec) -> CacheBudget:
    sizes = plain_arguments({"cache_memory": model.cache_memory, "cache_disk": model.cache_disk})
    return CacheBudget(sizes["cache_memory"], sizes["cache_disk"], model.cache_dir)


def _processes(workers: int) -> int:
    return usable_cores() if workers == ALL_CORES else max(1, min(workers, usable_cores()))


def _scan_report(model: Word2Vec) -> ScanBar | ScanLog:
    return ScanBar() if wants_bar(model.progress) else ScanLog()


def in_parts(sentences: Any, column: str | None) -> SentenceParts | None:
    """Return sentences that come in parts, or that are a column, of this name in a table; None for another iterable."""
    if isinstance(sentences, SentenceParts):
        return sentences
    return column_of(sentences, column)


def check_column(column: str | None, sentences: Any, corpus_file: Any) -> None:
    """Raise an error if it is not clear which column of a table is meant, or if one is named and there is no table."""
    is_file = isinstance(corpus_file, str | os.PathLike)
    if is_file and is_table(corpus_file):
        if os.path.isfile(corpus_file):
            check_table(corpus_file, column)
    elif column is not None and (is_file or not (sentences is None or is_column(sentences))):
        what = f"corpus_file {os.fspath(corpus_file)!r}" if is_file else f"a {type(sentences).__name__} of sentences"
        raise ValueError(f"column={column!r} names a column of a table, and {what} is none; leave it out")


def _collected(scan: FileScan | SentenceScan) -> RawVocabulary:
    """Return the vocabulary that a scan has found, and log its size as gensim does."""
    logger.info(
        "collected %i word types from a corpus of %i raw words and %i sentences",
        len(scan.words),
        scan.total_words,
        scan.sentence_count,
    )
    counts = defaultdict(int, zip(scan.words, scan.counts.tolist(), strict=True))
    return RawVocabulary(counts, scan.total_words, scan.sentence_count)


def sentences_for_gensim(model: Word2Vec, sentences: Any, path: str | None) -> Iterable[Any] | None:
    """Return the sentences of a corpus for gensim to count; None if there is no corpus."""
    if path is not None:
        return sentences_in(path, model.column)
    if sentences is None:
        return None
    parts = in_parts(sentences, model.column)
    shown: Iterable[Any] = sentences if parts is None else parts
    return checked_sentences(counted_sentences(shown) if wants_bar(model.progress) else shown)


def _shown_and_warned(sentences: Iterable[Any], draws_bar: bool) -> Iterator[Any]:
    """Return sentences with a progress bar if wanted; warn, as gensim does, if the first is text and not a list."""
    remaining = iter(counted_sentences(sentences) if draws_bar else sentences)
    first = list(islice(remaining, 1))
    if first and isinstance(first[0], str):
        logger.warning(
            "Each 'sentences' item should be a list of words (usually unicode strings). "
            "First item here is instead plain %s.",
            type(first[0]),
        )
    return chain(first, remaining)


class MarklessLines(LineSentence):
    """gensim's `LineSentence` of a file, plain or compressed, without a byte order mark before the first word."""

    def __iter__(self) -> Iterator[list[str]]:
        with smart_open(self.source, "rb") as file:
            has_mark = file.read(len(BOM_UTF8)) == BOM_UTF8
        for number, sentence in enumerate(super().__iter__()):
            words = sentence
            if has_mark and number == 0:
                words = [word for word in (sentence[0].removeprefix("\ufeff"), *sentence[1:]) if word]
            if words:
                yield words


def sentences_in(path: str, column: str | None) -> Iterable[list[Any]]:
    """Return the sentences of a file of text or of a table, one by one."""
    return TableSentences(path, column) if is_table(path) else MarklessLines(path)


def check_holds_words(path: str, column: str | None = None) -> None:
    """Raise RuntimeError if a file has no words, which leaves the vocabulary empty."""
    if (found := _found_without_words(path, column)) is not None:
        raise RuntimeError(
            f"corpus_file {path!r} {found}; name a file with words, because you must first build vocabulary before "
            "training the model"
        )


def _found_without_words(path: str, column: str | None) -> str | None:
    """Return what an error says about a file that has no words; None if it has some."""
    if is_table(path):
        return None if any(TableSentences(path, column)) else "holds no words"
    with open(path, "rb") as file:
        if any(block.decode("utf-8-sig", "ignore").split() for block in iter(partial(file.read, _BLOCK_BYTES), b"")):
            return None
        return "holds only white space" if file.tell() else "is empty"


def iterable_that_gensim_takes(sentences: Any) -> Any:
    """Return what gensim's check of corpora is to see: no sentences for a column, which need not be an iterable."""
    return () if is_column(sentences) else sentences


def path_that_gensim_takes(corpus_file: str | None) -> str | None:
    """Return a path that gensim's check of corpora accepts if the corpus can be read, and refuses otherwise."""
    if corpus_file is not None and is_encoded(corpus_file):
        return header_of(corpus_file)  # gensim wants a file
    if corpus_file is not None and is_compressed(corpus_file) and os.path.isfile(corpus_file):
        return __file__  # gensim wants a file whose name is not that of a compressed one
    return corpus_file

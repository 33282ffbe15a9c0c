"""A corpus file → sentences of word numbers, and the counts that one pass over it finds."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.corpus.cache import CacheBudget, EncodedStore
from gensim_tfw2v.corpus.file_parts import NumberedParts, file_parts
from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary, renumbered
from gensim_tfw2v.corpus.sentences import LineLengths, Sentences
from gensim_tfw2v.corpus.tokenizer import Part

ScanProgress = Callable[[int, int, int], None]
FileState = tuple[int, int, int, int]
_Lines = Generator[tuple[Int32Array, Int32Array], None, None]  # words of each part, and its line lengths


@dataclass
class Scan:
    """The result of one pass over a corpus."""

    words: list[Any]
    """Distinct words in the order of their first appearance."""
    counts: Int64Array
    """How often each of `words` appears."""
    total_words: int
    sentence_count: int
    encoded: EncodedStore
    """The sentences as places in `words`, if they fit the budget and none was cut (`encoded.complete`)."""

    def close(self) -> None:
        """Free the encoded corpus; the counts stay."""
        self.encoded.close()


@dataclass
class FileScan(Scan):
    """The result of one pass over a corpus file, counted as gensim's `LineSentence` counts after a byte order mark."""

    path: str
    state: FileState
    column: str | None
    """The column of a table that was named."""

    def matches(self, path: str | os.PathLike[str]) -> bool:
        """Return whether ``path`` is the file that was read and has not changed since."""
        try:
            return os.path.abspath(path) == self.path and _file_state(self.path) == self.state
        except OSError:
            return False

    def stands_for(self, path: str | os.PathLike[str], column: str | None = None) -> bool:
        """Return whether the encoded sentences are those of ``path``, which is unchanged or has been deleted since."""
        is_same = self.column == column and (self.matches(path) or self.is_of_deleted(path))
        return self.encoded.complete and is_same

    def is_of_deleted(self, path: str | os.PathLike[str]) -> bool:
        """Return whether ``path`` is the file that was read, and no longer exists."""
        return os.path.abspath(path) == self.path and not os.path.exists(self.path)


def scan_file(
    path: str | os.PathLike[str],
    workers: int,
    budget: CacheBudget,
    progress: ScanProgress | None = None,
    *,
    part_bytes: int = tuning.FILE_PART_BYTES,
    column: str | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> FileScan:
    """Return the words of a file and their counts, and keep its sentences as numbers within a budget.

    Parameters
    ----------
    path : str or path-like
        A file in gensim's `LineSentence` format: UTF-8, one sentence a line, words between white space. Or a table of
        Parquet or Arrow.
    workers : int
        Reading processes. A small file is read in this process.
    budget : CacheBudget
        Memory and disk for the numbered sentences. If they do not fit, they are dropped.
    progress : callable, optional
        Called after each part of the file with the words, distinct words and sentences so far.
    part_bytes : int, optional
        Size of the parts that the processes read by turns.
    column : str, optional
        The column of a table that has the sentences, if more than one could.
    meanwhile : callable, optional
        Called once reading processes have begun, if there are any.

    Raises
    ------
    ValueError
        If the file is not UTF-8 text.
    RuntimeError
        If a reading process died.
    """
    path = os.path.abspath(path)
    state = _file_state(path)
    parts = file_parts(path, workers, part_bytes, column, meanwhile)
    return FileScan(**vars(scan_of_parts(parts, budget, progress)), path=path, state=state, column=column)


def scan_of_parts(parts: NumberedParts, budget: CacheBudget, progress: ScanProgress | None) -> Scan:
    """Return the words of parts and their counts, and keep their sentences as numbers within a budget."""
    vocabulary, store = RawVocabulary(), EncodedStore(budget)
    try:
        count_parts(parts, vocabulary, store.append, progress)
    except BaseException:
        store.close()
        raise
    return Scan(*vocabulary.words_and_counts(), vocabulary.total_words, vocabulary.sentence_count, store)


def count_parts(
    parts: NumberedParts,
    vocabulary: RawVocabulary,
    keep: Callable[[Sentences], None],
    progress: ScanProgress | None,
) -> None:
    """Add the words and sentences of parts to a vocabulary, and give the sentences to `keep` as its word numbers."""
    with closing(_sentences_of(counted_parts(parts, vocabulary))) as found:
        for sentences in found:
            keep(sentences)
            vocabulary.total_words += sentences.ids.size
            vocabulary.sentence_count += sentences.lengths.size
            if progress is not None:
                progress(vocabulary.total_words, len(vocabulary), vocabulary.sentence_count)


def counted_parts(parts: NumberedParts, vocabulary: RawVocabulary) -> _Lines:
    """Yield each part's words as word numbers of a vocabulary, and its line lengths; add and count the words there."""
    with closing(_renumbered_parts(parts, vocabulary.numbers_of_part)) as found:
        for ids, line_lengths in found:
            vocabulary.count(ids)
            yield ids, line_lengths


def sentences_of_parts(parts: NumberedParts, number: Callable[[Any], int]) -> Generator[Sentences, None, None]:
    """Yield the sentences of parts, some at a time, with the number that ``number`` returns for each word."""

    def of_new_words(part: Part) -> Int32Array:
        return np.fromiter(map(number, part.new_words), dtype=np.int32, count=len(part.new_words))

    return _sentences_of(_renumbered_parts(parts, of_new_words))


def _renumbered_parts(parts: NumberedParts, numbers: Callable[[Part], Int32Array]) -> _Lines:
    """Yield each part's words, and its line lengths; `numbers` returns our numbers of a part's new words."""
    tables: dict[int, Int32Array] = {}  # from each reader's word numbers to ours
    with closing(parts):
        for reader, part in parts:
            new = numbers(part)
            tables[reader] = new if part.new_numbering else np.concatenate([tables[reader], new])
            yield renumbered(part.ids, tables[reader]), part.line_lengths


def _sentences_of(lines: _Lines) -> Generator[Sentences, None, None]:
    """Yield sentences: lines that the end of a part cuts are joined, and overlong lines are cut as gensim does."""
    lengths, rest = LineLengths(), np.empty(0, dtype=np.int32)  # words of the line that may continue in the next part
    with closing(lines):
        for ids, line_lengths in lines:
            complete_lengths = lengths.join(line_lengths)
            ids = np.concatenate([rest, ids])
            complete = ids.size - lengths.open_words
            rest = ids[complete:].copy()
            yield Sentences(ids[:complete], complete_lengths)
    if rest.size:
        yield Sentences(rest, lengths.rest())


def _file_state(path: str) -> FileState:
    """Return what changes when a file is written to or replaced: its size, time, device and inode."""
    state = os.stat(path)
    return state.st_size, state.st_mtime_ns, state.st_dev, state.st_ino

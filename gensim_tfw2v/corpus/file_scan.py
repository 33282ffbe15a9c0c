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
from gensim_tfw2v.corpus.file_parts import file_parts
from gensim_tfw2v.corpus.raw_vocabulary import NumbersOfParts, RawVocabulary, Tally, renumbered
from gensim_tfw2v.corpus.sentences import LineLengths, Sentences
from gensim_tfw2v.corpus.tokenizer import Part

ScanProgress = Callable[[int, int, int], None]
FileState = tuple[int, int, int, int]
NumberedParts = Generator[tuple[int, Part], None, None]  # parts of a corpus in order, each with its reader


@dataclass
class FileScan:
    """The result of one pass over a corpus file, counted as gensim's `LineSentence` counts after a byte order mark."""

    path: str
    state: FileState
    words: list[Any]
    """Distinct words in the order of their first appearance."""
    counts: Int64Array
    """How often each of `words` appears."""
    total_words: int
    sentence_count: int
    encoded: EncodedStore
    """The sentences as places in `words`, if they fit the budget (`encoded.complete`)."""
    column: str | None = None
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

    def close(self) -> None:
        """Free the encoded corpus; the counts stay."""
        self.encoded.close()


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
    vocabulary, store = counted_and_kept(parts, budget, progress)
    words, counts = vocabulary.words_and_counts()
    return FileScan(path, state, words, counts, vocabulary.total_words, vocabulary.sentence_count, store, column)


def counted_and_kept(
    parts: NumberedParts, budget: CacheBudget, progress: ScanProgress | None
) -> tuple[RawVocabulary, EncodedStore]:
    """Return the vocabulary of parts, and their sentences as its word numbers, within a budget."""
    vocabulary, store = RawVocabulary(), EncodedStore(budget)
    try:
        count_parts(parts, vocabulary, store.append, progress)
    except BaseException:
        store.close()
        raise
    return vocabulary, store


def count_parts(
    parts: NumberedParts,
    vocabulary: RawVocabulary,
    keep: Callable[[Sentences], None],
    progress: ScanProgress | None,
) -> None:
    """Add the words and sentences of parts to a vocabulary, and give the sentences to `keep` as its word numbers."""
    with closing(_counted_sentences(parts, vocabulary)) as found:
        for sentences in found:
            keep(sentences)
            vocabulary.total_words += sentences.ids.size
            vocabulary.sentence_count += sentences.lengths.size
            if progress is not None:
                progress(vocabulary.total_words, len(vocabulary), vocabulary.sentence_count)


def _counted_sentences(parts: NumberedParts, vocabulary: RawVocabulary) -> Generator[Sentences, None, None]:
    """Yield sentences, some at a time, as word numbers of a vocabulary; add and count their words there."""
    lines = _LineJoiner()
    with closing(counted_parts(parts, vocabulary)) as found:
        for ids, line_lengths in found:
            yield lines.join(ids, line_lengths)
    rest = lines.rest()
    if rest.ids.size:
        yield rest


def counted_parts(
    parts: NumberedParts, vocabulary: RawVocabulary
) -> Generator[tuple[Int32Array, Int32Array], None, None]:
    """Yield each part's words as word numbers of a vocabulary, and its line lengths; add and count the words there."""
    tallies: dict[int, Tally] = {}
    with closing(_with_tables(parts, NumbersOfParts(vocabulary))) as found:
        for reader, numbers, part in found:
            if part.new_numbering and reader in tallies:
                tallies.pop(reader).add_to(vocabulary)
            tallies.setdefault(reader, Tally()).add(numbers, part.ids)
            yield renumbered(part.ids, numbers), part.line_lengths
    for tally in tallies.values():
        tally.add_to(vocabulary)


def file_sentences(
    path: str | os.PathLike[str],
    number: Callable[[Any], int],
    workers: int,
    *,
    part_bytes: int = tuning.FILE_PART_BYTES,
    column: str | None = None,
) -> Generator[Sentences, None, None]:
    """Yield a file's sentences, some at a time, with the number that ``number`` returns for each word."""
    return sentences_of_parts(file_parts(os.path.abspath(path), workers, part_bytes, column), number)


def sentences_of_parts(parts: NumberedParts, number: Callable[[Any], int]) -> Generator[Sentences, None, None]:
    """Yield the sentences of parts, some at a time, with the number that ``number`` returns for each word."""
    lines = _LineJoiner()

    def of_new_words(part: Part) -> Int32Array:
        return np.fromiter(map(number, part.new_words), dtype=np.int32, count=len(part.new_words))

    with closing(_with_tables(parts, of_new_words)) as found:
        for _, numbers, part in found:
            yield lines.join(renumbered(part.ids, numbers), part.line_lengths)
    yield lines.rest()


def _with_tables(
    parts: NumberedParts, numbers: Callable[[Part], Int32Array]
) -> Generator[tuple[int, Int32Array, Part], None, None]:
    """Yield parts in order, each with its reader and the table from the reader's word numbers to ours.

    `numbers` returns ours of a part's new words.
    """
    tables: dict[int, Int32Array] = {}
    with closing(parts):
        for reader, part in parts:
            new = numbers(part)
            tables[reader] = new if part.new_numbering else np.concatenate([tables[reader], new])
            yield reader, tables[reader], part


class _LineJoiner:
    """Joins lines that were cut at the end of a part, and cuts overlong lines as gensim does."""

    def __init__(self) -> None:
        self._lengths = LineLengths()
        self._open = np.empty(0, dtype=np.int32)

    def join(self, ids: Int32Array, line_lengths: Int32Array) -> Sentences:
        """Return the sentences that are complete, and keep the line that may continue in the next part."""
        lengths = self._lengths.join(line_lengths)
        ids = np.concatenate([self._open, ids])
        complete = ids.size - self._lengths.open_words
        self._open = ids[complete:].copy()
        return Sentences(ids[:complete], lengths)

    def rest(self) -> Sentences:
        """Return the last line if no line end follows it."""
        return Sentences(self._open, self._lengths.rest())


def _file_state(path: str) -> FileState:
    """Return what changes when a file is written to or replaced: its size, time, device and inode."""
    state = os.stat(path)
    return state.st_size, state.st_mtime_ns, state.st_dev, state.st_ino

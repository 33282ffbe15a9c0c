"""A text file as runs of sentences of numbers, and what one pass over it finds."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.corpus.cache import CacheBudget, EncodedStore
from gensim_tfw2v.corpus.file_parts import PART_BYTES, file_parts
from gensim_tfw2v.corpus.sentences import MAX_SENTENCE_WORDS, Sentences, piece_lengths
from gensim_tfw2v.corpus.tokenizer import Part

ScanProgress = Callable[[int, int, int], None]
FileState = tuple[int, int, int, int]


@dataclass
class FileScan:
    """What one pass over a corpus file found, as gensim's `LineSentence` would count it."""

    path: str
    state: FileState
    words: list[str]
    """Distinct words in the order of their first appearance."""
    counts: Int64Array
    """How often each of `words` appears."""
    total_words: int
    sentence_count: int
    encoded: EncodedStore
    """The sentences as positions in `words`, if they fit the budget (`encoded.complete`)."""

    def matches(self, path: str | os.PathLike[str]) -> bool:
        """Return whether ``path`` is the file that was read, unchanged since."""
        try:
            return os.path.abspath(path) == self.path and _file_state(self.path) == self.state
        except OSError:
            return False

    def close(self) -> None:
        """Free the encoded corpus; the counts stay."""
        self.encoded.close()


def scan_file(
    path: str | os.PathLike[str],
    workers: int,
    budget: CacheBudget,
    progress: ScanProgress | None = None,
    *,
    part_bytes: int = PART_BYTES,
) -> FileScan:
    """Return the words of a file and their counts, and keep its sentences as numbers within a budget.

    Parameters
    ----------
    path : str or path-like
        A file in gensim's `LineSentence` format: UTF-8, a sentence a line, words between white space.
    workers : int
        Reading processes. A small or compressed file is read in this process.
    budget : CacheBudget
        What the numbered sentences may take; beyond it they are dropped.
    progress : callable, optional
        Called after each part of the file with the words, distinct words and sentences so far.
    part_bytes : int, optional
        Size of the parts that the processes read by turns.

    Raises
    ------
    ValueError
        If the file is not UTF-8 text.
    RuntimeError
        If a reading process died.
    """
    path = os.path.abspath(path)
    state = _file_state(path)
    vocabulary, store = RawVocabulary(), EncodedStore(budget)
    total_words = sentence_count = 0
    try:
        with closing(counted_sentences(path, workers, vocabulary, part_bytes=part_bytes)) as runs:
            for sentences in runs:
                store.append(sentences)
                total_words += sentences.ids.size
                sentence_count += sentences.lengths.size
                if progress is not None:
                    progress(total_words, len(vocabulary), sentence_count)
    except BaseException:
        store.close()
        raise
    words, counts = vocabulary.words_and_counts()
    return FileScan(path, state, words, counts, total_words, sentence_count, store)


def counted_sentences(
    path: str | os.PathLike[str], workers: int, vocabulary: RawVocabulary, *, part_bytes: int = PART_BYTES
) -> Generator[Sentences, None, None]:
    """Yield runs of a file's sentences as numbers of a vocabulary, which takes up and counts their words."""
    lines = _LineJoiner()
    tallies: dict[int, _Tally] = {}
    with closing(_numbered_parts(os.path.abspath(path), workers, part_bytes, vocabulary.number)) as parts:
        for reader, numbers, part in parts:
            if part.new_numbering and reader in tallies:
                tallies.pop(reader).hand_to(vocabulary)
            tallies.setdefault(reader, _Tally()).add(numbers, part.ids)
            yield lines.join(_renumbered(part.ids, numbers), part.line_lengths)
    for tally in tallies.values():
        tally.hand_to(vocabulary)
    rest = lines.rest()
    if rest.ids.size:
        yield rest


def file_sentences(
    path: str | os.PathLike[str],
    number: Callable[[str], int],
    workers: int,
    *,
    part_bytes: int = PART_BYTES,
) -> Generator[Sentences, None, None]:
    """Yield runs of a file's sentences, each word as the number that ``number`` gives for it."""
    lines = _LineJoiner()
    with closing(_numbered_parts(os.path.abspath(path), workers, part_bytes, number)) as parts:
        for _, numbers, part in parts:
            yield lines.join(_renumbered(part.ids, numbers), part.line_lengths)
    yield lines.rest()


def _numbered_parts(
    path: str, workers: int, part_bytes: int, number: Callable[[str], int]
) -> Generator[tuple[int, Int32Array, Part], None, None]:
    """Yield the file's parts in order, each with its reader and the table that turns that one's numbers into ours."""
    tables: dict[int, Int32Array] = {}
    with closing(file_parts(path, workers, part_bytes)) as parts:
        for reader, part in parts:
            new = np.fromiter(map(number, part.new_words), dtype=np.int32, count=len(part.new_words))
            tables[reader] = new if part.new_numbering else np.concatenate([tables[reader], new])
            yield reader, tables[reader], part


def _renumbered(ids: Int32Array, numbers: Int32Array) -> Int32Array:
    """Return what a table has for each of these places of it."""
    # "clip" takes less time than looking for places that there are not.
    renumbered: Int32Array = numbers.take(ids, mode="clip")
    return renumbered


class RawVocabulary:
    """Distinct words in the order of their first appearance, and their counts."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self.number = self._numbers.__getitem__
        self._counts: Int64Array = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, numbers: Int32Array, counts: Int64Array) -> None:
        """Count words, each of which has one place in `numbers`."""
        self._counts = _lengthened(self._counts, len(self))
        self._counts[numbers] += counts

    def words_and_counts(self) -> tuple[list[str], Int64Array]:
        """Return the words and how often each appeared."""
        return list(self._numbers), _lengthened(self._counts, len(self))[: len(self)].copy()


class _Tally:
    """How often each word came in one reader's numbering: counted there, a word's place need not be looked up."""

    def __init__(self) -> None:
        self._numbers: Int32Array = np.empty(0, dtype=np.int32)
        self._counts: Int64Array = np.empty(0, dtype=np.int64)

    def add(self, numbers: Int32Array, ids: Int32Array) -> None:
        """Add the words of one part; `numbers` goes on where that of the part before it ended."""
        self._numbers = numbers
        self._counts = _lengthened(self._counts, numbers.size)
        counts = np.bincount(ids)
        self._counts[: counts.size] += counts

    def hand_to(self, vocabulary: RawVocabulary) -> None:
        """Add everything to a vocabulary."""
        vocabulary.add(self._numbers, self._counts[: self._numbers.size])


def _lengthened(counts: Int64Array, size: int) -> Int64Array:
    """Return `counts` with zeros after them, so that there are at least `size` places."""
    if size <= counts.size:
        return counts
    grown = np.zeros(max(size, 2 * counts.size), dtype=np.int64)
    grown[: counts.size] = counts
    return grown


class _LineJoiner:
    """Joins the lines that were cut where a part of the file ends, and splits overlong ones like gensim."""

    def __init__(self) -> None:
        self._open = np.empty(0, dtype=np.int32)

    def join(self, ids: Int32Array, line_lengths: Int32Array) -> Sentences:
        """Return the sentences that are complete with this part; what may go on in the next is kept back."""
        line_lengths = line_lengths.copy()
        line_lengths[0] += self._open.size
        ids = np.concatenate([self._open, ids])
        # Whole pieces of the line that may go on are complete: even a line of gigabytes is kept in pieces.
        left_open = int(line_lengths[-1]) % MAX_SENTENCE_WORDS
        line_lengths[-1] -= left_open
        self._open = ids[ids.size - left_open :].copy()
        return Sentences(ids[: ids.size - left_open], piece_lengths(line_lengths))

    def rest(self) -> Sentences:
        """Return the last line, if no line end follows it."""
        return Sentences(self._open, piece_lengths(np.array([self._open.size])))


def _file_state(path: str) -> FileState:
    """Return what changes when a file is written to or replaced: size, time, and which file it is."""
    state = os.stat(path)
    return state.st_size, state.st_mtime_ns, state.st_dev, state.st_ino

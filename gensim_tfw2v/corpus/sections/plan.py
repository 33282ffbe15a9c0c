"""Files → sections, and the sizes of their parts → where each section's sentences are in the shards.

Shards end where those of one process do: with the part of the text in which they get `shard_words` words.
"""

from __future__ import annotations

import bisect
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from gensim_tfw2v.corpus.sections.requests import NO_LINE_END, PartSize, Run, Section
from gensim_tfw2v.corpus.sentences import LineLengths
from gensim_tfw2v.corpus.shard_file import NUMBERS_PER_PAGE, ShardSize
from gensim_tfw2v.corpus.table_file import is_table
from gensim_tfw2v.corpus.text_file import is_compressed


def sections_of(
    files: Sequence[Path], processes: int, column: str | None, part_bytes: int, section_bytes: int
) -> list[Section]:
    """Return the sections of a corpus in order.

    Parameters
    ----------
    processes : int
        How many sections are encoded at a time.
    part_bytes : int
        Size of the parts of a file.
    section_bytes : int
        Largest size of a section. A compressed file or a table is one section of any size.
    """
    sizes = {path: path.stat().st_size for path in files}
    # All processes have as many sections, of one size, so that they end together.
    sections = processes * -(-sum(sizes.values()) // (processes * section_bytes))
    parts = -(-sum(sizes.values()) // (max(sections, 1) * part_bytes))
    found = []
    for path, size in sizes.items():
        end = -(-size // part_bytes)
        step = end if is_compressed(path) or is_table(path) else parts
        for first in range(0, end, max(step, 1)):
            last = min(first + step, end)
            found.append(Section(os.path.abspath(path), size, part_bytes, first, last, last == end, column))
    return found


class Layout:
    """The sizes of the shards, and the places of all sections in them.

    Parameters
    ----------
    sections : sequence of Section
        All sections in order.
    parts : sequence of list of PartSize
        The parts of each section.
    shard_words : int
        A shard ends once it has this many words.

    Attributes
    ----------
    shards : list of ShardSize
        The shards.
    open_words : list of int
        For each section, the words of the line that the sections before it leave open.
    """

    def __init__(self, sections: Sequence[Section], parts: Sequence[list[PartSize]], shard_words: int) -> None:
        self.shards: list[ShardSize] = []
        self.open_words: list[int] = []
        self._shard_words = shard_words
        self._words = self._sentences = 0  # of the shard that is not full yet
        self._ends = [(0, 0)]  # words, and sentences that have ended, before each section and after the last one
        lengths, words, sentences = LineLengths(), 0, 0
        for section, sizes in zip(sections, parts, strict=True):
            self.open_words.append(lengths.open_words)
            for size in sizes:
                words += size.words
                sentences += self._add_part(size, lengths)
            if section.ends_file:
                left_open = lengths.open_words
                sentences += self._add(left_open, lengths.rest().size)
            self._ends.append((words, sentences))
        self._end_shard()
        self._first_words = list(accumulate((shard.words for shard in self.shards), initial=0))
        self._first_sentences = list(accumulate((shard.sentences for shard in self.shards), initial=0))

    def runs_of_words(self, section: int) -> list[Run]:
        """Return where the shards have the ids of a section."""
        first, end = self._ends[section][0], self._ends[section + 1][0]
        return [Run(shard, self.shards[shard].data_bytes, *run) for shard, *run in _cut(first, end, self._first_words)]

    def runs_of_lengths(self, section: int) -> list[Run]:
        """Return where the shards have the lengths of the sentences that end in a section."""
        first, end = self._ends[section][1], self._ends[section + 1][1]
        return [
            Run(shard, self.shards[shard].data_bytes, self.shards[shard].words + begin, count)
            for shard, begin, count in _cut(first, end, self._first_sentences)
        ]

    def _add_part(self, size: PartSize, lengths: LineLengths) -> int:
        """Add the sentences that end in a part; return how many they are."""
        open_words = lengths.open_words
        lines = [size.first] if size.last == NO_LINE_END else [size.first, size.last]
        sentences = lengths.join(np.array(lines)).size + size.sentences
        return self._add(open_words + size.words - lengths.open_words, sentences)

    def _add(self, words: int, sentences: int) -> int:
        self._words += words
        self._sentences += sentences
        if self._words >= self._shard_words:
            self._end_shard()
        return sentences

    def _end_shard(self) -> None:
        if self._words:
            self.shards.append(ShardSize(self._words, self._sentences))
            self._words = self._sentences = 0


def shared_pages(runs: Iterable[Run]) -> set[tuple[int, int]]:
    """Return the pages, by shard and number, of which a run has only some numbers, or which are short."""
    return {
        (run.shard, number // NUMBERS_PER_PAGE)
        for run in runs
        for number in (run.first, run.first + run.size)
        if number % NUMBERS_PER_PAGE
    }


def _cut(first: int, end: int, starts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield numbers `first` to `end` by shard: the shard, the first number in it, and how many.

    `starts` has the first number of each shard, and the number of all.
    """
    shard = bisect.bisect_right(starts, first) - 1
    while first < end:
        stop = min(end, starts[shard + 1])
        yield shard, first - starts[shard], stop - first
        shard, first = shard + 1, stop

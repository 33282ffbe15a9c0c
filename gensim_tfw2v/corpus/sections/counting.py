"""A section of text → its words as numbers of its own vocabulary, and what the plan needs to know of its lines."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.encoded_words import as_lines
from gensim_tfw2v.corpus.file_scan import counted_parts
from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary
from gensim_tfw2v.corpus.reading_process import read_section
from gensim_tfw2v.corpus.sections.requests import NO_LINE_END, Counted, CountRequest, PartSize, Section
from gensim_tfw2v.corpus.sections.section_files import IDS, INDEX, LINES, TEXTS, of_section, written_apart
from gensim_tfw2v.corpus.sections.section_words import write_words
from gensim_tfw2v.corpus.sentences import piece_lengths
from gensim_tfw2v.corpus.table_file import is_table
from gensim_tfw2v.corpus.tokenizer import Part


def count_section(request: CountRequest) -> Counted:
    """Write the words and lines of a section, and its vocabulary."""
    vocabulary = RawVocabulary()
    files = [of_section(request.folder, request.number, kind) for kind in (IDS, LINES, INDEX, TEXTS)]
    with written_apart(*files) as (ids, lines, index, texts):
        sizes = _write_sentences(request.section, vocabulary, ids, lines)
        words, counts = vocabulary.words_and_counts()
        has_numbers = bool(words) and isinstance(words[0], int)  # all words of a table are of one type
        if is_table(request.section.path):  # words of text are never divided
            words = as_lines(words)
        write_words(index, texts, words, counts)
    return Counted(sizes, len(words), has_numbers)


def _write_sentences(section: Section, vocabulary: RawVocabulary, ids_path: Path, lines_path: Path) -> list[PartSize]:
    """Write the words and lines of a section; return the size of each part."""
    sizes = []
    open_words = 0  # of the line that continues in the next part
    with (
        ids_path.open("wb") as ids_file,
        lines_path.open("wb") as lines_file,
        closing(counted_parts(_one_reader(section), vocabulary)) as parts,
    ):
        for ids, line_lengths in parts:
            sizes.append(_size_of(line_lengths))
            ids.tofile(ids_file)
            lengths = line_lengths.astype(np.int64)
            lengths[0] += open_words
            open_words = int(lengths[-1])
            lengths[:-1].tofile(lines_file)
        np.array([open_words], np.int64).tofile(lines_file)
    return sizes


def _one_reader(section: Section) -> Generator[tuple[int, Part], None, None]:
    for part in read_section(
        section.path, section.size, section.part_bytes, section.first, section.end, section.column
    ):
        yield 0, part


def _size_of(line_lengths: Int32Array) -> PartSize:
    words, first = int(line_lengths.sum(dtype=np.int64)), int(line_lengths[0])
    if line_lengths.size == 1:
        return PartSize(words, first, NO_LINE_END, 0)
    return PartSize(words, first, int(line_lengths[-1]), piece_lengths(line_lengths[1:-1]).size)

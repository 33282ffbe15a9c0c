"""The program of an encoding process: it counts, merges and writes sections, until its input or its work ends.

A request comes as a line, and its answer goes as one. The program imports neither gensim nor TensorFlow.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.child_program import output_to_parent
from gensim_tfw2v.corpus.file_parts import of_one_reader, read_parts
from gensim_tfw2v.corpus.file_scan import counted_parts
from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary, lengthened, renumbered
from gensim_tfw2v.corpus.sections.requests import (
    NO_LINE_END,
    Answer,
    Counted,
    CountRequest,
    DamagedMessageError,
    Merged,
    MergeRequest,
    PartSize,
    Request,
    Run,
    Section,
    WriteRequest,
    answer_line,
    error_line,
    request_of,
)
from gensim_tfw2v.corpus.sections.section_files import (
    COUNTS,
    IDS,
    INDEX,
    LINES,
    OWNED,
    PLACES,
    TEXTS,
    numbers_in,
    of_bucket,
    of_section,
    words_in_bucket,
    write_words,
    written_apart,
)
from gensim_tfw2v.corpus.sentences import LineLengths, piece_lengths
from gensim_tfw2v.corpus.shard_writer import NUMBERS_AND_TEXTS, as_lines, vocabulary_lines, write_run
from gensim_tfw2v.corpus.table_file import is_table
from gensim_tfw2v.corpus.tokenizer import ids_and_line_lengths
from gensim_tfw2v.native.word_table import WordTable

_IDLE_SECONDS = 300.0  # a worker of a cluster keeps its processes when the coordinator has died
_NUMBERS_AT_ONCE = 2**20


def main(arguments: Sequence[str]) -> None:
    """Answer the lines of standard input."""
    del arguments  # there are none
    # A request is sent when the one before is answered, so nothing of it is buffered while this process waits.
    while select.select([sys.stdin], [], [], _IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        found = answer_to_line(line)
        with output_to_parent() as output:
            output.write(found)
            output.flush()


def answer_to_line(line: bytes) -> bytes:
    """Return the line that answers a line; it stands for an error if the files or the request are wrong."""
    try:
        return answer_line(_answer(request_of(line)))
    except (OSError, ValueError, ImportError) as error:
        return error_line(error)
    except (TypeError, LookupError, AttributeError, ArithmeticError) as error:  # the request has wrong fields
        return error_line(DamagedMessageError(f"no request that can be answered: {type(error).__name__}: {error}"))


def _answer(request: Request) -> Answer:
    if isinstance(request, CountRequest):
        return _count_section(request)
    if isinstance(request, MergeRequest):
        return _merge_bucket(request)
    _write_section(request)
    return None


# -- counting: a section of text → its words as numbers of its own vocabulary, and the sizes of its parts --------------


def _count_section(request: CountRequest) -> Counted:
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
    sizes = []
    open_words = 0  # of the line that continues in the next part
    place = section.path, section.size, section.part_bytes, section.first
    parts = of_one_reader(read_parts(*place, 1, section.column, section.end))
    with (
        ids_path.open("wb") as ids_file,
        lines_path.open("wb") as lines_file,
        closing(counted_parts(parts, vocabulary)) as counted,
    ):
        for ids, line_lengths in counted:
            sizes.append(_size_of(line_lengths))
            ids.tofile(ids_file)
            lengths = line_lengths.astype(np.int64)
            lengths[0] += open_words
            open_words = int(lengths[-1])
            lengths[:-1].tofile(lines_file)
        np.array([open_words], np.int64).tofile(lines_file)
    return sizes


def _size_of(line_lengths: Int32Array) -> PartSize:
    words, first = int(line_lengths.sum(dtype=np.int64)), int(line_lengths[0])
    if line_lengths.size == 1:
        return PartSize(words, first, NO_LINE_END, 0)
    return PartSize(words, first, int(line_lengths[-1]), piece_lengths(line_lengths[1:-1]).size)


# -- merging: the words of all sections in one range of hashes → one vocabulary of them, section after section ---------


def _merge_bucket(request: MergeRequest) -> Merged:
    """Number the words of a bucket, and add up their counts. One section's words are in memory beside the bucket's."""
    table, counts = WordTable(), np.empty(0, np.int64)
    starts, places = [0], [0]
    are_numbers: list[bool] = []  # of the sections that own the words from `starts` on
    files = [of_bucket(request.folder, request.bucket, kind) for kind in (PLACES, OWNED, COUNTS)]
    with (
        written_apart(*files) as (places_path, owned_path, counts_path),
        places_path.open("wb") as places_file,
        owned_path.open("wb") as owned_file,
    ):
        for section, has_numbers in enumerate(request.have_numbers):
            texts, entries = words_in_bucket(request.folder, section, request.bucket, request.buckets)
            numbers, _ = ids_and_line_lengths(texts, table)
            counts = lengthened(counts, len(table))
            counts[numbers] += entries["count"]  # a section has each word once
            is_new = numbers >= starts[-1]
            _check_types(numbers[~is_new], has_numbers, starts, are_numbers)
            entries["number"].tofile(places_file)
            numbers.tofile(places_file)
            entries["number"][is_new].tofile(owned_file)
            starts.append(len(table))
            places.append(places[-1] + numbers.size)
            are_numbers.append(has_numbers)
        counts_path.write_bytes(vocabulary_lines(table.words_from(0), counts[: len(table)]))
    return Merged(starts, places)


def _check_types(known: Int32Array, has_numbers: bool, starts: list[int], are_numbers: list[bool]) -> None:
    """Raise ValueError if words that appeared before are whole numbers there and texts here, or the reverse."""
    if known.size and not all(found == has_numbers for found in are_numbers):
        owners = np.searchsorted(starts, known, side="right") - 1
        if (np.array(are_numbers)[owners] != has_numbers).any():
            raise ValueError(NUMBERS_AND_TEXTS)


# -- writing: a section's words and lines → their places in the shards, as ids of the whole corpus ---------------------


def _write_section(request: WriteRequest) -> None:
    table = _ids_of_corpus(request)
    ids = (renumbered(block, table) for block in _blocks(of_section(request.folder, request.number, IDS), np.int32))
    _write(request.target, request.words, ids)
    _write(request.target, request.lengths, _sentence_lengths(request))


def _ids_of_corpus(request: WriteRequest) -> Int32Array:
    """Return the corpus's id of each word of the section's vocabulary."""
    table = np.empty(request.distinct, np.int32)
    for bucket, (first, count) in enumerate(request.places):
        places = of_bucket(request.folder, bucket, PLACES)
        # Both arrays of the sections before come first.
        own_numbers = numbers_in(places, np.int32, 2 * first, count)
        numbers = numbers_in(places, np.int32, 2 * first + count, count)
        if count:
            ids = np.memmap(of_bucket(request.folder, bucket, IDS), np.int32, "r")
            table[own_numbers] = ids[numbers]
    return table


def _sentence_lengths(request: WriteRequest) -> Iterator[Int32Array]:
    lengths = LineLengths(request.open_words)
    last = np.empty(0, np.int64)
    for block in _blocks(of_section(request.folder, request.number, LINES), np.int64):
        # The last line of a block may continue only where the section ends.
        yield lengths.join(np.concatenate([last, block[:-1], [0]]))
        last = block[-1:]
    yield lengths.join(last)
    if request.section.ends_file:
        yield lengths.rest()


def _blocks(path: Path, dtype: Any) -> Iterator[Any]:
    with path.open("rb") as file:
        while (block := np.fromfile(file, dtype, _NUMBERS_AT_ONCE)).size:
            yield block


def _write(folder: str, runs: Iterable[Run], blocks: Iterator[Int32Array]) -> None:
    """Write numbers to the places of the runs, one run after the other."""
    rest = np.empty(0, np.int32)

    def next_numbers(left: int) -> Iterator[Int32Array]:
        nonlocal rest
        while left:
            if not rest.size:
                rest = next(blocks)
            piece, rest = rest[:left], rest[left:]
            left -= piece.size
            yield piece

    for run in runs:
        write_run(Path(folder), run.shard, run.shard_bytes, run.first, next_numbers(run.size))

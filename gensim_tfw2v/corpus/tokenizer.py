"""Bytes of UTF-8 text → numbers of the words between white space, exactly as `str.split` finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.native.functions import call
from gensim_tfw2v.native.word_table import WordTable

# White space of one byte, at which text is cut. UTF-8 never uses these bytes inside a longer character.
WHITE_SPACE = re.compile(rb"[ \t\n\r\x0b\x0c]")


class Part(NamedTuple):
    """The words of one part of a text, as numbers that the tokenizer gave them."""

    new_numbering: bool
    """Whether the numbering starts again with this part."""
    new_words: list[Any]
    """The words that got a number in this part, in the order of their numbers."""
    ids: Int32Array
    line_lengths: Int32Array
    """Words before the first line end, between line ends, and after the last one. The first and the last line may
    continue in the neighbouring parts."""


class Tokenizer:
    """Numbers words in the order of their first appearance."""

    def __init__(self) -> None:
        self._table = WordTable()

    def part(self, data: bytes) -> Part:
        """Return the words of some text; raise `UnicodeDecodeError` where it is not UTF-8."""
        new_numbering = not len(self._table) or len(self._table) > tuning.TOKENIZER_WORDS
        if new_numbering:
            self._table = WordTable()
        known = len(self._table)
        try:
            ids, line_lengths = ids_and_line_lengths(data, self._table)
        except UnicodeError:
            str(data, "utf-8")  # raises the error that says where
            raise
        return Part(new_numbering, self._table.words_from(known), ids, line_lengths)


def ids_and_line_lengths(data: bytes, table: WordTable) -> tuple[Int32Array, Int32Array]:
    """Return the numbers of a text's words, and the words of each line; add new words to a table.

    Raise `UnicodeError` if the text is not UTF-8.
    """
    ids = np.empty(len(data) // 2 + 1, np.int32)
    line_ends = np.empty(len(data), np.int32)  # only "\n" ends a line, as in a file opened in binary mode
    found = np.zeros(2, np.int64)
    text = np.frombuffer(data, np.uint8)
    for start, stop in _pieces(data):
        table.make_room(stop - start)
        call("tokenize", text[start:stop], table, ids, line_ends, found)
    words, lines = found.tolist()
    return ids[:words].copy(), np.diff(line_ends[:lines], prepend=np.int32(0), append=np.int32(words))


def _pieces(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the bounds of pieces that end with white space."""
    start = 0
    while start < len(data):
        gap = WHITE_SPACE.search(data, start + tuning.TOKENIZER_PIECE_BYTES)
        stop = gap.end() if gap else len(data)
        yield start, stop
        start = stop

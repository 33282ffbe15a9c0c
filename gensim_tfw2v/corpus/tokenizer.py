"""Bytes of UTF-8 text → numbers of the words between white space, exactly as `str.split` finds them.

Python's own way, `split` and a dictionary, costs a string object and a look-up with cache misses for every
word. Here NumPy finds the ends of the words in the bytes, and knows a word of up to 15 bytes again by those
bytes themselves, in a table with one place for every hash value; only a word that is not in its place there
goes through the dictionary.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# Beyond this many words a tokenizer forgets its numbering and starts another, so that its memory is bounded.
DICTIONARY_WORDS = 500_000
# Small enough for the arrays made from a block to stay in the processor's cache.
BLOCK_BYTES = 1 << 16
TABLE_BITS = 18

# White space of one byte that text is cut at. UTF-8 never uses these bytes inside a longer character.
WHITE_SPACE = re.compile(rb"[ \t\n\r\x0b\x0c]")

_WIDE_SPACES = [
    chr(code).encode() for code in (0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
]
_SPACES_OF_2_BYTES = [int.from_bytes(space, "big") for space in _WIDE_SPACES if len(space) == 2]
_SPACES_OF_3_BYTES = [int.from_bytes(space, "big") for space in _WIDE_SPACES if len(space) == 3]

# A word's key is its bytes as two little-endian integers, with its length in the byte that is left.
_SHORT = 15
_LOW_MASK = np.array([(1 << 8 * min(size, 8)) - 1 for size in range(_SHORT + 2)], dtype=np.uint64)
_HIGH_MASK = np.array([(1 << 8 * max(size - 8, 0)) - 1 for size in range(_SHORT + 2)], dtype=np.uint64)
_LENGTH_TAG = np.array([size << 56 for size in range(_SHORT + 2)], dtype=np.uint64)
_LOW_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HIGH_FACTOR = np.uint64(0xC2B2AE3D27D4EB4F)

Bytes = npt.NDArray[np.uint8]
Keys = npt.NDArray[np.uint64]
Places = npt.NDArray[np.intp]


class Part(NamedTuple):
    """The words of one part of a text, as numbers of the tokenizer's own."""

    new_numbering: bool
    """Whether the numbering starts again with this part."""
    new_words: list[str]
    """The words that got a number in this part, in that order."""
    ids: npt.NDArray[np.int32]
    line_lengths: npt.NDArray[np.int32]
    """Words before the first line end, between each two, and after the last: the outer two are pieces of
    lines that may go on in the neighbouring parts."""


class Tokenizer:
    """Numbers words in the order it meets them."""

    def __init__(self) -> None:
        self._start_numbering()

    def part(self, data: bytes) -> Part:
        """Return the words of some text; a `UnicodeDecodeError` tells where it is not UTF-8."""
        new_numbering = not self._numbers or len(self._numbers) > DICTIONARY_WORDS
        if new_numbering:
            self._start_numbering()
        known = len(self._numbers)
        ids = [np.empty(0, dtype=np.int32)]
        line_ends: list[Places] = []
        words = 0
        for start, stop in _blocks(data):
            block_ids, block_line_ends = self._block(data, start, stop)
            ids.append(block_ids)
            line_ends.append(words + block_line_ends)
            words += block_ids.size
        line_lengths = np.diff(np.concatenate([[0], *line_ends, [words]])).astype(np.int32)
        new_words = list(islice(reversed(self._numbers), len(self._numbers) - known))[::-1]
        return Part(new_numbering, new_words, np.concatenate(ids), line_lengths)

    def _start_numbering(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        # Zero stands for an empty place: no word's high key is zero, for its length is a part of it.
        self._low_keys = np.zeros(1 << TABLE_BITS, dtype=np.uint64)
        self._high_keys = np.zeros(1 << TABLE_BITS, dtype=np.uint64)
        self._ids = np.zeros(1 << TABLE_BITS, dtype=np.int32)

    def _block(self, data: bytes, start: int, stop: int) -> tuple[npt.NDArray[np.int32], Places]:
        """Return the words' numbers, and how many words come before each line end."""
        text = _padded(data, start, stop)
        blank = _white_space(text)
        edges = np.flatnonzero(blank[1:] ^ blank[:-1]) + 1
        begins, ends = edges[::2], edges[1::2]
        sizes = ends - begins
        low, high = _keys(text, begins, sizes)
        places = ((low * _LOW_FACTOR + high * _HIGH_FACTOR) >> np.uint64(64 - TABLE_BITS)).astype(np.intp)
        ids = self._ids.take(places, mode="clip")
        # A longer word is never found: it is not put in the table, and no other has its length in its key.
        known = self._low_keys.take(places, mode="clip") == low
        known &= self._high_keys.take(places, mode="clip") == high
        missed = np.flatnonzero(~known)
        raw = text.tobytes()
        words = [
            str(raw[begin:end], "utf-8")
            for begin, end in zip(begins[missed].tolist(), ends[missed].tolist(), strict=True)
        ]
        ids[missed] = np.fromiter(map(self._numbers.__getitem__, words), dtype=np.int32, count=len(words))
        short = missed[sizes[missed] <= _SHORT]
        # Where several words claim one place, the last has it in all three arrays.
        self._low_keys[places[short]] = low[short]
        self._high_keys[places[short]] = high[short]
        self._ids[places[short]] = ids[short]
        # Only "\n" ends a line, as in a file opened for bytes.
        return ids, np.searchsorted(begins, np.flatnonzero(text == ord("\n")))


def _blocks(data: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(data):
        gap = WHITE_SPACE.search(data, start + BLOCK_BYTES)
        stop = gap.end() if gap else len(data)
        yield start, stop
        start = stop


def _padded(data: bytes, start: int, stop: int) -> Bytes:
    """Return a block of the data between blanks: one before, and as many after as a key may reach."""
    block = data[start:stop]
    if not block.isascii():
        try:
            str(block, "utf-8")
        except UnicodeDecodeError as error:
            places = (start + error.start, start + error.end)
            raise UnicodeDecodeError(error.encoding, data, *places, error.reason) from None
    return np.frombuffer(b" " + block + b" " * (_SHORT + 2), dtype=np.uint8)


def _white_space(text: Bytes) -> npt.NDArray[np.bool_]:
    """Return which bytes belong to characters that `str.split` splits at."""
    # Unsigned bytes wrap around: these are the ranges 9 to 13 and 28 to 32.
    blank = (text - 9 < 5) | (text - 28 < 5)
    if np.max(text) < 0x80:
        return blank
    leads = np.flatnonzero((text == 0xC2) | ((text >= 0xE1) & (text <= 0xE3)))
    if leads.size:
        codes = (text[leads].astype(np.int32) << 8) + text[leads + 1]
        wide = leads[np.isin(codes, _SPACES_OF_2_BYTES)]
        blank[wide] = blank[wide + 1] = True
        codes = (codes << 8) + text[leads + 2]
        wide = leads[np.isin(codes, _SPACES_OF_3_BYTES)]
        blank[wide] = blank[wide + 1] = blank[wide + 2] = True
    return blank


def _keys(text: Bytes, begins: Places, sizes: Places) -> tuple[Keys, Keys]:
    """Return the two integers that words of up to 15 bytes are known by."""
    # A copy, because numbers that lie where numbers should are fetched in a quarter of the time.
    eight_bytes = np.ndarray((text.size - 7,), dtype="<u8", buffer=text, strides=(1,)).copy()
    sizes = np.minimum(sizes, _SHORT + 1)
    low = eight_bytes.take(begins, mode="clip")
    low &= _LOW_MASK.take(sizes, mode="clip")
    high = eight_bytes.take(begins + 8, mode="clip")
    high &= _HIGH_MASK.take(sizes, mode="clip")
    high |= _LENGTH_TAG.take(sizes, mode="clip")
    return low, high

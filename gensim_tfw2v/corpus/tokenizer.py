"""Bytes of UTF-8 text → numbers of the words between white space, exactly as `str.split` finds them.

`str.split` and a dictionary need a string object and a look-up with cache misses for every word. Here NumPy finds the
ends of words in the bytes. It looks up a word of up to 15 bytes by these bytes, in a table that has one place for every
hash value. Only words that are not found in their place are looked up in the dictionary.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import BoolArray, Int32Array, UInt8Array

# White space of one byte, at which text is cut. UTF-8 never uses these bytes inside a longer character.
WHITE_SPACE = re.compile(rb"[ \t\n\r\x0b\x0c]")

_WIDE_SPACES = [
    chr(code).encode() for code in (0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
]
_SPACES_OF_2_BYTES = [int.from_bytes(space, "big") for space in _WIDE_SPACES if len(space) == 2]
_SPACES_OF_3_BYTES = [int.from_bytes(space, "big") for space in _WIDE_SPACES if len(space) == 3]

# A word's key is its bytes as two little-endian integers, with its length in the last byte.
_SHORT = 15
_LOW_MASK = np.array([(1 << 8 * min(size, 8)) - 1 for size in range(_SHORT + 2)], dtype=np.uint64)
_HIGH_MASK = np.array([(1 << 8 * max(size - 8, 0)) - 1 for size in range(_SHORT + 2)], dtype=np.uint64)
_LENGTH_TAG = np.array([size << 56 for size in range(_SHORT + 2)], dtype=np.uint64)
_LOW_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HIGH_FACTOR = np.uint64(0xC2B2AE3D27D4EB4F)

Keys = npt.NDArray[np.uint64]
Places = npt.NDArray[np.intp]


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
        self._start_numbering()

    def part(self, data: bytes) -> Part:
        """Return the words of some text; raise `UnicodeDecodeError` where it is not UTF-8."""
        new_numbering = not self._numbers or len(self._numbers) > tuning.TOKENIZER_WORDS
        if new_numbering:
            self._start_numbering()
        known = len(self._numbers)
        ids = [np.empty(0, dtype=np.int32)]
        line_ends: list[Places] = []
        words = 0
        for start, stop in _pieces(data):
            piece_ids, piece_line_ends = self._piece(data, start, stop)
            ids.append(piece_ids)
            line_ends.append(words + piece_line_ends)
            words += piece_ids.size
        line_lengths = np.diff(np.concatenate([[0], *line_ends, [words]])).astype(np.int32)
        new_words = list(islice(reversed(self._numbers), len(self._numbers) - known))[::-1]
        return Part(new_numbering, new_words, np.concatenate(ids), line_lengths)

    def _start_numbering(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        # Zero marks an empty place. No word's high key is zero, because it contains the length.
        self._low_keys = np.zeros(1 << tuning.TOKENIZER_TABLE_BITS, dtype=np.uint64)
        self._high_keys = np.zeros(1 << tuning.TOKENIZER_TABLE_BITS, dtype=np.uint64)
        self._ids = np.zeros(1 << tuning.TOKENIZER_TABLE_BITS, dtype=np.int32)

    def _piece(self, data: bytes, start: int, stop: int) -> tuple[Int32Array, Places]:
        """Return the numbers of a piece's words, and how many words come before each line end."""
        text = _padded(data, start, stop)
        blank = _white_space(text)
        edges = np.flatnonzero(blank[1:] ^ blank[:-1]) + 1
        begins, ends = edges[::2], edges[1::2]
        sizes = ends - begins
        low, high = _keys(text, begins, sizes)
        hashes = (low * _LOW_FACTOR + high * _HIGH_FACTOR) >> np.uint64(64 - tuning.TOKENIZER_TABLE_BITS)
        places = hashes.astype(np.intp)
        ids = self._ids.take(places, mode="clip")
        # A longer word is never found: it is not in the table, and no key there contains its length.
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
        # If several words have the same place, the last one gets it in all three arrays.
        self._low_keys[places[short]] = low[short]
        self._high_keys[places[short]] = high[short]
        self._ids[places[short]] = ids[short]
        # Only "\n" ends a line, as in a file opened in binary mode.
        return ids, np.searchsorted(begins, np.flatnonzero(text == ord("\n")))


def _pieces(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the bounds of pieces that end with white space."""
    start = 0
    while start < len(data):
        gap = WHITE_SPACE.search(data, start + tuning.TOKENIZER_PIECE_BYTES)
        stop = gap.end() if gap else len(data)
        yield start, stop
        start = stop


def _padded(data: bytes, start: int, stop: int) -> UInt8Array:
    """Return a piece of the data between blanks: one before it, and as many after it as a key may reach."""
    piece = data[start:stop]
    if not piece.isascii():
        try:
            str(piece, "utf-8")
        except UnicodeDecodeError as error:
            places = (start + error.start, start + error.end)
            raise UnicodeDecodeError(error.encoding, data, *places, error.reason) from None
    return np.frombuffer(b" " + piece + b" " * (_SHORT + 2), dtype=np.uint8)


def _white_space(text: UInt8Array) -> BoolArray:
    """Return which bytes belong to characters at which `str.split` splits."""
    # Unsigned bytes wrap around, so this finds the bytes 9 to 13 and 28 to 32.
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


def _keys(text: UInt8Array, begins: Places, sizes: Places) -> tuple[Keys, Keys]:
    """Return the two integers that identify a word of up to 15 bytes."""
    # A copy is aligned, and aligned numbers are fetched in a quarter of the time.
    eight_bytes = np.ndarray((text.size - 7,), dtype="<u8", buffer=text, strides=(1,)).copy()
    sizes = np.minimum(sizes, _SHORT + 1)
    low = eight_bytes.take(begins, mode="clip")
    low &= _LOW_MASK.take(sizes, mode="clip")
    high = eight_bytes.take(begins + 8, mode="clip")
    high &= _HIGH_MASK.take(sizes, mode="clip")
    high |= _LENGTH_TAG.take(sizes, mode="clip")
    return low, high

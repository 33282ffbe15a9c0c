"""The function of tokenize.c in NumPy.

`str.split` and a dictionary need a string object and a look-up with cache misses for every word. Here NumPy finds the
ends of words in the bytes. It looks up a word of up to 15 bytes by these bytes, in a table that has one place for every
hash value. Only words that are not found in their place are looked up in the dictionary.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice

import numpy as np
import numpy.typing as npt

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import BoolArray, Int32Array, Int64Array, UInt8Array
from gensim_tfw2v.native.array_checks import NOT_UTF8, WRONG_SIZES
from gensim_tfw2v.native.word_table import WordTable

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


def tokenize(text: UInt8Array, table: WordTable, numbers: Int32Array, line_ends: Int32Array, found: Int64Array) -> int:
    """Write the numbers of a text's words, and how many words come before each line end."""
    is_line_end = text == ord("\n")
    if found.size != 2 or not table.has_room(text.size):
        return WRONG_SIZES
    words, lines = found.tolist()
    if min(words, lines) < 0 or numbers.size - words < text.size // 2 + 1:
        return WRONG_SIZES
    if line_ends.size - lines < np.count_nonzero(is_line_end):
        return WRONG_SIZES
    raw = text.tobytes()
    try:
        if not raw.isascii():
            str(raw, "utf-8")
    except UnicodeDecodeError:
        return NOT_UTF8
    if table.in_numpy is None:
        table.in_numpy = _Numbers(table)
    begins, ids = table.in_numpy.begins_and_ids(raw)
    table.add(table.in_numpy.words_from(len(table)))
    ends = words + np.searchsorted(begins, np.flatnonzero(is_line_end))
    numbers[words : words + ids.size] = ids
    line_ends[lines : lines + ends.size] = ends
    found[:] = words + ids.size, lines + ends.size
    return 0


class _Numbers:
    """Finds the words of a table."""

    def __init__(self, table: WordTable) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        for word in table.words_from(0):
            self._numbers[word]
        # Zero marks an empty place. No word's high key is zero, because it contains the length.
        self._low_keys = np.zeros(1 << tuning.TOKENIZER_TABLE_BITS, dtype=np.uint64)
        self._high_keys = np.zeros(1 << tuning.TOKENIZER_TABLE_BITS, dtype=np.uint64)
        self._ids = np.zeros(1 << tuning.TOKENIZER_TABLE_BITS, dtype=np.int32)

    def words_from(self, first: int) -> list[str]:
        """Return all words from a number on."""
        return list(islice(reversed(self._numbers), len(self._numbers) - first))[::-1]

    def begins_and_ids(self, raw: bytes) -> tuple[Places, Int32Array]:
        """Return where the words of a text begin, and their numbers. New words get the next ones."""
        # Blanks: one before the text, and as many after it as a key may reach.
        text = np.frombuffer(b" " + raw + b" " * (_SHORT + 2), dtype=np.uint8)
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
        words = [
            str(raw[begin - 1 : end - 1], "utf-8")
            for begin, end in zip(begins[missed].tolist(), ends[missed].tolist(), strict=True)
        ]
        ids[missed] = np.fromiter(map(self._numbers.__getitem__, words), dtype=np.int32, count=len(words))
        short = missed[sizes[missed] <= _SHORT]
        # If several words have the same place, the last one gets it in all three arrays.
        self._low_keys[places[short]] = low[short]
        self._high_keys[places[short]] = high[short]
        self._ids[places[short]] = ids[short]
        return begins - 1, ids


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

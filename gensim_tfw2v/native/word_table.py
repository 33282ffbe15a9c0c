"""Words and their numbers, which functions that read text look up and extend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_PLACE_NUMBERS, _KEY_BYTES = 3, 16  # as in tokenize.c


class WordTable:
    """Distinct words, whose numbers are 0, 1, 2 and so on. `tokenize.c` says what the arrays hold."""

    def __init__(self) -> None:
        self._places = np.zeros(0, np.uint64)
        self._ends = np.zeros(1, np.int64)
        self._texts = np.empty(0, np.uint8)
        self._known = np.zeros(2, np.int64)
        self.in_numpy: Any = None
        """What finds the words where functions run in NumPy."""

    def __len__(self) -> int:
        return int(self._known[0])

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays of the C function: places, ends, texts, and how many words there are and have places."""
        return self._places, self._ends, self._texts, self._known

    def words_from(self, first: int) -> list[str]:
        """Return all words from a number on."""
        if first == len(self):
            return []
        begin, end = self._ends[first], self._ends[len(self)]
        return self._texts[begin : end - 1].tobytes().decode().split("\n")

    def has_room(self, text_bytes: int) -> bool:
        """Return whether there is room for the words of any text of so many bytes."""
        return self._words_with(text_bytes) <= self._ends.size and self._bytes_with(text_bytes) <= self._texts.size

    def make_room(self, text_bytes: int) -> None:
        """Make room for the words of any text of so many bytes."""
        words, size = self._words_with(text_bytes), self._bytes_with(text_bytes)
        if words > self._ends.size:
            # At least a quarter of the places stay empty. The C function fills them anew.
            places = 1 << (words * 4 // 3).bit_length()
            self._ends = _longer(self._ends, places * 3 // 4)
            self._places = np.zeros(_PLACE_NUMBERS * places, np.uint64)
            self._known[1] = 0
        if size > self._texts.size:
            self._texts = _longer(self._texts, max(size, 2 * self._texts.size))

    def add(self, words: Sequence[str]) -> None:
        """Give words the next numbers. There is room for them, and the table has none of them."""
        texts = [f"{word}\n".encode() for word in words]
        first, last = len(self), len(self) + len(words)
        self._ends[first + 1 : last + 1] = self._ends[first] + np.cumsum([len(text) for text in texts], dtype=np.int64)
        self._texts[self._ends[first] : self._ends[last]] = np.frombuffer(b"".join(texts), np.uint8)
        self._known[0] = last

    def _words_with(self, text_bytes: int) -> int:
        """Return the entries of `ends` that the words of a text need at most."""
        return len(self) + text_bytes // 2 + 2

    def _bytes_with(self, text_bytes: int) -> int:
        """Return the bytes of `texts` that the words of a text need at most, and a key behind them."""
        return int(self._ends[len(self)]) + text_bytes + 1 + _KEY_BYTES


def _longer(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Return an array of a larger size that begins as `array` does."""
    longer = np.empty(size, array.dtype)
    longer[: array.size] = array
    return longer

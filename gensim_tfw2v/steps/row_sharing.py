"""Shared rows: rows that nearly every block trains, and that workers exchange more often than others.

They are the rows of the most frequent words, and the first nodes of the tree. Two blocks hardly ever train the same
rare word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int32Array


@dataclass(frozen=True)
class RowSharing:
    """How many rows are shared."""

    rows: int = 0  # of each table

    def within(self, size: int) -> RowSharing:
        """Return these settings for tables of at least `size` rows."""
        return RowSharing(min(self.rows, size))

    def ids(self, size: int, are_nodes: bool) -> Int32Array:
        """Return the shared rows of a table of `size` rows: the most frequent words, or the tree's first nodes."""
        lowest = first_shared_row(size, self.rows, are_nodes)
        return np.arange(lowest, lowest + self.rows, dtype=np.int32)


def first_shared_row(size: Any, rows: Any, are_nodes: bool) -> Any:
    """Return where `rows` shared rows begin in a table of `size` rows; nodes count from the end."""
    return size - rows if are_nodes else 0


NOT_SHARED = RowSharing()

"""Shared rows: rows that nearly every block trains, and whose changes blocks in flight exchange after every part.

They are the rows of the most frequent words, and the first nodes of the tree. Two blocks hardly ever train the same
rare word. So blocks that exchange their changes of shared rows may be large, and large blocks cost less per word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int32Array


@dataclass(frozen=True)
class RowSharing:
    """How blocks in flight share rows while they are trained."""

    parts: int = 1  # of a block; shared rows are exchanged after every part except the last
    rows: int = 0  # of each table

    def over(self, shards: int, size: int) -> RowSharing:
        """Return these settings with equally many shared rows in each shard of tables of at least `size` rows."""
        in_a_shard = min(-(-self.rows // shards), size // shards)
        return replace(self, rows=in_a_shard * shards)

    def ids(self, size: int, are_nodes: bool) -> Int32Array:
        """Return the shared rows of a table of `size` rows: the most frequent words, or the tree's first nodes."""
        lowest = first_shared_row(size, self.rows, are_nodes)
        return np.arange(lowest, lowest + self.rows, dtype=np.int32)

    def span(self, part: int, batches: Any) -> list[Any]:
        """Return the first batch of a part, and the one after its last, in a block of `batches` batches."""
        return [batches * number // self.parts for number in (part, part + 1)]


def first_shared_row(size: Any, rows: Any, are_nodes: bool) -> Any:
    """Return where `rows` shared rows begin in a table, or a shard, of `size` rows; nodes count from the end."""
    return size - rows if are_nodes else 0


NOT_SHARED = RowSharing()

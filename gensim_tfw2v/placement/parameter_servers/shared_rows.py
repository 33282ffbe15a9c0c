"""The rows that every block trains: which they are, and how often blocks in flight tell each other what they changed.

Two blocks hardly ever train the same rare word, and nearly every one trains the frequent ones. So a block may be large,
which makes its words cheap, if it shares its changes of the rows of frequent words, and of the first nodes of the tree,
with the others after every part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int32Array


@dataclass(frozen=True)
class RowSharing:
    """How blocks in flight share rows while they are trained."""

    parts: int = 1  # of a block, after each of which but the last the common rows are shared
    rows: int = 0  # of each table

    def over(self, shards: int, size: int) -> RowSharing:
        """Return about the same with as many common rows in each shard of tables of `size` rows or more."""
        in_a_shard = min(-(-self.rows // shards), size // shards)
        return replace(self, rows=in_a_shard * shards)

    def ids(self, size: int, are_nodes: bool) -> Int32Array:
        """Return the common rows of a table of `size` rows: the most frequent words, or the tree's first nodes."""
        lowest = first_shared_row(size, self.rows, are_nodes)
        return np.arange(lowest, lowest + self.rows, dtype=np.int32)

    def span(self, part: int, batches: Any) -> list[Any]:
        """Return the first batch of a part of a block that has so many, and the one after its last."""
        return [batches * number // self.parts for number in (part, part + 1)]


def first_shared_row(size: Any, rows: Any, are_nodes: bool) -> Any:
    """Return where so many common rows begin in a table, or a shard, of `size` rows: the tree's first nodes end it."""
    return size - rows if are_nodes else 0


NOT_SHARED = RowSharing()

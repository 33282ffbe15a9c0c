"""How the rows of a table are divided: into shards, and these into pieces that are small enough to send."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gensim_tfw2v.arrays import Float32Array

_SHARD_BYTES = 2**30  # TensorFlow cannot send more than 2 GB in one piece
_PIECE_BYTES = 2**24  # sent at a time


@dataclass(frozen=True)
class TableShape:
    """Rows and columns of a table, and the number of shards over which its rows are spread."""

    rows: int
    columns: int
    shards: int

    def rows_of(self, shard: int) -> int:
        """Return the number of rows in one shard."""
        return max(0, -(-(self.rows - shard) // self.shards))

    def columns_of(self, shard: int) -> int:
        """Return the number of columns of one shard."""
        return self.columns

    def part(self, values: Float32Array, shard: int) -> Float32Array:
        """Return a view of the numbers of a table that are in one shard."""
        return values[shard :: self.shards]

    def pieces(self, shard: int) -> Iterator[tuple[int, int]]:
        """Yield (first, end) of pieces of a shard that are small enough to send."""
        step = max(1, _PIECE_BYTES // (4 * self.columns))
        for first in range(0, self.rows_of(shard), step):
            yield first, min(first + step, self.rows_of(shard))


def shards_for(rows: int, columns: int, servers: int) -> int:
    """Return the number of shards, equally many on each server, so that each shard is small enough to send."""
    on_server = -(-rows // servers) * columns * 4
    return servers * max(1, -(-on_server // _SHARD_BYTES))

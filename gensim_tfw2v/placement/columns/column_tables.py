"""A model's tables on servers, cut by columns: each server has some numbers of every row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.remote.table_shape import TableShape
from gensim_tfw2v.placement.remote.tables import RemoteTables


@dataclass(frozen=True)
class ColumnShape(TableShape):
    """Rows and columns of a table, and the number of shards over which its columns are spread."""

    def rows_of(self, shard: int) -> int:
        return self.rows

    def columns_of(self, shard: int) -> int:
        first, end = self._span(shard)
        return end - first

    def part(self, values: Float32Array, shard: int) -> Float32Array:
        first, end = self._span(shard)
        return values[:, first:end]

    def _span(self, shard: int) -> tuple[int, int]:
        """Return the first column of a shard, and its end."""
        return self.columns * shard // self.shards, self.columns * (shard + 1) // self.shards


class ColumnTables(RemoteTables):
    """Tables cut by columns: server s has shard s, about as many columns of all rows as every other server has."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, connection.servers)

    def _shape_of(self, rows: int, columns: int) -> TableShape:
        return ColumnShape(rows, columns, self.shards)

    def rows(self, name: str, first: int, end: int) -> Float32Array:
        shape = self.shape(name)
        rows = np.empty((end - first, shape.columns), np.float32)
        numbers = remote_functions.local(np.arange(first, end, dtype=np.int32))
        for shard, handle in enumerate(self.handles(name)):
            with self._tf.device(self.device_of(shard)):
                found = self._read(handle, numbers)
            shape.part(rows, shard)[:] = found.numpy()
        return rows

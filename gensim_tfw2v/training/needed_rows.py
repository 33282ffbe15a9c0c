"""The rows of a table that a measurement needs, read a few at a time from wherever the table is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gensim_tfw2v.arrays import Float32Array, Int32Array, Int64Array

ReadRows = Callable[[str, int, int], Float32Array]
"""Takes a table's name and the numbers of its first row and of the row after the last; returns these rows."""

NUMBERS_AT_ONCE = 2**20  # numbers of rows that are read, or computed with, at a time: 4 MB


class NeededRows:
    """The rows of one table that are needed. They are named by their places among them.

    Parameters
    ----------
    table : str
        The table's name.
    ids : sequence of ndarray
        The ids of rows, any number of times.
    """

    def __init__(self, table: str, *ids: Int32Array) -> None:
        self._table = table
        self._ids, places = np.unique(np.concatenate([each.reshape(-1) for each in ids]), return_inverse=True)
        ends = np.cumsum([each.size for each in ids])[:-1]
        self.places: list[Int64Array] = [
            part.reshape(each.shape) for part, each in zip(np.split(places.reshape(-1), ends), ids, strict=True)
        ]
        """For each array of ids, the places of its rows."""

    def read(self, read: ReadRows, vector_size: int) -> Float32Array:
        """Return the rows, read a few megabytes of the table at a time."""
        rows = np.empty((len(self._ids), vector_size), np.float32)
        step = max(1, NUMBERS_AT_ONCE // vector_size)
        pieces = self._ids // step
        for piece in np.unique(pieces).tolist():
            chosen = pieces == piece
            ids, first = self._ids[chosen], piece * step
            rows[chosen] = read(self._table, first, int(ids[-1]) + 1)[ids - first]
        return rows

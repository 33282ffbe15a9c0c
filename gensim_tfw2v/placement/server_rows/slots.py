"""Slots: variables on the servers that keep the changes of blocks until all blocks of a round have arrived."""

from __future__ import annotations

from typing import Any

import numpy as np

from gensim_tfw2v.arrays import BoolArray
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.server_rows.shape import GraphShape, Handles, Slot
from gensim_tfw2v.runtime.tensorflow import load_tensorflow


class Slots:
    """The slots of a training, beside its tables and freed with them. All methods call the servers.

    Parameters
    ----------
    count : int
        Blocks whose changes they keep at a time.
    vector_size : int
        Numbers in a row.
    row_type : str
        TensorFlow's name of the number format of the changes.
    """

    def __init__(self, tables: RemoteTables, count: int, vector_size: int, row_type: str) -> None:
        self._tables, self._count, self._vector_size, self._row_type = tables, count, vector_size, row_type
        self._add: Any = None
        self._devices: list[str] = []  # of the servers
        self.handles: tuple[Slot, ...] = self.empty()

    def empty(self) -> tuple[Slot, ...]:
        """Free what the slots keep, and return their handles."""
        # Tables may outlive a training, and another one may have other slots.
        name, number_type = f"slots/{self._count}/{self._row_type}", load_tensorflow().as_dtype(self._row_type)
        rows = self._tables.keep_for_shards(f"{name}/rows", self._count, np.zeros(len(TABLES), np.int32))
        no_changes = np.zeros((0, self._vector_size), number_type.as_numpy_dtype)
        changes = self._tables.keep_for_shards(f"{name}/changes", self._count, no_changes)
        return tuple(Slot(tuple(of_rows), tuple(of_changes)) for of_rows, of_changes in zip(rows, changes, strict=True))

    def prepare(self, shape: GraphShape, handles: Handles) -> None:
        """Send the servers the graph of `add`, for these tables."""
        from gensim_tfw2v.placement.server_rows.sums import slot_graph

        graph = slot_graph(shape, self._count)
        self._devices = [shape.device_of(server) for server in range(shape.servers)]
        own = handles._replace(slot=self.handles[0])  # which the graph does not use
        self._add = lambda wanted: graph(own, self.handles, wanted)

    def add(self, wanted: BoolArray) -> None:
        """Add the changes in the wanted slots to the tables, in the order of the slots."""
        self._add(tuple(remote_functions.sent_to(device, wanted) for device in self._devices)).numpy()

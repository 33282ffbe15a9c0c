"""Matrices of a model that are nowhere but on the parameter servers, and stay there between trainings."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.keepalive import Keepalive
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

logger = logging.getLogger(__name__)


@dataclass
class _Held:
    """Tables on the servers of a connection, and the signs of life they get."""

    tables: Any
    connection: int  # its number
    signs: Keepalive


class ServerStore:
    """Makes a model's tables on the servers when they are first trained on, and knows them from then on.

    Parameters
    ----------
    seeds : mapping of str to int or None
        Tables to make: random ones with their 64-bit seed, those that begin as zeros with None.
    """

    def __init__(self, rows: int, columns: int, seeds: Mapping[str, int | None]) -> None:
        self.shape = (rows, columns)
        self._seeds = seeds
        self._held: _Held | None = None
        self._making = threading.Lock()

    def tables_on(self, connection: Any) -> Any:
        """Return the tables, on the servers of this connection."""
        with self._making:  # an interrupted training may have left a thread behind that makes them
            if self._held is None:
                self._held = self._make(connection)
        if self._held.connection != connection.number:
            raise ClusterError(
                "the model's vectors are on the servers of a cluster that this process is no longer connected to; "
                "train it on that cluster, or call free_server_vectors() to begin anew"
            )
        return self._held.tables

    def _make(self, connection: Any) -> _Held:
        from gensim_tfw2v.placement.parameter_servers.tables import ServerTables, shards_for

        tables = ServerTables(connection, shards_for(*self.shape, connection.servers))
        for name, seed in self._seeds.items():
            tables.make(name, *self.shape)
            if seed is not None:
                tables.fill_randomly(name, seed)
        signs = Keepalive(tables.touch)
        weakref.finalize(self, signs.end)
        return _Held(tables, connection.number, signs)

    def rows(self, name: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of a table."""
        if self._held is None:
            raise ClusterError("the vectors are not there yet: they are made on the servers when training begins")
        try:
            rows: Float32Array = self._held.tables.rows(name, first, end)
        except load_tensorflow().errors.OpError as error:
            raise ClusterError(
                "the model's vectors are out of reach: the servers have ended or were restarted, or this process has "
                "connected to another cluster since"
            ) from error
        return rows

    def forget(self) -> None:
        """Let go of tables that are lost: the next training makes new ones."""
        if (held := self._let_go()) is not None:
            held.tables.leave_behind()

    def free(self) -> None:
        """Give the servers their memory back; the next training begins anew."""
        if (held := self._let_go()) is not None:
            try:
                held.tables.free()
            except load_tensorflow().errors.OpError as error:
                logger.info("servers whose vectors were to be freed are gone: %s", error)
                held.tables.leave_behind()

    def _let_go(self) -> _Held | None:
        """Return what was held, and hold it no more."""
        held, self._held = self._held, None
        if held is not None:
            held.signs.end()
        return held


class ServerMatrix:
    """A matrix that looks like NumPy's as far as can be without holding it: single rows and slices are fetched."""

    def __init__(self, store: ServerStore, name: str) -> None:
        self.store = store
        self.shape = store.shape
        self.dtype = np.dtype(np.float32)
        self._name = name

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Float32Array:
        """Return a row, or the rows of a slice without step, from the servers."""
        if isinstance(rows, slice) and rows.step in (None, 1):
            first, end, _ = rows.indices(len(self))
            return self.store.rows(self._name, first, max(first, end))
        if isinstance(rows, int | np.integer):
            row = range(len(self))[rows]
            single: Float32Array = self.store.rows(self._name, row, row + 1)[0]
            return single
        self.refuse()

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self.refuse()

    def __reduce__(self) -> NoReturn:
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raise the RuntimeError that says how to get at the vectors otherwise."""
        raise RuntimeError(
            "the model's vectors are on the parameter servers (vectors_on_servers=True) and are not copied here as a "
            "whole, as saving, copying and searching would have it; write them to a file with "
            "model.export_vectors('vectors.kv') and open that with KeyedVectors.load('vectors.kv', mmap='r'); "
            "single words can be read: model.wv['word']"
        )


def check_is_here(matrix: Any) -> None:
    """Raise RuntimeError, as pickling would, if a matrix that is needed as a whole is on the servers."""
    if isinstance(matrix, ServerMatrix):
        matrix.refuse()

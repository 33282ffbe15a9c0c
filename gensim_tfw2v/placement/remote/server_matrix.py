"""Matrices of a model that only the parameter servers have, also between trainings."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import wait_while_answering
from gensim_tfw2v.cluster.leases import Keepalive
from gensim_tfw2v.placement.contract import Contents, RemoteMatrix, RemoteStore
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.settings import ADAGRAD, SGD

logger = logging.getLogger(__name__)

_ANSWER_SECONDS = 20.0  # time that a server may take to answer


@dataclass
class _KeptTables:
    """Tables on the servers of a connection, with what renews their lease."""

    tables: Any
    have_states: bool  # rows end with the optimizer's state
    connection: int  # its number
    servers: Mapping[str, str]  # addresses by name
    keepalive: Keepalive

    def call(self, function: Callable[[], Any]) -> Any:
        """Return what operations on servers return; raise ClusterError that names a server that does not answer."""
        return wait_while_answering(function, self.servers, _ANSWER_SECONDS)


class ServerStore(RemoteStore):
    """Makes a model's tables on the servers when they are first trained on, and keeps their handles.

    The first training also decides whether rows end with the optimizer's state.

    Parameters
    ----------
    columns : int
        Numbers of a vector.
    seeds : mapping of str to int or None
        Tables to make, each with the 64-bit seed of its initial rows, or None for zeros.
    """

    def __init__(self, rows: int, columns: int, seeds: Mapping[str, int | None]) -> None:
        self.shape = (rows, columns)
        self._seeds = seeds
        self._contents: Contents | None = None  # of the next tables that are made, in place of initial rows
        self._kept: _KeptTables | None = None
        self._making = threading.Lock()

    def check_states(self, have_states: bool) -> None:
        if self._kept is not None and self._kept.have_states is not have_states:
            now, before = (ADAGRAD, SGD) if have_states else (SGD, ADAGRAD)
            raise ValueError(
                f"optimizer={now!r} cannot train vectors on the servers that optimizer={before!r} has trained: only "
                f"rows of {ADAGRAD!r} have a state there; set model.optimizer to {before!r}, or call "
                "free_server_vectors() to begin anew"
            )

    def tables_on(self, connection: Any, have_states: bool) -> Any:
        with self._making:  # a thread of an interrupted training may be making them
            self.check_states(have_states)
            if self._kept is None:
                self._kept = self._make(connection, have_states)
        if self._kept.connection != connection.number:
            raise ClusterError(
                "the model's vectors are on the servers of a cluster that this process is no longer connected to; "
                "train it on that cluster, or call free_server_vectors() to begin anew"
            )
        return self._kept.tables

    def _make(self, connection: Any, have_states: bool) -> _KeptTables:
        from gensim_tfw2v.placement.remote.table_shape import shards_for
        from gensim_tfw2v.placement.remote.tables import RemoteTables

        rows, columns = self.shape
        tables = RemoteTables(connection, shards_for(rows, columns + have_states, connection.servers))
        try:
            self._fill(tables, have_states)
        except BaseException:
            tables.free_later()
            raise
        keepalive = Keepalive(tables.renew_lease)
        weakref.finalize(self, keepalive.end)
        return _KeptTables(tables, have_states, connection.number, connection.tasks("ps"), keepalive)

    def _fill(self, tables: Any, have_states: bool) -> None:
        """Make all tables, and give them their first rows."""
        contents, self._contents = self._contents, None
        state = self.first_state if have_states else None
        rows, columns = self.shape
        for name, seed in self._seeds.items():
            tables.make(name, rows, columns + have_states)
            if contents is not None:
                for first, piece in contents(name, have_states):
                    tables.write(name, first, piece)
            elif seed is not None or state:
                tables.fill(name, seed, state)

    @property
    def is_untrained(self) -> bool:
        return self._kept is None and self._contents is None

    def begin_with(self, contents: Contents) -> None:
        self.forget()
        self._contents = contents

    def rows(self, name: str, first: int, end: int) -> Float32Array:
        kept = self._kept
        if kept is None:
            raise ClusterError("the vectors are not there yet: they are made on the servers when training begins")
        try:
            rows: Float32Array = kept.call(lambda: kept.tables.rows(name, first, end))
        except load_tensorflow().errors.OpError as error:
            raise ClusterError(
                "the model's vectors are out of reach: the servers have ended or were restarted, or this process has "
                "connected to another cluster since"
            ) from error
        return np.ascontiguousarray(rows[:, : self.shape[1]])

    def forget(self) -> None:
        if (kept := self._release()) is not None:
            kept.tables.free_later()

    def free(self) -> None:
        if (kept := self._release()) is not None:
            try:
                kept.call(kept.tables.free)
            except (load_tensorflow().errors.OpError, ClusterError) as error:
                logger.info("servers whose vectors were to be freed are gone: %s", error)
                kept.tables.free_later()

    def _release(self) -> _KeptTables | None:
        """Return the kept tables, and keep them no longer."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.keepalive.end()
        return kept


class ServerMatrix(RemoteMatrix):
    """A matrix that behaves as NumPy's for single rows and slices, which it fetches from the servers."""

    def __init__(self, store: ServerStore, name: str) -> None:
        self.store = store
        self.shape = store.shape
        self.dtype = np.dtype(np.float32)
        self._name = name

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Float32Array:
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
        raise RuntimeError(
            "the model's vectors are on the parameter servers (vectors_on_servers=True) and are not copied here as a "
            "whole, which saving, copying and searching would need; write them to a file with "
            "model.export_vectors('vectors.kv') and open that with KeyedVectors.load('vectors.kv', mmap='r'); "
            "single words can be read: model.wv['word']"
        )


def server_matrices(rows: int, columns: int, seeds: Mapping[str, int | None]) -> dict[str, RemoteMatrix]:
    """Return matrices of a model, by the names of its tables, that servers make when they are first trained on.

    Parameters
    ----------
    seeds : mapping of str to int or None
        As `ServerStore` takes them.
    """
    store = ServerStore(rows, columns, seeds)
    return {name: ServerMatrix(store, name) for name in seeds}

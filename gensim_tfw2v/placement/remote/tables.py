"""A model's tables on tasks of a cluster: made there, filled and read piece by piece, and always freed."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection, device
from gensim_tfw2v.cluster.leases import lease_name
from gensim_tfw2v.cluster.task import OPEN_LEASE, RENEW_LEASE, key_of
from gensim_tfw2v.placement.remote.initial_rows import initial_rows
from gensim_tfw2v.placement.remote.left_tables import free_stale_tables, free_when_next_are_made
from gensim_tfw2v.placement.remote.table_shape import TableShape
from gensim_tfw2v.placement.remote.variables import (
    TaskName,
    call_task,
    destroy,
    free_lease,
    make_in_turn,
    make_variable,
    servers_of,
)
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_lease_numbers = itertools.count()
_free_numbers: list[int] = []  # used again, because a server keeps some memory for every name that it has had


class RemoteTables:
    """Tables whose row r is row r // S of shard r % S; shard s is on task s % tasks.

    Parameters
    ----------
    tasks : sequence of TaskName, optional
        Default: all parameter servers.
    """

    def __init__(self, connection: Connection, shards: int, tasks: Sequence[TaskName] | None = None) -> None:
        self._tf = load_tensorflow()
        from gensim_tfw2v.steps.rows import read_rows, write_rows

        # Workers read and change the tables by the package's own operations, which TensorFlow's must not be mixed with.
        self._read, self._write = read_rows, write_rows
        self._tasks = servers_of(connection) if tasks is None else tuple(tasks)
        self._strategy = connection.strategy if tasks is None else None  # places the shards of servers
        self.shards = shards
        self._number = _free_numbers.pop() if _free_numbers else next(_lease_numbers)
        self.name = lease_name(self._number)
        self._shapes: dict[str, TableShape] = {}
        self._handles: dict[str, list[Any]] = {}
        self._extra: dict[str, Any] = {}
        self._names: list[str] = []
        self._ending = threading.Lock()  # guards the next two
        self._is_freed = self._is_given_up = False
        free_stale_tables(connection, self._tasks)

    def device_of(self, shard: int) -> str:
        """Return the device that has a shard."""
        return device(*self._tasks[shard % len(self._tasks)])

    def handles(self, name: str) -> list[Any]:
        """Return the resource handles of a table's shards, none if there is no such table."""
        return self._handles.get(name, [])

    def shape(self, name: str) -> TableShape:
        """Return a table's shape."""
        return self._shapes[name]

    def make(self, name: str, rows: int, columns: int) -> None:
        """Make a table of zeros on the tasks."""
        shape = self._shapes[name] = self._shape_of(rows, columns)
        names = [f"{name}/{shard}" for shard in range(self.shards)]
        self._record(names)
        self._handles[name] = [self._zero_shard(names[shard], shape, shard) for shard in range(self.shards)]

    def fill(self, name: str, seed: int | None, state: float | None = None) -> None:
        """Give a table the initial rows that follow from `seed`, zeros if it is None; the servers make them.

        Parameters
        ----------
        state : float or None
            The last column: the optimizer's state of each row. None if rows have none.
        """
        shape = self._shapes[name]
        pieces = [(shard, *piece) for shard in range(self.shards) for piece in shape.pieces(shard)]
        for shard, first, end in sorted(pieces, key=lambda piece: piece[1]):  # all servers work at the same time
            places = np.arange(first, end, dtype=np.int64)
            numbers = remote_functions.local(places.astype(np.int32))
            rows = remote_functions.local(places * self.shards + shard)
            with self._tf.device(self.device_of(shard)):
                made = initial_rows(seed, rows, shape.columns - (state is not None))
                if state is not None:
                    padding = remote_functions.local(np.array([[0, 0], [0, 1]], np.int32))
                    value = remote_functions.local(np.float32(state))
                    made = self._tf.raw_ops.PadV2(input=made, paddings=padding, constant_values=value)
                self._write(self._handles[name][shard], numbers, made)

    def keep(self, name: str, value: Any) -> Any:
        """Return the handle of a variable on the first task with this value; a later call replaces the value."""
        if name not in self._extra:
            self._record([name])
        handle = self._extra[name] = self._variable(name, 0, lambda: remote_functions.local(value))
        return handle

    def keep_on_all(self, name: str, value: Any) -> list[Any]:
        """Return the handles of a variable on every task with this value; a later call replaces the values."""
        return self._keep_each(name, range(len(self._tasks)), value)

    def keep_for_shards(self, name: str, count: int, value: Any) -> list[list[Any]]:
        """Return `count` lists of handles, each of a variable for every shard; later values may have other shapes."""
        places = [shard for _ in range(count) for shard in range(self.shards)]
        handles = self._keep_each(name, places, value, self._tf.TensorShape(None))
        return [handles[first : first + self.shards] for first in range(0, len(handles), self.shards)]

    def _keep_each(self, name: str, shards: Sequence[int], value: Any, shape: Any = None) -> list[Any]:
        """Return the handles of variables with this value, one on the task of each of these shards."""
        names = [f"{name}/{number}" for number in range(len(shards))]
        if name not in self._extra:
            self._record(names)
        handles = self._extra[name] = [
            self._variable(own_name, shard, lambda: remote_functions.local(value), shape)
            for own_name, shard in zip(names, shards, strict=True)
        ]
        return handles

    def load(self, name: str, values: Float32Array) -> None:
        """Fill a table, which is made if it is not there."""
        if is_new := name not in self._handles:
            self.make(name, *values.shape)
        shape = self._shapes[name]
        for shard, handle in enumerate(self._handles[name]):
            for first, end in shape.pieces(shard):
                piece = shape.part(values, shard)[first:end]
                if is_new and not piece.any():  # new tables are zeros, as outputs are before the first training
                    continue
                rows = remote_functions.local(np.asarray(piece))
                numbers = remote_functions.local(np.arange(first, end, dtype=np.int32))
                with self._tf.device(self.device_of(shard)):
                    self._write(handle, numbers, rows)

    def make_copy(self, name: str, of: str) -> None:
        """Make a table that has the values of another one; no row is sent."""
        self._shapes[name] = self._shapes[of]
        names = [f"{name}/{shard}" for shard in range(self.shards)]
        self._record(names)
        self._handles[name] = [
            self._variable(names[shard], shard, lambda handle=handle: self._copy_of(handle))
            for shard, handle in enumerate(self._handles[of])
        ]

    def copy_from(self, other: RemoteTables, name: str) -> None:
        """Fill a table, which is made if it is not there, with the table of the same name and shards on other tasks."""
        shape = other.shape(name)
        if name not in self._handles:
            self.make(name, shape.rows, shape.columns)
        for shard, handle in enumerate(self._handles[name]):
            for first, end in shape.pieces(shard):
                numbers = remote_functions.local(np.arange(first, end, dtype=np.int32))
                with self._tf.device(other.device_of(shard)):
                    rows = self._read(other.handles(name)[shard], numbers)
                with self._tf.device(self.device_of(shard)):  # rows go from task to task
                    self._write(handle, numbers, rows)

    def drop(self, name: str) -> None:
        """Free a table, and record that it is gone."""
        for shard in range(len(self._handles.pop(name))):
            destroy(self._tasks[shard % len(self._tasks)], f"{self.name}/{name}/{shard}")
            self._names.remove(f"{name}/{shard}")
        del self._shapes[name]
        self._record([])

    def write(self, name: str, first: int, values: Float32Array) -> None:
        """Set rows of a table, in their order from row `first` on."""
        for shard, handle in enumerate(self._handles[name]):
            offset = (shard - first) % self.shards
            rows = values[offset :: self.shards]
            if len(rows):
                start = (first + offset) // self.shards
                numbers = remote_functions.local(np.arange(start, start + len(rows), dtype=np.int32))
                sent = remote_functions.local(rows)
                with self._tf.device(self.device_of(shard)):
                    self._write(handle, numbers, sent)

    def read(self, name: str) -> Iterator[tuple[int, int, Float32Array]]:
        """Yield (shard, first row in it, rows) for all pieces of a table."""
        shape = self._shapes[name]
        for shard, handle in enumerate(self._handles[name]):
            for first, end in shape.pieces(shard):
                numbers = remote_functions.local(np.arange(first, end, dtype=np.int32))
                with self._tf.device(self.device_of(shard)):
                    rows = self._read(handle, numbers)
                yield shard, first, np.asarray(rows.numpy())

    def read_into(self, name: str, values: Float32Array) -> None:
        """Copy a table, or its first columns, into an array."""
        for shard, first, rows in self.read(name):
            part = self._shapes[name].part(values, shard)[first : first + len(rows)]
            np.copyto(part, rows[:, : part.shape[1]])

    def rows(self, name: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of a table in their order."""
        rows = np.empty((end - first, self._shapes[name].columns), np.float32)
        for shard, handle in enumerate(self._handles[name]):
            offset = (shard - first) % self.shards
            wanted = np.arange(first + offset, end, self.shards) // self.shards
            if len(wanted):
                numbers = remote_functions.local(wanted.astype(np.int32))
                with self._tf.device(self.device_of(shard)):
                    found = self._read(handle, numbers)
                rows[offset :: self.shards] = found.numpy()
        return rows

    def renew_lease(self) -> None:
        """Renew the lease on the tables on every task."""
        for task in self._tasks:
            call_task(task, RENEW_LEASE, np.int32(key_of(self.name)), output=self._tf.float64)

    def probe(self) -> None:
        """Raise an error of TensorFlow's if a task is gone or has lost its part of a table."""
        for handle_of_shards in self._handles.values():
            for shard, handle in enumerate(handle_of_shards):
                with self._tf.device(self.device_of(shard)):
                    self._tf.raw_ops.VariableShape(input=handle).numpy()

    def free(self, may_be_used: bool = False) -> None:
        """Free the tasks' memory.

        Parameters
        ----------
        may_be_used : bool
            Whether a worker that does not answer may still use these tables by their names.
        """
        free_lease(self._tasks, self.name, self._names)
        with self._ending:
            self._is_freed = True
            if not (may_be_used or self._is_given_up):
                _free_numbers.append(self._number)
        self._handles.clear()
        self._extra.clear()
        self._names.clear()

    def free_later(self) -> None:
        """Free the tables when the next ones are made: now a task may be lost, or still receive rows.

        Their name is not used again, also if a thread that has waited for a task still frees them. Otherwise the tables
        that have the name then would be freed.
        """
        with self._ending:
            self._is_given_up = True
            if not self._is_freed:
                free_when_next_are_made(self.name)

    def _record(self, names: list[str]) -> None:
        """Record the tables on every task before they are made, so that they can be freed if this process dies."""
        self._names += names
        for task in self._tasks:
            call_task(task, OPEN_LEASE, self.name, json.dumps(self._names))

    def _shape_of(self, rows: int, columns: int) -> TableShape:
        return TableShape(rows, columns, self.shards)

    def _zero_shard(self, name: str, shape: TableShape, shard: int) -> Any:
        """Return the handle of a shard of zeros, which its task makes."""
        size = shape.rows_of(shard), shape.columns_of(shard)

        def zeros() -> Any:
            dims, zero = remote_functions.local(np.array(size, np.int32)), remote_functions.local(np.float32(0))
            return self._tf.raw_ops.Fill(dims=dims, value=zero)

        if self._strategy is None:
            return self._variable(name, shard, zeros)
        task = self._tasks[shard % len(self._tasks)]
        return make_in_turn(self._strategy, task, f"{self.name}/{name}", zeros, size)

    def _copy_of(self, handle: Any) -> Any:
        """Return a copy of a variable's value on the current device."""
        return self._tf.raw_ops.DeepCopy(x=self._tf.raw_ops.ReadVariableOp(resource=handle, dtype=self._tf.float32))

    def _variable(self, name: str, shard: int, value: Any, shape: Any = None) -> Any:
        """Return the handle of a variable beside a shard; `shape` is that of all its values, by default the first's."""
        return make_variable(self._tasks[shard % len(self._tasks)], f"{self.name}/{name}", value, shape)

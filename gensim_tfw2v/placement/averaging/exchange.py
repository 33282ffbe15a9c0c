"""Graphs that average rows over several workers: each worker adds up its part of the rows and sends the sums to all.

The graphs name the workers' devices, and TensorFlow sends tensors from one to another. This process calls the graphs,
because a worker does not know the devices of other workers.

No worker can fetch anything from this process, because its port answers only its own machine. So arguments are on the
workers' devices. The result is on this process's device: there TensorFlow makes it wait for everything that changes
rows.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.placement.averaging.worker_rows import (
    TABLE_HANDLES,
    RoundShape,
    TableHandles,
    WorkerHandles,
    handle_specs,
    shared_rows,
    strengths_of,
    write_shared_rows,
)
from gensim_tfw2v.placement.tasks.graph_parts import concrete
from gensim_tfw2v.steps.rows import read_rows, write_rows


class WorkerPiece(NamedTuple):
    """The arguments of one worker for a piece of a table, all on its device."""

    table: TableHandles
    bounds: Any  # int32 [2]: the first row, and the end


@functools.lru_cache(maxsize=64)
def shared_rows_graph(shape: RoundShape, devices: tuple[str, ...]) -> Any:
    """Return the function (handles of each worker) → done that averages shared rows."""
    with sending_graphs():
        handles = (handle_specs(shape),) * len(devices)
        return concrete(lambda *of_workers: _average_shared_rows(shape, devices, of_workers), *handles)


@functools.lru_cache(maxsize=64)
def rows_graph(shape: RoundShape, devices: tuple[str, ...]) -> Any:
    """Return the function (a `WorkerPiece` for each worker) → counts that averages a piece of a table's rows."""
    with sending_graphs():
        piece = WorkerPiece(TABLE_HANDLES, tf.TensorSpec([2], tf.int32))
        return concrete(lambda *pieces: _average_rows(shape, devices, pieces), *(piece,) * len(devices))


for _graphs in (shared_rows_graph, rows_graph):
    call_on_disconnect(_graphs.cache_clear)


def _average_shared_rows(shape: RoundShape, devices: Sequence[str], of_workers: Sequence[WorkerHandles]) -> tf.Tensor:
    """Add all workers' changes of shared rows to the rows that the changes started from, on every worker.

    Worker p adds up piece p of the rows, in the order of workers, and sends the sum to all.
    """
    count, workers = shape.sharing.rows * len(shape.objective.moved_tables()), len(devices)
    sizes = [count * (piece + 1) // workers - count * piece // workers for piece in range(workers)]
    starts, sent = [], []
    for device, handles in zip(devices, of_workers, strict=True):
        with tf.device(device):
            starts.append(tf.raw_ops.ReadVariableOp(resource=handles.start, dtype=tf.float32))
            change = tf.concat(shared_rows(shape, handles.current), 0) - starts[-1]
            sent.append(tf.split(tf.cast(change, shape.row_type), sizes))
    sums = []
    for piece, device in enumerate(devices):
        with tf.device(device):
            total = tf.add_n([tf.cast(of_worker[piece], tf.float32) for of_worker in sent])
            sums.append(tf.cast(total, shape.row_type))
    done = []
    for device, handles, start in zip(devices, of_workers, starts, strict=True):
        with tf.device(device):
            rows = start + tf.cast(tf.concat([tf.identity(of_piece) for of_piece in sums], 0), tf.float32)
            done.append(tf.add_n(write_shared_rows(shape, handles.current, rows)))
    return tf.add_n(done)


def _average_rows(shape: RoundShape, devices: Sequence[str], of_workers: Sequence[WorkerPiece]) -> tf.Tensor:
    """Set every worker's current rows to the base plus all workers' changes, for a piece of a table's rows.

    Row r belongs to worker r % workers, which adds its changes up in the order of workers and sends the sum to all.
    Return how many rows each worker sent as changes and as sums [workers, 2].
    """
    workers = len(devices)
    sent = []
    for device, of_worker in zip(devices, of_workers, strict=True):
        with tf.device(device):
            sent.append(_changes(shape, of_worker, workers))
    sums = []
    for number, (device, of_worker) in enumerate(zip(devices, of_workers, strict=True)):
        with tf.device(device):
            sums.append(_sum(shape, [messages[number] for messages in sent], of_worker.bounds))
    counts = []
    for number, (device, of_worker) in enumerate(zip(devices, of_workers, strict=True)):
        with tf.device(device):
            written = _write_sums(of_worker.table, sums)
            others = [tf.shape(part)[0] for piece, part in enumerate(sent[number]) if piece != number]
            with tf.control_dependencies([written]):
                counts.append(tf.stack([tf.add_n(others), (workers - 1) * tf.shape(sums[number])[0]]))
    return tf.stack(counts)


def _changes(shape: RoundShape, piece: WorkerPiece, workers: int) -> list[tf.Tensor]:
    """Return a message for each worker, with the changes of the rows that it adds up."""
    table, (first, end) = piece.table, tf.unstack(piece.bounds)
    strengths = strengths_of(table.strengths)[first:end]
    rows = first + tf.cast(tf.where(strengths > 0)[:, 0], tf.int32)
    by_owner = tf.dynamic_partition(rows, rows % workers, workers)
    rows = tf.concat(by_owner, 0)
    change = read_rows(table.current, rows) - read_rows(table.base, rows)
    message = _message(rows, tf.cast(change, shape.row_type))
    of_owners: list[tf.Tensor] = tf.split(message, [tf.size(of_owner) for of_owner in by_owner], num=workers)
    return of_owners


def _message(rows: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Return the numbers of rows and their values [U, D] in one array, because every message has a fixed cost."""
    numbers = tf.bitcast(rows, values.dtype)
    return tf.concat([tf.reshape(numbers, [tf.size(rows), -1]), values], 1)


def _rows_in(message: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the numbers of rows and their values [U, D]."""
    width = 4 // message.dtype.size
    numbers = message[:, :width]
    return tf.bitcast(numbers if width > 1 else numbers[:, 0], tf.int32), message[:, width:]


def _sum(shape: RoundShape, messages: Sequence[tf.Tensor], bounds: tf.Tensor) -> tf.Tensor:
    """Return a message with the sums of changes, for all rows that at least one worker has changed."""
    workers, (first, end) = len(messages), tf.unstack(bounds)
    rows, changes = _rows_in(tf.concat([tf.identity(message) for message in messages], 0))
    places = rows // workers - first // workers
    size = (end - 1) // workers - first // workers + 1
    counts = tf.math.unsorted_segment_sum(tf.ones_like(rows), places, size)
    found = tf.where(counts > 0)[:, 0]
    sums = tf.gather(tf.math.unsorted_segment_sum(tf.cast(changes, tf.float32), places, size), found)
    numbers = tf.gather(tf.math.unsorted_segment_max(rows, places, size), found)
    return _message(numbers, tf.cast(sums, shape.row_type))


def _write_sums(table: TableHandles, messages: Sequence[tf.Tensor]) -> tf.Tensor:
    """Write the base with the sums of changes as a worker's current rows, and mark them as changed."""
    rows, sums = _rows_in(tf.concat([tf.identity(message) for message in messages], 0))
    written = write_rows(table.current, rows, read_rows(table.base, rows) + tf.cast(sums, tf.float32))
    return written + write_rows(table.strengths, rows, tf.ones([tf.size(rows), 1]))

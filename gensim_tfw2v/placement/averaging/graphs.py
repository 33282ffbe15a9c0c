"""What workers do in a round, as graphs: train a part, scale changes, exchange rows with each other, and keep them.

Graphs of one worker have no device of their own: they are called on the worker. Graphs of several workers name the
devices, and TensorFlow sends what goes from one to another. Handles of the tables are arguments, so that one trace
serves all trainings with the same shape.

Each worker has two copies of every table: the base, which all workers have alike since the last round that was whole,
and the current one, which it trains.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.cluster.task import RENEW_LEASE
from gensim_tfw2v.placement.averaging.blocks import OWN_BLOCK, OwnBlock
from gensim_tfw2v.placement.interface import TABLES
from gensim_tfw2v.placement.parameter_servers.block_report import STAGES, BlockReport
from gensim_tfw2v.placement.parameter_servers.concurrent_updates import (
    ConcurrentUpdates,
    Directions,
    Partners,
    scaled_moves,
)
from gensim_tfw2v.placement.parameter_servers.shared_rows import RowSharing, first_shared_row
from gensim_tfw2v.placement.parameter_servers.task_functions import MAKE_OWN_BLOCK, REGISTER_MODEL
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.rows import add_to_rows, read_rows, write_rows
from gensim_tfw2v.steps.signature import Objective, Tables

_NODES = TABLES.index("nodes")


@dataclass(frozen=True)
class RoundShape:
    """What needs traces of its own."""

    objective: Objective
    connection: int  # its number: tasks of a new connection do not have the functions of an older one
    row_type: str  # TensorFlow's name for the numbers that rows travel as
    sharing: RowSharing  # rows that are averaged after every part; none if a worker trains alone

    def tables(self) -> list[int]:
        """Return which of inputs, outputs and nodes the objective trains."""
        used = [True, self.objective.negative_sampling, self.objective.hierarchical_softmax]
        return [number for number, is_used in enumerate(used) if is_used]


class WorkerHandles(NamedTuple):
    """Resource handles of one worker's variables, for each table in use."""

    current: tuple[Any, ...]  # [rows, D]
    base: tuple[Any, ...]  # [rows, D]
    strengths: tuple[Any, ...]  # [rows, 1], summed over the round's parts; more than 0 where a row may have changed
    start: Any  # [T * H, D], shared rows as they were before the part


class WorkerGraphs(NamedTuple):
    """Concrete functions that run on one worker."""

    register_model: Any  # (name, bytes of a `WorkerModel`) → True
    train: Any  # (handles, model's name, assignment, partners) → report, partners
    scale: Any  # (handles, partners, workers) → done
    keep: Any  # (handles) → done


_HANDLE = tf.TensorSpec([], tf.resource)
_DIRECTIONS = Directions(
    tf.TensorSpec([None], tf.float32), tf.TensorSpec([None, None], tf.float32), tf.TensorSpec([], tf.float32)
)
_PARTNERS = Partners(tf.TensorSpec([3], tf.float32), _DIRECTIONS, _DIRECTIONS)
_BYTES = tf.TensorSpec([None], tf.uint8)
_NAME = tf.TensorSpec([], tf.string)


@functools.lru_cache(maxsize=32)
def worker_graphs(shape: RoundShape) -> WorkerGraphs:
    """Return the functions that run on one worker."""
    with sending_graphs():
        # A trace of its own: tasks of a new connection do not have the functions of an older one.
        train_block = block_function.__wrapped__(shape.objective)
        handles = _handle_specs(shape)
        return WorkerGraphs(
            register_model=_concrete(_register_model, _NAME, _BYTES),
            train=_concrete(
                lambda *arguments: _train(shape, train_block, *arguments), handles, _NAME, _BYTES, _PARTNERS
            ),
            scale=_concrete(
                lambda *arguments: _scale(shape, *arguments), handles, _PARTNERS, tf.TensorSpec([], tf.float32)
            ),
            keep=_concrete(lambda handles: _keep(shape, handles), handles),
        )


@functools.lru_cache(maxsize=64)
def shared_rows_graph(shape: RoundShape, devices: tuple[str, ...]) -> Any:
    """Return the function (handles of each worker) → done that averages shared rows."""
    with sending_graphs():
        handles = (_handle_specs(shape),) * len(devices)
        return _concrete(lambda *of_workers: _average_shared_rows(shape, devices, of_workers), *handles)


@functools.lru_cache(maxsize=64)
def rows_graph(shape: RoundShape, devices: tuple[str, ...]) -> Any:
    """Return the function (a `TableHandles` for each worker, first row, end) → counts that averages a table's rows."""
    with sending_graphs():
        handles = (TableHandles(_HANDLE, _HANDLE, _HANDLE),) * len(devices)
        row = tf.TensorSpec([], tf.int32)
        return _concrete(
            lambda *arguments: _average_rows(shape, devices, arguments[:-2], *arguments[-2:]), *handles, row, row
        )


for _graphs in (worker_graphs, shared_rows_graph, rows_graph):
    call_on_disconnect(_graphs.cache_clear)


def _concrete(function: Any, *signature: Any) -> Any:
    return tf.function(function, autograph=False, input_signature=signature).get_concrete_function()


def _handle_specs(shape: RoundShape) -> WorkerHandles:
    of_tables = (_HANDLE,) * len(shape.tables())
    return WorkerHandles(of_tables, of_tables, of_tables, _HANDLE)


def _register_model(name: tf.Tensor, model: tf.Tensor) -> tf.Tensor:
    return remote_functions.call(REGISTER_MODEL, [name, model], [tf.bool])[0]


# -- on one worker -----------------------------------------------------------------------------------------------------


def _train(
    shape: RoundShape, train_block: Any, handles: WorkerHandles, name: tf.Tensor, assignment: tf.Tensor, given: Partners
) -> tuple[tf.Tensor, Partners]:
    """Make a part's block, train it on the current tables, and return the report and the partners' directions."""
    began = tf.timestamp()
    with tf.control_dependencies([began]):
        block = _make_block(name, assignment)
    with tf.control_dependencies([block.tokens]):
        made = tf.timestamp()
    updates = ConcurrentUpdates(block.hot_rows, shape.objective, shape.sharing, given)
    starts = _shared(shape, handles.current) if shape.sharing.rows else []
    probes = _probes(shape, handles, updates)
    with tf.control_dependencies([made, *starts, probes]):
        batches: BatchMetrics = train_block(
            _tables(shape, handles), block.block, block.rates, block.lookups, tf.stack([0, tf.size(block.pairs)])
        )
    with tf.control_dependencies(list(batches)):
        done = [_add_strengths(shape, handles, block)]
        if starts:
            done.append(_scale_shared_rows(shape, handles, updates, starts, probes))
        (renewed,) = remote_functions.call(RENEW_LEASE, [block.lease_key], [tf.float64])
    with tf.control_dependencies([*done, renewed]):
        trained = tf.timestamp()
    return _report(block, batches, tf.stack([made - began, 0.0, trained - made, 0.0])), updates.partners


def _make_block(name: tf.Tensor, assignment: tf.Tensor) -> OwnBlock:
    """Return the block as the worker's Python makes it."""
    specs = tf.nest.flatten(OWN_BLOCK)
    found = remote_functions.call(MAKE_OWN_BLOCK, [name, assignment], [spec.dtype for spec in specs])
    for tensor, spec in zip(found, specs, strict=True):
        tensor.set_shape(spec.shape)
    block: OwnBlock = tf.nest.pack_sequence_as(OWN_BLOCK, found)
    return block


def _tables(shape: RoundShape, handles: WorkerHandles) -> Tables:
    """Return the current tables; the inputs also stand for tables that the objective does not use."""
    of_tables = dict(zip(shape.tables(), handles.current, strict=True))
    return Tables(*(of_tables.get(table, handles.current[0]) for table in range(len(TABLES))))


def _shared_ids(shape: RoundShape, table: int, handle: tf.Tensor) -> tf.Tensor:
    """Return the shared rows of a table: those of the most frequent words, or the tree's first nodes."""
    count = shape.sharing.rows
    size = tf.raw_ops.VariableShape(input=handle)[0]
    return tf.range(count) + first_shared_row(size, count, are_nodes=table == _NODES)


def _shared(shape: RoundShape, handles: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the shared rows [H, D] of each table."""
    return [
        read_rows(handle, _shared_ids(shape, table, handle))
        for table, handle in zip(shape.tables(), handles, strict=True)
    ]


def _write_shared(shape: RoundShape, handles: Sequence[tf.Tensor], values: tf.Tensor) -> list[tf.Tensor]:
    """Write the shared rows [T * H, D] of all tables."""
    of_tables = zip(shape.tables(), handles, tf.split(values, len(handles)), strict=True)
    return [write_rows(handle, _shared_ids(shape, table, handle), rows) for table, handle, rows in of_tables]


def _probes(shape: RoundShape, handles: WorkerHandles, updates: ConcurrentUpdates) -> tf.Tensor:
    """Return the probe rows of all tables, from which the partners' directions follow."""
    rows = tf.split(updates.probe_rows, updates.probe_counts, num=len(TABLES))
    return tf.concat(
        [read_rows(handle, rows[table]) for table, handle in zip(shape.tables(), handles.current, strict=True)], 0
    )


def _add_strengths(shape: RoundShape, handles: WorkerHandles, block: OwnBlock) -> tf.Tensor:
    """Add a part's strengths to those of the round."""
    trained = block.trained
    rows = tf.split(trained.rows, trained.counts, num=len(TABLES))
    strengths = tf.split(trained.strengths[:, None], trained.counts, num=len(TABLES))
    return tf.add_n(
        [
            add_to_rows(handle, rows[table], strengths[table])
            for table, handle in zip(shape.tables(), handles.strengths, strict=True)
        ]
    )


def _scale_shared_rows(
    shape: RoundShape, handles: WorkerHandles, updates: ConcurrentUpdates, starts: list[tf.Tensor], probes: tf.Tensor
) -> tf.Tensor:
    """Scale the part's changes of shared rows, and keep the rows from which they began."""
    start = tf.concat(starts, 0)
    moved = tf.concat(_shared(shape, handles.current), 0) - start
    kept = start + updates.of_part(moved, probes)
    with tf.control_dependencies([tf.raw_ops.AssignVariableOp(resource=handles.start, value=start)]):
        return tf.add_n(_write_shared(shape, handles.current, kept))


def _report(block: OwnBlock, batches: BatchMetrics, seconds: tf.Tensor) -> tf.Tensor:
    assert len(STAGES) == 4
    return BlockReport(
        tokens=block.tokens,
        staleness=0,
        is_accepted=1,
        seconds=seconds,
        rows=block.trained.counts,
        most_moved=tf.constant([-1.0, 0.0], tf.float64),
        worker=block.metrics,
        servers=tf.zeros([0], tf.float64),
        batches=batches,
        measured=block.rates.measured,
        pairs=block.pairs,
    ).to_tensor()


def _scale(shape: RoundShape, handles: WorkerHandles, partners: Partners, workers: tf.Tensor) -> tf.Tensor:
    """Scale a worker's changes of the rows that it has trained most in the round."""
    written = []
    of_tables = zip(handles.current, handles.base, handles.strengths, strict=True)
    for number, (current, base, strengths) in enumerate(of_tables):
        found = _strengths(strengths)
        most, rows = tf.math.top_k(found, tf.minimum(tf.size(found), tuning.MOST_HOT_ROWS))
        is_trained = most > 0
        most, rows = tf.boolean_mask(most, is_trained), tf.boolean_mask(rows, is_trained)
        before = read_rows(base, rows)
        of_table = partners.of_others if number else partners.of_inputs
        moved = scaled_moves(read_rows(current, rows) - before, most, of_table, workers)
        written.append(write_rows(current, rows, before + moved))
    return tf.add_n(written)


def _strengths(handle: tf.Tensor) -> tf.Tensor:
    """Return the strengths [rows] of a table's rows."""
    found = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
    return tf.ensure_shape(found, [None, 1])[:, 0]


def _keep(shape: RoundShape, handles: WorkerHandles) -> tf.Tensor:
    """Make the current rows the base, and begin a round without changes."""
    written = []
    for current, base, strengths in zip(handles.current, handles.base, handles.strengths, strict=True):
        found = _strengths(strengths)
        rows = tf.cast(tf.where(found > 0)[:, 0], tf.int32)
        written.append(write_rows(base, rows, read_rows(current, rows)))
        with tf.control_dependencies([rows]):
            written.append(write_rows(strengths, rows, tf.zeros([tf.size(rows), 1])))
    if shape.sharing.rows:
        written += _write_shared(shape, handles.base, tf.concat(_shared(shape, handles.current), 0))
    return tf.add_n(written)


# -- on several workers ------------------------------------------------------------------------------------------------


class TableHandles(NamedTuple):
    """Resource handles of one table of one worker."""

    current: Any
    base: Any
    strengths: Any


def _average_shared_rows(shape: RoundShape, devices: Sequence[str], of_workers: Sequence[WorkerHandles]) -> tf.Tensor:
    """Add all workers' changes of shared rows to the rows from which they began, on every worker.

    Worker p adds up piece p of the rows, in the order of workers, and sends the sum to all.
    """
    count, workers = shape.sharing.rows * len(shape.tables()), len(devices)
    sizes = [count * (piece + 1) // workers - count * piece // workers for piece in range(workers)]
    starts, sent = [], []
    for device, handles in zip(devices, of_workers, strict=True):
        with tf.device(device):
            starts.append(tf.raw_ops.ReadVariableOp(resource=handles.start, dtype=tf.float32))
            change = tf.concat(_shared(shape, handles.current), 0) - starts[-1]
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
            done.append(tf.add_n(_write_shared(shape, handles.current, rows)))
    with tf.device(devices[0]):
        return tf.add_n(done)


def _average_rows(
    shape: RoundShape, devices: Sequence[str], of_workers: Sequence[TableHandles], first: tf.Tensor, end: tf.Tensor
) -> tf.Tensor:
    """Add all workers' changes of a table's rows from `first` to `end` to the base, as the current rows of each.

    Row r belongs to worker r % workers, which adds its changes up in the order of workers and sends the sum to all.
    Return, for each worker, the rows that it sent as changes and as sums [workers, 2].
    """
    workers = len(devices)
    sent = []
    for device, table in zip(devices, of_workers, strict=True):
        with tf.device(device):
            sent.append(_changes(shape, table, tf.identity(first), tf.identity(end), workers))
    sums = []
    for piece, device in enumerate(devices):
        with tf.device(device):
            sums.append(_sum(shape, [of_worker[piece] for of_worker in sent], tf.identity(first), tf.identity(end)))
    counts = []
    for number, (device, table) in enumerate(zip(devices, of_workers, strict=True)):
        with tf.device(device):
            written = _write_sums(shape, table, sums)
            others = [tf.shape(part)[0] for piece, part in enumerate(sent[number]) if piece != number]
            with tf.control_dependencies([written]):
                counts.append(tf.stack([tf.add_n(others), (workers - 1) * tf.shape(sums[number])[0]]))
    with tf.device(devices[0]):
        return tf.stack(counts)


def _changes(shape: RoundShape, table: TableHandles, first: tf.Tensor, end: tf.Tensor, workers: int) -> list[tf.Tensor]:
    """Return for each worker that adds rows up a message with changes of its rows."""
    strengths = _strengths(table.strengths)[first:end]
    rows = first + tf.cast(tf.where(strengths > 0)[:, 0], tf.int32)
    by_owner = tf.dynamic_partition(rows, rows % workers, workers)
    rows = tf.concat(by_owner, 0)
    change = read_rows(table.current, rows) - read_rows(table.base, rows)
    message = _message(rows, tf.cast(change, shape.row_type))
    return tf.split(message, [tf.size(of_owner) for of_owner in by_owner], num=workers)


def _message(rows: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Return the numbers of rows and their values [U, D] in one array: a message has costs of its own."""
    numbers = tf.bitcast(rows, values.dtype)
    return tf.concat([tf.reshape(numbers, [tf.size(rows), -1]), values], 1)


def _rows_in(message: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the numbers of rows and their values [U, D]."""
    width = 4 // message.dtype.size
    numbers = message[:, :width]
    return tf.bitcast(numbers if width > 1 else numbers[:, 0], tf.int32), message[:, width:]


def _sum(shape: RoundShape, messages: Sequence[tf.Tensor], first: tf.Tensor, end: tf.Tensor) -> tf.Tensor:
    """Return a message with the sums of changes, for all rows that one worker at least has changed."""
    workers = len(messages)
    rows, changes = _rows_in(tf.concat([tf.identity(message) for message in messages], 0))
    places = rows // workers - first // workers
    size = (end - 1) // workers - first // workers + 1
    counts = tf.math.unsorted_segment_sum(tf.ones_like(rows), places, size)
    found = tf.where(counts > 0)[:, 0]
    sums = tf.gather(tf.math.unsorted_segment_sum(tf.cast(changes, tf.float32), places, size), found)
    numbers = tf.gather(tf.math.unsorted_segment_max(rows, places, size), found)
    return _message(numbers, tf.cast(sums, shape.row_type))


def _write_sums(shape: RoundShape, table: TableHandles, messages: Sequence[tf.Tensor]) -> tf.Tensor:
    """Write the base with the sums of changes as a worker's current rows, and mark them as changed."""
    rows, sums = _rows_in(tf.concat([tf.identity(message) for message in messages], 0))
    written = write_rows(table.current, rows, read_rows(table.base, rows) + tf.cast(sums, tf.float32))
    return written + write_rows(table.strengths, rows, tf.ones([tf.size(rows), 1]))

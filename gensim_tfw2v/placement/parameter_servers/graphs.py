"""What a worker does with a chunk, as graphs: stage (make its block, pull rows) and finish (train, push changes).

They are traced once for an objective and a cluster: tables are handed over as handles of the servers' variables. A
worker does both in a single call, as each call costs every task milliseconds; one that is a block ahead finishes one
block and stages the next side by side.

Each edge from one task's device to another's is a message, control dependencies included. So what happens on a server
depends on nothing but what is sent there anyway, and a worker waits for nothing but what it needs anyway.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import call_on_disconnect, check_for_new_graphs, device
from gensim_tfw2v.cluster.task import RENEW_LEASE
from gensim_tfw2v.cluster.task_metrics import NAMES
from gensim_tfw2v.placement.parameter_servers.codec import STAGED_BLOCK, BlockRows, StagedBlock
from gensim_tfw2v.placement.parameter_servers.concurrent_updates import ConcurrentUpdates
from gensim_tfw2v.placement.parameter_servers.shared_rows import RowSharing, first_shared_row
from gensim_tfw2v.placement.parameter_servers.task_functions import MAKE_BLOCK, REGISTER_MODEL
from gensim_tfw2v.steps.arguments import pair_lookups
from gensim_tfw2v.steps.graph import (
    Objective,
    Tables,
    add_to_rows,
    block_function,
    private_copy,
    read_rows,
    write_rows,
)


@dataclass(frozen=True)
class GraphShape:
    """What needs traces of its own."""

    objective: Objective
    shards: int
    servers: int
    connection: int  # its number: a new one knows none of the old one's functions
    overlap: bool  # workers stage their next block while they finish one
    row_type: str  # of numbers on their way between tasks, as TensorFlow names it
    sharing: RowSharing

    def tables(self) -> list[int]:
        """Return which of inputs, outputs and nodes the objective trains."""
        used = [True, self.objective.negative_sampling, self.objective.hierarchical_softmax]
        return [number for number, is_used in enumerate(used) if is_used]

    def device_of(self, shard: int) -> str:
        """Return the device that has a shard of every table."""
        return device("ps", shard % self.servers)


class Handles(NamedTuple):
    """Resource handles on the servers."""

    tables: tuple[tuple[Any, ...], ...]  # shards of each table in use
    version: Any  # blocks pushed so far, on the first server


class Request(NamedTuple):
    """A chunk on its way to a worker."""

    model: Any  # its name
    assignment: Any  # a `wire.Assignment` as an array


class Staged(NamedTuple):
    """A block that waits on its worker with the rows it needs."""

    block: StagedBlock
    messages: tuple[Any, ...]  # what each shard is told of its rows
    start: Any  # its rows [U, D]
    version: Any  # when the rows were pulled
    seconds: Any  # [2], of making the block and of pulling


def _spec(shape: list[int | None], dtype: Any) -> tf.TensorSpec:
    return tf.TensorSpec(shape, dtype)


REQUEST = Request(_spec([], tf.string), _spec([None], tf.int32))
_TABLES, _NODES = 3, 2
# A finished block's report begins with these numbers, then figures of each server, and of each batch
# its loss, bounded rows, whether it was measured, pairs and touched rows.
REPORT_HEAD = (
    "tokens", "staleness", "make_seconds", "pull_seconds", "compute_seconds", "push_seconds",
    "input_rows", "output_rows", "node_rows", *NAMES,
)  # fmt: skip


class WorkerGraphs(NamedTuple):
    """Concrete functions: the second without overlap, the others with it."""

    register_model: Any  # (name, handle of a `WorkerModel`'s bytes on the first server) → True
    train: Any = None  # (handles, request) → report
    stage: Any = None  # (handles, request) → staged
    finish: Any = None  # (handles, staged) → report
    finish_and_stage: Any = None  # (handles, staged, request) → report, staged


@functools.lru_cache(maxsize=32)
def worker_graphs(shape: GraphShape) -> WorkerGraphs:
    """Return the functions that run on workers."""
    check_for_new_graphs()
    # A trace of its own: the servers of a new connection are not told of functions that an older one knew.
    train_block = block_function.__wrapped__(shape.objective)
    handle = _spec([], tf.resource)
    handles = Handles(tuple((handle,) * shape.shards for _ in shape.tables()), handle)
    staged = Staged(
        STAGED_BLOCK,
        tuple(_spec([None], tf.int32) for _ in range(shape.shards)),
        _spec([None, None], tf.float32),
        _spec([], tf.float64),
        _spec([2], tf.float64),
    )

    def register_model(name: tf.Tensor, model: tf.Tensor) -> tf.Tensor:
        with tf.device(device("ps", 0)):
            found = tf.raw_ops.ReadVariableOp(resource=model, dtype=tf.uint8)
        return remote_functions.call(REGISTER_MODEL, [name, found], [tf.bool])[0]

    def stage(handles: Handles, request: Request) -> Staged:
        return _stage(shape, handles, request)

    def finish(handles: Handles, staged: Staged) -> tf.Tensor:
        return _finish(shape, train_block, handles, staged)

    def train(handles: Handles, request: Request) -> tf.Tensor:
        return _finish(shape, train_block, handles, _stage(shape, handles, request))

    def finish_and_stage(handles: Handles, staged: Staged, request: Request) -> tuple[tf.Tensor, Staged]:
        following = _stage(shape, handles, request)  # first, so that its reads need not wait for the push
        return _finish(shape, train_block, handles, staged), following

    def concrete(function: Any, *signature: Any) -> Any:
        return tf.function(function, autograph=False, input_signature=signature).get_concrete_function()

    introduction = concrete(register_model, REQUEST.model, handle)
    if not shape.overlap:
        return WorkerGraphs(introduction, train=concrete(train, handles, REQUEST))
    return WorkerGraphs(
        introduction,
        stage=concrete(stage, handles, REQUEST),
        finish=concrete(finish, handles, staged),
        finish_and_stage=concrete(finish_and_stage, handles, staged, REQUEST),
    )


call_on_disconnect(worker_graphs.cache_clear)


def _stage(shape: GraphShape, handles: Handles, request: Request) -> Staged:
    began = tf.timestamp()
    with tf.control_dependencies([began]):
        block = _make_block(request)
    with tf.control_dependencies([block.tokens]):
        made = tf.timestamp()
    messages = _messages(shape, request.assignment[:1], block.rows)
    start, version = _pull(shape, handles, messages)
    with tf.control_dependencies([start]):
        pulled = tf.timestamp()
    return Staged(block, messages, start, version, tf.stack([made - began, pulled - made]))


def _make_block(request: Request) -> StagedBlock:
    """Return the block as the worker's Python makes it."""
    specs = tf.nest.flatten(STAGED_BLOCK)
    found = remote_functions.call(MAKE_BLOCK, request, [spec.dtype for spec in specs])
    for tensor, spec in zip(found, specs, strict=True):
        tensor.set_shape(spec.shape)
    block: StagedBlock = tf.nest.pack_sequence_as(STAGED_BLOCK, found)
    return block


def _messages(shape: GraphShape, run: tf.Tensor, rows: BlockRows) -> tuple[tf.Tensor, ...]:
    """Return what each shard is told, in one array: the run's key, how many rows of each table, and which."""
    numbers = tf.split(rows.numbers, tf.reduce_sum(rows.counts, 1), num=shape.shards)
    return tuple(tf.concat([run, rows.counts[shard], numbers[shard]], 0) for shard in range(shape.shards))


def _rows_of_tables(shape: GraphShape, message: tf.Tensor) -> list[tf.Tensor]:
    """Return the rows that a shard is told of, for each table in use."""
    head = 1 + _TABLES
    of_tables = tf.split(message[head:], message[1:head], num=_TABLES)
    return [of_tables[table] for table in shape.tables()]


def _pull(shape: GraphShape, handles: Handles, messages: Sequence[tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the rows [U, D], and how many blocks had been pushed when they were read."""
    pulled = []
    version = tf.constant(0.0, tf.float64)
    for shard, message in enumerate(messages):
        with tf.device(shape.device_of(shard)):
            wanted = _rows_of_tables(shape, message)
            if shard == 0:
                with tf.control_dependencies(wanted):
                    version = tf.cast(tf.raw_ops.ReadVariableOp(resource=handles.version, dtype=tf.int64), tf.float64)
            places = zip((table[shard] for table in handles.tables), wanted, strict=True)
            pulled.append(tf.concat([read_rows(*place, shape.row_type) for place in places], 0))
    return tf.cast(tf.concat(pulled, 0), tf.float32), version


def _finish(shape: GraphShape, train_block: Any, handles: Handles, staged: Staged) -> tf.Tensor:
    with tf.control_dependencies([staged.start]):
        began = tf.timestamp()
    with tf.control_dependencies([began]):
        figures, change = _Training(shape, train_block, handles, staged).run()
    with tf.control_dependencies([*figures, change]):
        trained = tf.timestamp()
    servers = _push(shape, handles, staged.block.rows, staged.messages, change)
    with tf.control_dependencies([servers]):
        pushed = tf.timestamp()
    return _report(staged, figures, servers, tf.stack([trained - began, pushed - trained]))


class _Training:
    """A block's steps on a worker's own copy of its rows, part by part.

    Parameters
    ----------
    train_block : callable
        The steps of a span of batches, with a trace of its own.
    """

    def __init__(self, shape: GraphShape, train_block: Any, handles: Handles, staged: Staged) -> None:
        block = staged.block
        self._shape, self._train_block, self._handles, self._staged = shape, train_block, handles, staged
        self._rivalry = ConcurrentUpdates(block.hot_rows, shape.objective, shape.sharing)
        self._lookups = pair_lookups(
            shape.objective,
            block.block.window,
            block.run_tokens,
            block.rates.shared_negatives,
            block.rates.negative,
            block.rates.radius_chance,
        )
        self._own = _private_variable(staged.start)
        rivalry = self._rivalry
        # As they were when the part began: common rows [T * H, D], and those that tell directions.
        self._common, self._probes = (
            tf.gather(staged.start, rows) for rows in (rivalry.shared_rows, rivalry.probe_rows)
        )

    def run(self) -> tuple[BatchMetrics, tf.Tensor]:
        """Return the figures of the block's batches, and the changes [U, D] that are still to be pushed after them."""
        *others, last = range(self._shape.sharing.parts)
        figures = []
        for part in others:
            figures.append(self._train_part(part))
            self._share(figures[-1])
        figures.append(self._train_part(last))
        of_block = BatchMetrics(*(tf.concat(values, 0) for values in zip(*figures, strict=True)))
        return of_block, self._end_after(figures[-1]) - self._staged.start

    def _train_part(self, part: int) -> BatchMetrics:
        """Return the figures of a part's batches."""
        block = self._staged.block
        span = tf.stack(self._shape.sharing.span(part, tf.size(block.pairs)))
        tables = Tables(self._own, self._own, self._own)
        with tf.control_dependencies([self._common, self._probes]):
            figures: BatchMetrics = self._train_block(tables, block.block, block.rates, self._lookups, span)
        return figures

    def _share(self, trained: BatchMetrics) -> None:
        """Push what a part has changed common rows by, and go on with what they have become."""
        rivalry, order = self._rivalry, self._staged.block.shared_order
        with tf.control_dependencies(list(trained)):
            moved = read_rows(self._own, rivalry.shared_rows) - self._common
        kept = rivalry.of_part(moved, self._probes)
        shared = _add_to_common(self._shape, self._handles, tf.gather(kept, order))
        with tf.control_dependencies([moved]):
            written = write_rows(self._own, tf.gather(rivalry.shared_rows, order), shared)
        with tf.control_dependencies([written]):
            self._common, self._probes = (
                read_rows(self._own, rows) for rows in (rivalry.shared_rows, rivalry.probe_rows)
            )

    def _end_after(self, trained: BatchMetrics) -> tf.Tensor:
        """Return the rows [U, D] as they may have become after the last part, and leave nothing else of them."""
        rivalry, start = self._rivalry, self._staged.start
        with tf.control_dependencies(list(trained)):
            common = read_rows(self._own, rivalry.shared_rows) - self._common
            ends = [read_rows(self._own, rows) for rows in rivalry.rows]
        starts = [tf.gather(start, rows) for rows in rivalry.rows]
        moves = [after - before for after, before in zip(ends, starts, strict=True)]
        kept = rivalry.of_block(moves, common, self._probes)
        written = [
            write_rows(self._own, rows, before + may_move)
            for rows, before, may_move in zip(rivalry.rows, starts, kept, strict=True)
        ]
        with tf.control_dependencies(written):
            end = tf.raw_ops.ReadVariableOp(resource=self._own, dtype=tf.float32)
        with tf.control_dependencies([end]):
            freed = tf.raw_ops.DestroyResourceOp(resource=self._own)
        with tf.control_dependencies([freed]):
            return tf.identity(end)


def _add_to_common(shape: GraphShape, handles: Handles, change: tf.Tensor) -> tf.Tensor:
    """Add the changes [T * H, D] of common rows, by shard, to what the servers have, and return what that comes to."""
    tables = shape.tables()
    shared = []
    for shard, moves in enumerate(tf.split(tf.cast(change, shape.row_type), shape.shards)):
        with tf.device(shape.device_of(shard)):
            of_tables = tf.split(moves, len(tables))
            found = []
            for number, shards, updates in zip(tables, handles.tables, of_tables, strict=True):
                table = shards[shard]
                size, count = tf.raw_ops.VariableShape(input=table)[0], tf.shape(updates)[0]
                rows = tf.range(count) + first_shared_row(size, count, are_nodes=number == _NODES)
                with tf.control_dependencies([add_to_rows(table, rows, updates)]):
                    found.append(read_rows(table, rows, shape.row_type))
            shared.append(tf.concat(found, 0))
    return tf.cast(tf.concat(shared, 0), tf.float32)


def _private_variable(value: tf.Tensor) -> tf.Tensor:
    """Return the handle of a variable that nothing else knows, and that must be destroyed."""
    from tensorflow.python.eager import context

    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[None, None], shared_name=context.anonymous_name())
    with tf.control_dependencies([tf.raw_ops.AssignVariableOp(resource=handle, value=private_copy(value))]):
        return tf.identity(handle)


def _push(
    shape: GraphShape, handles: Handles, rows: BlockRows, messages: Sequence[tf.Tensor], change: tf.Tensor
) -> tf.Tensor:
    """Add the changes [U, D] to what the servers have by now, and return what each server says of itself.

    That is how many blocks were pushed before this one, 0 but on the first server, and the server's figures.
    """
    pushes: list[list[tf.Tensor]] = [[] for _ in range(shape.servers)]
    changes = tf.split(tf.cast(change, shape.row_type), tf.reduce_sum(rows.counts, 1), num=shape.shards)
    for shard, (message, updates) in enumerate(zip(messages, changes, strict=True)):
        with tf.device(shape.device_of(shard)):
            wanted = _rows_of_tables(shape, message)
            sizes = [tf.size(numbers) for numbers in wanted]
            of_tables = tf.split(updates, sizes, num=len(wanted))
            pushes[shard % shape.servers] += [
                add_to_rows(table[shard], numbers, part)
                for table, numbers, part in zip(handles.tables, wanted, of_tables, strict=True)
            ]
    said = []
    for server in range(shape.servers):
        with tf.device(device("ps", server)), tf.control_dependencies(pushes[server]):
            version = tf.constant(0, tf.int64)
            if server == 0:
                version = tf.raw_ops.ReadVariableOp(resource=handles.version, dtype=tf.int64)
            (figures,) = remote_functions.call(RENEW_LEASE, [messages[server][0]], [tf.float64])
            figures.set_shape([len(NAMES)])
            counted = []
            if server == 0:
                with tf.control_dependencies([version]):
                    one = tf.constant(1, tf.int64)
                    counted = [tf.raw_ops.AssignAddVariableOp(resource=handles.version, value=one)]
            with tf.control_dependencies(counted):
                said.append(tf.concat([[tf.cast(version, tf.float64)], figures], 0))
    return tf.stack(said)


def _report(staged: Staged, figures: BatchMetrics, servers: tf.Tensor, seconds: tf.Tensor) -> tf.Tensor:
    """Return all that the coordinator wants to know in one tensor, so that one answer brings it."""
    block = staged.block
    staleness = servers[0, 0] - staged.version
    parts = [
        tf.stack([tf.cast(block.tokens, tf.float64), staleness]),
        staged.seconds,
        seconds,
        tf.cast(tf.reduce_sum(block.rows.counts, 0), tf.float64),
        block.figures,
        tf.reshape(servers[:, 1:], [-1]),
        *(tf.cast(values, tf.float64) for values in (*figures, block.rates.measured, block.pairs)),
    ]
    return tf.concat(parts, 0)

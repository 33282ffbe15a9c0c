"""What a worker does with a chunk, as graphs: stage (make its block, pull rows) and finish (train, push changes).

They are traced once for an objective and a cluster: tables are handed over as handles of the servers' variables. A
worker does both in a single call, as each call costs every task milliseconds; one that is a block ahead finishes one
block and stages the next side by side.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.cluster import python_ops
from gensim_tfw2v.cluster.connection import check_for_new_graphs, device
from gensim_tfw2v.cluster.task_figures import NAMES
from gensim_tfw2v.cluster.task_functions import KNOWS_MODEL, MAKE_BLOCK, TOUCH_RUN
from gensim_tfw2v.cluster.wire import STAGED_BLOCK, StagedBlock
from gensim_tfw2v.graph_arguments import pair_lookups
from gensim_tfw2v.steps import Figures, Objective, Tables, block_function
from gensim_tfw2v.updates import bounded_steps


@dataclass(frozen=True)
class GraphShape:
    """What needs traces of its own."""

    objective: Objective
    shards: int
    servers: int
    connection: int  # its number: a new one knows none of the old one's functions
    overlap: bool  # workers stage their next block while they finish one

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
    model: Any  # bytes of a `WorkerModel`, on the first server
    version: Any  # blocks pushed so far, on the first server


class Request(NamedTuple):
    """A chunk on its way to a worker."""

    run: Any  # names the tables
    model: Any  # names the model
    ids: Any
    lengths: Any
    entropy: Any
    rates: Any  # [2], first and last
    flags: Any  # [3], exact_loss, shards, rivals
    span: Any  # of an encoded corpus, which the worker reads; empty if ids are sent


class Staged(NamedTuple):
    """A block that waits on its worker with the rows it needs."""

    block: StagedBlock
    run: Any
    starts: tuple[Any, ...]  # rows [U, D] of each table in use
    version: Any  # when the rows were pulled
    seconds: Any  # [2], of making the block and of pulling


def _spec(shape: list[int | None], dtype: Any) -> tf.TensorSpec:
    return tf.TensorSpec(shape, dtype)


REQUEST = Request(
    _spec([], tf.string),
    _spec([], tf.string),
    _spec([None], tf.int32),
    _spec([None], tf.int32),
    _spec([None], tf.int64),
    _spec([2], tf.float64),
    _spec([3], tf.int32),
    _spec([None], tf.int64),
)
# A finished block's report begins with these numbers, then figures of each server, and of each batch
# its loss, bounded rows, whether it was measured, pairs and touched rows.
REPORT_HEAD = (
    "tokens", "staleness", "make_seconds", "pull_seconds", "compute_seconds", "push_seconds",
    "input_rows", "output_rows", "node_rows", *NAMES,
)  # fmt: skip


class WorkerGraphs(NamedTuple):
    """Concrete functions: the first without overlap, the others with it."""

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
    handles = Handles(tuple((handle,) * shape.shards for _ in shape.tables()), handle, handle)
    staged = Staged(
        STAGED_BLOCK,
        REQUEST.run,
        tuple(_spec([None, None], tf.float32) for _ in shape.tables()),
        _spec([], tf.int64),
        _spec([2], tf.float64),
    )

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

    if not shape.overlap:
        return WorkerGraphs(train=concrete(train, handles, REQUEST))
    return WorkerGraphs(
        stage=concrete(stage, handles, REQUEST),
        finish=concrete(finish, handles, staged),
        finish_and_stage=concrete(finish_and_stage, handles, staged, REQUEST),
    )


def _stage(shape: GraphShape, handles: Handles, request: Request) -> Staged:
    began = tf.timestamp()
    with tf.control_dependencies([began]):
        block = _make_block(handles, request)
    with tf.control_dependencies([block.tokens]):
        made = tf.timestamp()
    with tf.control_dependencies([made]), tf.device(device("ps", 0)):
        version = tf.raw_ops.ReadVariableOp(resource=handles.version, dtype=tf.int64)
    starts = tuple(
        _pull(shape, shards, block.tables[table].rows, block.tables[table].counts)
        for table, shards in zip(shape.tables(), handles.tables, strict=True)
    )
    with tf.control_dependencies(starts):
        pulled = tf.timestamp()
    return Staged(block, tf.identity(request.run), starts, version, tf.stack([made - began, pulled - made]))


def _make_block(handles: Handles, request: Request) -> StagedBlock:
    """Return the block as the worker's Python makes it, which is told of the model if it does not know it yet."""
    (known,) = python_ops.call(KNOWS_MODEL, [request.model], [tf.bool])
    known.set_shape([])

    def ask() -> tf.Tensor:
        with tf.device(device("ps", 0)):
            return tf.raw_ops.ReadVariableOp(resource=handles.model, dtype=tf.uint8)

    model = tf.cond(known, lambda: tf.zeros([0], tf.uint8), ask)
    specs = tf.nest.flatten(STAGED_BLOCK)
    arguments = [request.model, model, *request[2:]]
    found = python_ops.call(MAKE_BLOCK, arguments, [spec.dtype for spec in specs])
    for tensor, spec in zip(found, specs, strict=True):
        tensor.set_shape(spec.shape)
    block: StagedBlock = tf.nest.pack_sequence_as(STAGED_BLOCK, found)
    return block


def _pull(shape: GraphShape, shards: Sequence[Any], rows: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
    """Return the rows [U, D] of a table, those of its first shard first."""
    pulled = []
    for shard, wanted in enumerate(tf.split(rows, counts, num=shape.shards)):
        with tf.device(shape.device_of(shard)):
            pulled.append(tf.raw_ops.ResourceGather(resource=shards[shard], indices=wanted, dtype=tf.float32))
    return tf.concat(pulled, 0)


def _finish(shape: GraphShape, train_block: Any, handles: Handles, staged: Staged) -> tf.Tensor:
    with tf.control_dependencies(staged.starts):
        began = tf.timestamp()
    with tf.control_dependencies([began]):
        figures, ends = _train(shape, train_block, staged)
    with tf.control_dependencies([*figures, *ends]):
        trained = tf.timestamp()
    pushes = [
        push
        for number, table in enumerate(shape.tables())
        for push in _push(
            shape,
            handles.tables[number],
            staged.block.tables[table],
            bounded_steps(ends[number] - staged.starts[number], tf.constant(1.0), staged.block.push_bounds[table]),
        )
    ]
    with tf.control_dependencies(pushes):
        pushed = tf.timestamp()
    version, servers = _count(shape, handles, staged, pushes)
    return _report(staged, figures, version, servers, tf.stack([trained - began, pushed - trained]))


def _train(shape: GraphShape, train_block: Any, staged: Staged) -> tuple[Figures, list[tf.Tensor]]:
    """Return the figures of a block's batches and the rows as they are after them."""
    block = staged.block
    variables = [_private_variable(start) for start in staged.starts]
    own = dict(zip(shape.tables(), variables, strict=True))
    tables = Tables(*(own.get(table, variables[0]) for table in range(3)))  # the first stands in for unused ones
    lookups = pair_lookups(
        shape.objective,
        block.block.window,
        block.run_tokens,
        block.rates.shared_negatives,
        block.rates.negative,
    )
    figures = train_block(tables, block.block, block.rates, lookups)
    with tf.control_dependencies(list(figures)):
        ends = [tf.raw_ops.ReadVariableOp(resource=variable, dtype=tf.float32) for variable in variables]
    with tf.control_dependencies(ends):
        freed = [tf.raw_ops.DestroyResourceOp(resource=variable) for variable in variables]
    with tf.control_dependencies(freed):
        return Figures(*map(tf.identity, figures)), [tf.identity(end) for end in ends]


def _private_variable(value: tf.Tensor) -> tf.Tensor:
    """Return the handle of a variable that nothing else knows, and that must be destroyed."""
    from tensorflow.python.eager import context

    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[None, None], shared_name=context.anonymous_name())
    with tf.control_dependencies([tf.raw_ops.AssignVariableOp(resource=handle, value=value)]):
        return tf.identity(handle)


def _push(shape: GraphShape, shards: Sequence[Any], rows: Any, change: tf.Tensor) -> list[tf.Operation]:
    """Add the changes of a table's rows to what the servers have by now."""
    pushes = []
    rows_of_shards, change_of_shards = (
        tf.split(tensor, rows.counts, num=shape.shards) for tensor in (rows.rows, change)
    )
    for shard, (indices, updates) in enumerate(zip(rows_of_shards, change_of_shards, strict=True)):
        with tf.device(shape.device_of(shard)):
            pushes.append(tf.raw_ops.ResourceScatterAdd(resource=shards[shard], indices=indices, updates=updates))
    return pushes


def _count(shape: GraphShape, handles: Handles, staged: Staged, pushes: list[Any]) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Return how many blocks were pushed before this one, and what each server says of itself."""
    figures = []
    with tf.control_dependencies(pushes):
        for server in range(shape.servers):
            with tf.device(device("ps", server)):
                (found,) = python_ops.call(TOUCH_RUN, [staged.run], [tf.float64])
            found.set_shape([len(NAMES)])
            figures.append(found)
        with tf.device(device("ps", 0)):
            version = tf.raw_ops.ReadVariableOp(resource=handles.version, dtype=tf.int64)
            with tf.control_dependencies([version]):
                counted = tf.raw_ops.AssignAddVariableOp(resource=handles.version, value=tf.constant(1, tf.int64))
    with tf.control_dependencies([counted]):
        return tf.identity(version), figures


def _report(
    staged: Staged, figures: Figures, version: tf.Tensor, servers: list[tf.Tensor], seconds: tf.Tensor
) -> tf.Tensor:
    """Return all that the coordinator wants to know in one tensor, so that one answer brings it."""
    block = staged.block
    head = [block.tokens, version - staged.version]
    rows = [tf.size(table.rows) for table in block.tables]
    parts = [
        tf.stack([tf.cast(number, tf.float64) for number in head]),
        staged.seconds,
        seconds,
        tf.stack([tf.cast(number, tf.float64) for number in rows]),
        block.figures,
        *servers,
        *(tf.cast(values, tf.float64) for values in (*figures, block.rates.measured, block.pairs, block.touched_rows)),
    ]
    return tf.concat(parts, 0)

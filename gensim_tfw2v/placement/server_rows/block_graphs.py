"""A worker's work on a chunk as graphs: stage (make its block, pull rows) and finish (train, push changes).

They are traced once for an objective and a cluster: handles of the servers' tables are arguments. Each call costs every
task milliseconds, so a worker does both in one call. A worker that is a block ahead stages the next block while it
finishes one.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import call_on_disconnect, device, sending_graphs
from gensim_tfw2v.placement.calls.program import WorkerGraphs
from gensim_tfw2v.placement.server_rows.messages import messages_about, shard_messages, split_ticket
from gensim_tfw2v.placement.server_rows.numbering import BlockRows
from gensim_tfw2v.placement.server_rows.pull import pull_rows
from gensim_tfw2v.placement.server_rows.push import push_changes, servers_report
from gensim_tfw2v.placement.server_rows.shape import GraphShape, Handles, handles_spec
from gensim_tfw2v.placement.server_rows.staging import STAGED_BLOCK, StagedRows
from gensim_tfw2v.placement.server_rows.sums import put_changes
from gensim_tfw2v.placement.server_rows.worker_training import WorkerTraining
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block import WorkerBlock
from gensim_tfw2v.placement.tasks.block_factory import REGISTER_MODEL
from gensim_tfw2v.placement.tasks.block_kind import BlockKind, make_block
from gensim_tfw2v.placement.tasks.block_report import BlockReport, StageSeconds
from gensim_tfw2v.placement.tasks.graph_parts import (
    HANDLE,
    NAME,
    PACKED,
    REQUEST,
    concrete,
    packed,
    report_of,
    unpacked,
)
from gensim_tfw2v.placement.tasks.joined_reports import joined, of_float64, report_before
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import kernel_on
from gensim_tfw2v.steps.side_by_side import TrainSideBySide, side_by_side


class Staged(NamedTuple):
    """A block that waits on its worker with the rows it needs."""

    block: WorkerBlock
    messages: tuple[Any, ...]  # to each shard, which rows the block needs
    start: Any  # its rows [U, D]
    version: Any  # when the rows were pulled
    seconds: Any  # [2], of making the block and of pulling


@functools.lru_cache(maxsize=32)
def worker_graphs(shape: GraphShape) -> WorkerGraphs:
    """Return the functions that run on workers."""
    with sending_graphs():
        return _traced(shape)


def _traced(shape: GraphShape) -> WorkerGraphs:
    # A trace of its own: tasks of a new connection do not have the functions of an older one.
    train_block = side_by_side(block_function.__wrapped__(shape.objective, kernel_on(shape.steps_on)))

    specs, handles = _staged_spec(shape), handles_spec(shape)

    def train(handles: Handles, request: Request) -> tf.Tensor:
        return _finish(shape, train_block, handles, stage_block(shape, handles, request)).to_tensor()

    def train_blocks(handles: Handles, request: Request) -> tf.Tensor:
        return _train_blocks(shape, train_block, handles, request).to_tensor()

    def stage(handles: Handles, request: Request) -> tf.Tensor:
        return packed(stage_block(shape, handles, request))

    def finish(handles: Handles, staged: tf.Tensor) -> tf.Tensor:
        return _finish(shape, train_block, handles, unpacked(staged, specs)).to_tensor()

    def finish_and_stage(handles: Handles, staged: tf.Tensor, request: Request) -> tuple[tf.Tensor, tf.Tensor]:
        following = stage(handles, request)  # first, so that its reads need not wait for the push
        return finish(handles, staged), following

    register_model = fetch_model_graph()
    if shape.has_blocks:
        return WorkerGraphs(register_model, train=concrete(train_blocks, handles, REQUEST))
    if not shape.overlap:
        return WorkerGraphs(register_model, train=concrete(train, handles, REQUEST))
    return WorkerGraphs(
        register_model,
        stage=concrete(stage, handles, REQUEST),
        finish=concrete(finish, handles, PACKED),
        finish_and_stage=concrete(finish_and_stage, handles, PACKED, REQUEST),
    )


call_on_disconnect(worker_graphs.cache_clear)


def _staged_spec(shape: GraphShape) -> Staged:
    return Staged(
        block=STAGED_BLOCK.specs,
        messages=tuple(tf.TensorSpec([None], tf.int32) for _ in range(shape.shards)),
        start=tf.TensorSpec([None, None], tf.float32),
        version=tf.TensorSpec([], tf.float64),
        seconds=tf.TensorSpec([2], tf.float64),
    )


def fetch_model_graph() -> Any:
    """Return the function that has a worker fetch a model: (name, handle of its bytes) → True."""
    return concrete(_register_model, NAME, HANDLE)


def _register_model(name: tf.Tensor, model: tf.Tensor) -> tf.Tensor:
    with tf.device(device("ps", 0)):
        found = tf.raw_ops.ReadVariableOp(resource=model, dtype=tf.uint8)
    return remote_functions.call(REGISTER_MODEL, [name, found], [tf.bool])[0]


def _train_blocks(shape: GraphShape, train_block: TrainSideBySide, handles: Handles, request: Request) -> BlockReport:
    """Train the blocks of a chunk one after the other, and return the report of all of them.

    With overlap, a block is staged while the one before it is trained, otherwise after the push of that one.
    """
    specs = _staged_spec(shape)
    report_spec = tf.nest.map_structure(_any_length, report_before(shape.servers))

    def staged_block(number: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        staged = stage_block(shape, handles, request, number)
        return staged.block.extra.left, packed(staged)

    def with_report_of(staged: tf.Tensor, earlier: BlockReport) -> BlockReport:
        return joined(earlier, of_float64(_finish(shape, train_block, handles, unpacked(staged, specs))))

    def train_one(number: tf.Tensor, left: tf.Tensor, staged: tf.Tensor, reports: tf.Tensor) -> tuple[Any, ...]:
        earlier = unpacked(reports, report_spec)
        if shape.overlap:
            left, following = staged_block(number + 1)  # first, so that its reads need not wait for the push
            report = with_report_of(staged, earlier)
        else:
            report = with_report_of(staged, earlier)
            left, following = staged_block(number + 1)
        return number + 1, left, following, packed(report)

    first = tf.constant(0)
    state = (first, *staged_block(first), packed(report_before(shape.servers)))
    _, _, last, reports = tf.while_loop(lambda _, left, *__: left > 0, train_one, state, parallel_iterations=1)
    return with_report_of(last, unpacked(reports, report_spec))


def _any_length(field: tf.Tensor) -> tf.TensorSpec:
    """Return the spec of a report's field, of which there may be one for each batch."""
    return tf.TensorSpec([None] if field.shape == [0] else field.shape, field.dtype)


def stage_block(
    shape: GraphShape,
    handles: Handles,
    request: Request,
    number: tf.Tensor | None = None,
    kind: BlockKind[WorkerBlock] = STAGED_BLOCK,
) -> Staged:
    """Make a block, and pull its rows; `number` is the block's place in a chunk of several blocks."""
    began = tf.timestamp()
    assignment, ticket = split_ticket(request.assignment)
    with tf.control_dependencies([began]):
        block = make_block(kind, request.model, assignment, number)
    with tf.control_dependencies([block.basics.tokens]):
        made = tf.timestamp()
    messages = shard_messages(shape, block.basics.lease_key, ticket, block.extra.needed)
    start, version = pull_rows(shape, handles, messages)
    with tf.control_dependencies([start]):
        pulled = tf.timestamp()
    return Staged(block, messages, start, version, tf.stack([made - began, pulled - made]))


def _finish(shape: GraphShape, train_block: TrainSideBySide, handles: Handles, staged: Staged) -> BlockReport:
    """Train the block, push its changes or put them into its slot, and return the report."""
    block = staged.block
    rows: BlockRows = block.extra.needed
    with tf.control_dependencies([staged.start]):
        began = tf.timestamp()
    with tf.control_dependencies([began]):
        read_again = functools.partial(_hot_rows_now, shape, handles, staged) if shape.corrects else None
        training = WorkerTraining(shape, train_block, block, staged.start, read_again)
        batches, change, most_moved = training.run()
    with tf.control_dependencies([*batches, change]):
        trained = tf.timestamp()
    push = put_changes if shape.has_slots else push_changes
    done = push(shape, handles, rows, staged.messages, change)
    with tf.control_dependencies([done.metrics]):
        pushed = tf.timestamp()
    making, pulling = tf.unstack(staged.seconds, num=2)
    return report_of(
        block.basics,
        batches,
        StageSeconds(make=making, pull=pulling, compute=trained - began, push=pushed - trained),
        most_moved,
        servers_report(done, staged.version, rows, tf.size(block.extra.hot_order) if shape.corrects else 0),
    )


def _hot_rows_now(shape: GraphShape, handles: Handles, staged: Staged) -> tf.Tensor:
    """Return the block's hot rows [K, D] as the servers have them now."""
    extra: StagedRows = staged.block.extra
    rows, _ = pull_rows(shape, handles, messages_about(shape, staged.messages, extra.hot_by_shard))
    return tf.gather(rows, extra.hot_order)

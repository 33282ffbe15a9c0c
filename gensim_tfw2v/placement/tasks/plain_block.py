"""A chunk → a block that a worker trains on tables of its own as one process does, and the graphs for that."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.chunk_task import PreparedBlock
from gensim_tfw2v.blocks.making_side_by_side import prepare_side_by_side
from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import (
    BlockBasics,
    WorkerBlock,
    without_batches,
    worker_block,
    worker_block_specs,
)
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.graph_parts import BYTES, NAME, concrete, register_model_graph
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.placement.tasks.own_training import OwnTablesGraphs, report_when_done, timed_block, train_batches
from gensim_tfw2v.steps.arguments import rates
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import kernel
from gensim_tfw2v.steps.side_by_side import TrainSideBySide, side_by_side
from gensim_tfw2v.steps.signature import SIGNATURE, Objective, Tables


def block_on_own_tables(
    model: WorkerModel,
    assignment: Assignment,
    metrics: Float64Array,
    extra: Callable[[PreparedBlock | None], Any] = lambda prepared: (),
) -> WorkerBlock:
    """Return the assignment's block, which has no batches if subsampling leaves no token.

    Parameters
    ----------
    extra : callable
        Returns what the design adds, given the block, or None if no token is left. Default: nothing.
    """
    check(model, assignment)
    prepared = prepare_side_by_side(model.maker, assignment.task, assignment.cores)
    if prepared is None:
        return without_batches(assignment, metrics, extra(None))
    # As in one process.
    scales = rates(model.settings, prepared, model.lock_factors)
    basics = BlockBasics.of(prepared.block, scales, assignment, metrics)
    return worker_block(prepared.block, basics, extra(prepared))


PLAIN_BLOCK = BlockKind("gensim_tfw2v.make_plain_block", worker_block_specs(extra=()), block_on_own_tables)


def fresh_training(objective: Objective) -> TrainSideBySide:
    """Return what trains blocks, traced anew: tasks of a new connection do not have the functions of an older one."""
    return side_by_side(block_function.__wrapped__(objective, kernel()))


@functools.lru_cache(maxsize=32)
def plain_graphs(
    objective: Objective,
    connection: int,
    kind: BlockKind[WorkerBlock] = PLAIN_BLOCK,
    own: tuple[tf.TensorSpec, ...] = (),
    after: Callable[..., Sequence[tf.Tensor]] = lambda block: (),
) -> OwnTablesGraphs:
    """Return the functions that train blocks on own tables; `train` takes `Tables`, and then the design's arguments.

    Parameters
    ----------
    connection : int
        Its number, for which there are graphs of their own.
    kind : BlockKind
        The blocks that are trained.
    own : tuple of TensorSpec
        The design's own arguments.
    after : callable
        Returns, given the block and these arguments, what is done once the batches are trained. Default: nothing.
    """
    with sending_graphs():
        train_block = fresh_training(objective)

        def train(tables: Tables, *arguments: tf.Tensor) -> tf.Tensor:
            *of_design, name, assignment = arguments
            timed = timed_block(kind, name, assignment)
            batches = train_batches(train_block, tables, timed)
            with tf.control_dependencies(list(batches)):
                done = after(timed.block, *of_design)
            return report_when_done(timed, batches, done)

        return OwnTablesGraphs(register_model_graph(), concrete(train, SIGNATURE[0], *own, NAME, BYTES))


call_on_disconnect(plain_graphs.cache_clear)

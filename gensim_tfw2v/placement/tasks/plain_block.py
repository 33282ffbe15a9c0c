"""A chunk → a block that a worker trains on tables of its own as one process does, and the graphs for that."""

from __future__ import annotations

import functools

import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array
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
from gensim_tfw2v.steps.side_by_side import side_by_side
from gensim_tfw2v.steps.signature import SIGNATURE, Objective, Tables


def plain_block(model: WorkerModel, assignment: Assignment, metrics: Float64Array) -> WorkerBlock:
    """Return the assignment's block, which has no batches if subsampling leaves no token."""
    check(model, assignment)
    prepared = prepare_side_by_side(model.maker, assignment.task, assignment.cores)
    if prepared is None:
        return without_batches(assignment, metrics, extra=())
    # As in one process.
    scales = rates(model.settings, prepared, model.lock_factors)
    basics = BlockBasics.of(prepared.block, scales, assignment, metrics)
    return worker_block(prepared.block, basics, extra=())


PLAIN_BLOCK = BlockKind("gensim_tfw2v.make_plain_block", worker_block_specs(extra=()), plain_block)


@functools.lru_cache(maxsize=32)
def plain_graphs(objective: Objective, connection: int) -> OwnTablesGraphs:
    """Return the functions that train plain blocks; `train` takes `Tables`.

    Parameters
    ----------
    connection : int
        Its number: tasks of a new connection do not have the functions of an older one.
    """
    with sending_graphs():
        train_block = side_by_side(block_function.__wrapped__(objective, kernel()))

        def train(tables: Tables, name: tf.Tensor, assignment: tf.Tensor) -> tf.Tensor:
            timed = timed_block(PLAIN_BLOCK, name, assignment)
            return report_when_done(timed, train_batches(train_block, tables, timed), done=[])

        return OwnTablesGraphs(register_model_graph(), concrete(train, SIGNATURE[0], NAME, BYTES))


call_on_disconnect(plain_graphs.cache_clear)

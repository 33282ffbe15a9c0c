"""The parts of graphs in which a worker makes a block, trains it on tables of its own, and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.task import RENEW_LEASE
from gensim_tfw2v.placement.tasks.block import WorkerBlock
from gensim_tfw2v.placement.tasks.block_kind import BlockKind, make_block
from gensim_tfw2v.placement.tasks.block_report import StageSeconds
from gensim_tfw2v.placement.tasks.graph_parts import report_of
from gensim_tfw2v.steps.side_by_side import TrainSideBySide
from gensim_tfw2v.steps.signature import Tables


class OwnTablesGraphs(NamedTuple):
    """Concrete functions that run on one worker that has tables of its own."""

    register_model: Any  # (name, bytes of a `WorkerModel`) → True
    train: Any  # (the design's own arguments, model's name, assignment) → report


class TimedBlock(NamedTuple):
    """A block, and when the worker began to make it and had made it."""

    block: WorkerBlock
    began: tf.Tensor
    made: tf.Tensor


def timed_block(kind: BlockKind[WorkerBlock], name: tf.Tensor, assignment: tf.Tensor) -> TimedBlock:
    """Return the block that the worker's Python makes for the model of this name and an assignment."""
    began = tf.timestamp()
    with tf.control_dependencies([began]):
        block = make_block(kind, name, assignment)
    with tf.control_dependencies([block.basics.tokens]):
        made = tf.timestamp()
    return TimedBlock(block, began, made)


def train_batches(
    train_block: TrainSideBySide, tables: Tables, timed: TimedBlock, read_before: Sequence[tf.Tensor] = ()
) -> BatchMetrics:
    """Train all batches of a block, and return their metrics.

    Parameters
    ----------
    train_block : callable
        What `steps.side_by_side.side_by_side` returns.
    tables : Tables
        Handles of the worker's tables.
    read_before : sequence of tensors
        Rows that are needed as they were before.
    """
    block, _, made = timed
    with tf.control_dependencies([made, *read_before]):
        batches = train_block(
            tables,
            block.block,
            block.basics.rates,
            tf.stack([0, tf.size(block.basics.pairs)]),
            block.basics.cores,
        )
    return batches


def report_when_done(
    timed: TimedBlock, batches: BatchMetrics, done: Sequence[tf.Tensor], most_moved: tf.Tensor | None = None
) -> tf.Tensor:
    """Return the report of a block whose batches are trained, once all of `done` is done; the lease is renewed as well.

    Parameters
    ----------
    most_moved : tensor, optional
        As `BlockReport` has it. Default: no word.
    """
    block, began, made = timed
    with tf.control_dependencies(list(batches)):
        (renewed,) = remote_functions.call(RENEW_LEASE, [block.basics.lease_key], [tf.float64])
    with tf.control_dependencies([*done, renewed]):
        trained = tf.timestamp()
    return report_of(
        block.basics, batches, StageSeconds(make=made - began, compute=trained - made), most_moved
    ).to_tensor()

"""A sub-model's share of a chunk → a block as arrays for the worker's graph; ids are rows of the sub-model's tables.

The graph trains it, and marks its words in the sub-model's table of trained words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array, Int32Array
from gensim_tfw2v.blocks.chunk_task import PreparedBlock, sentences_of
from gensim_tfw2v.placement.partition.draws import Draw, trained_words
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import WorkerBlock, worker_block_specs
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.codec import decode
from gensim_tfw2v.placement.tasks.graph_parts import HANDLE
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.placement.tasks.own_training import OwnTablesGraphs
from gensim_tfw2v.placement.tasks.plain_block import block_on_own_tables, plain_graphs
from gensim_tfw2v.steps.rows import write_rows
from gensim_tfw2v.steps.signature import Objective


@dataclass(frozen=True)
class ShareAssignment(Assignment):
    """A sub-model's share of a chunk."""

    draw: Draw | None  # draws the share from the chunk's sentences; None: the sentences are the share


def _share_block(model: WorkerModel, assignment: ShareAssignment, metrics: Float64Array) -> WorkerBlock:
    if assignment.draw is not None:
        check(model, assignment)  # a draw trusts the sentences
        task = assignment.task
        assignment = replace(assignment, task=assignment.draw.task_of(task, sentences_of(model.maker, task)))
    return block_on_own_tables(model, assignment, metrics, _trained_words)


def _trained_words(prepared: PreparedBlock | None) -> Int32Array:
    return np.zeros(0, np.int32) if prepared is None else trained_words(prepared.block)


SHARE_BLOCK = BlockKind(
    "gensim_tfw2v.make_share_block",
    worker_block_specs(extra=tf.TensorSpec([None], tf.int32)),
    _share_block,
    partial(decode, ShareAssignment),
)


def share_graphs(objective: Objective, connection: int) -> OwnTablesGraphs:
    """Return the functions that train shares; `train` takes `Tables` and the handle of the table of trained words.

    One trace serves all sub-models and all trainings with the same objective. `connection` is as in `plain_graphs`.
    """
    return plain_graphs(objective, connection, SHARE_BLOCK, (HANDLE,), _mark_words)


def _mark_words(block: WorkerBlock, trained: tf.Tensor) -> list[tf.Tensor]:
    return [write_rows(trained, block.extra, tf.ones([tf.size(block.extra), 1]))]

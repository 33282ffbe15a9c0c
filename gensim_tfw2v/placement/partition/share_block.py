"""A sub-model's share of a chunk → a block as arrays for the worker's graph; ids are rows of the sub-model's tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.chunk_task import sentences_of
from gensim_tfw2v.blocks.making_side_by_side import prepare_side_by_side
from gensim_tfw2v.placement.partition.draws import Draw
from gensim_tfw2v.placement.partition.trained_words import trained_words
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import (
    BlockBasics,
    WorkerBlock,
    without_batches,
    worker_block,
    worker_block_specs,
)
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.codec import decode
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.arguments import rates


@dataclass(frozen=True)
class ShareAssignment(Assignment):
    """A sub-model's share of a chunk."""

    draw: Draw | None  # draws the share from the chunk's sentences; None: the sentences are the share


class ShareWords(NamedTuple):
    """The words of a share's block."""

    trained: Any  # [W], whose input vectors the block trains


def share_block(model: WorkerModel, assignment: ShareAssignment, metrics: Float64Array) -> WorkerBlock:
    """Return the assignment's block, which has no batches if no token is left."""
    check(model, assignment)
    task = assignment.task
    if assignment.draw is not None:
        task = assignment.draw.task_of(task, sentences_of(model.maker, task))
    prepared = prepare_side_by_side(model.maker, task, assignment.cores)
    if prepared is None:
        return without_batches(assignment, metrics, ShareWords(np.zeros(0, np.int32)))
    # As in one process.
    scales = rates(model.settings, prepared, model.lock_factors)
    basics = BlockBasics.of(prepared.block, scales, assignment, metrics)
    return worker_block(prepared.block, basics, ShareWords(trained_words(prepared.block)))


SHARE_BLOCK = BlockKind(
    "gensim_tfw2v.make_share_block",
    worker_block_specs(ShareWords(tf.TensorSpec([None], tf.int32))),
    share_block,
    partial(decode, ShareAssignment),
)

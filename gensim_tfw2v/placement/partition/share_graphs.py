"""What a worker does for a sub-model, as graphs that are called on it: make the block of a share, and train it.

Handles of the tables are arguments, so that one trace serves all sub-models and all trainings with the same objective.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.cluster.task import RENEW_LEASE
from gensim_tfw2v.placement.partition.share_block import SHARE_BLOCK, ShareWords
from gensim_tfw2v.placement.tasks.block_kind import make_block
from gensim_tfw2v.placement.tasks.block_report import StageSeconds
from gensim_tfw2v.placement.tasks.graph_parts import BYTES, NAME, concrete, register_model_graph, report_of
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.rows import write_rows
from gensim_tfw2v.steps.signature import SIGNATURE, Objective, Tables


class ShareGraphs(NamedTuple):
    """Concrete functions that run on one worker."""

    register_model: Any  # (name, bytes of a `WorkerModel`) → True
    train: Any  # (`Tables`, handle of the table of trained words, model's name, assignment) → report


_HANDLE = tf.TensorSpec([], tf.resource)


@functools.lru_cache(maxsize=32)
def share_graphs(objective: Objective, connection: int) -> ShareGraphs:
    """Return the functions that run on one worker.

    Parameters
    ----------
    connection : int
        Its number: tasks of a new connection do not have the functions of an older one.
    """
    with sending_graphs():
        train_block = block_function.__wrapped__(objective)
        return ShareGraphs(
            register_model=register_model_graph(),
            train=concrete(lambda *arguments: _train(train_block, *arguments), SIGNATURE[0], _HANDLE, NAME, BYTES),
        )


call_on_disconnect(share_graphs.cache_clear)


def _train(
    train_block: Any, tables: Tables, trained_words: tf.Tensor, name: tf.Tensor, assignment: tf.Tensor
) -> tf.Tensor:
    """Make the block of a share, train it and mark its words as trained; return the report."""
    began = tf.timestamp()
    with tf.control_dependencies([began]):
        block = make_block(SHARE_BLOCK, name, assignment)
    with tf.control_dependencies([block.basics.tokens]):
        made = tf.timestamp()
    with tf.control_dependencies([made]):
        batches: BatchMetrics = train_block(
            tables, block.block, block.basics.rates, block.lookups, tf.stack([0, tf.size(block.basics.pairs)])
        )
    with tf.control_dependencies(list(batches)):
        words: ShareWords = block.extra
        marked = write_rows(trained_words, words.trained, tf.ones([tf.size(words.trained), 1]))
        (renewed,) = remote_functions.call(RENEW_LEASE, [block.basics.lease_key], [tf.float64])
    with tf.control_dependencies([marked, renewed]):
        trained = tf.timestamp()
    return report_of(block.basics, batches, StageSeconds(make=made - began, compute=trained - made))

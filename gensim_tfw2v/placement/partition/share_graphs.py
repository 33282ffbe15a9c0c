"""The graphs of a worker for a sub-model: make the block of a share, and train it.

Handles of the tables are arguments, so that one trace serves all sub-models and all trainings with the same objective.
"""

from __future__ import annotations

import functools

import tensorflow as tf

from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.placement.partition.share_block import SHARE_BLOCK, ShareWords
from gensim_tfw2v.placement.tasks.graph_parts import BYTES, NAME, concrete, register_model_graph
from gensim_tfw2v.placement.tasks.own_training import OwnTablesGraphs, report_when_done, timed_block, train_batches
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import kernel
from gensim_tfw2v.steps.rows import write_rows
from gensim_tfw2v.steps.side_by_side import TrainSideBySide, side_by_side
from gensim_tfw2v.steps.signature import SIGNATURE, Objective, Tables

_HANDLE = tf.TensorSpec([], tf.resource)


@functools.lru_cache(maxsize=32)
def share_graphs(objective: Objective, connection: int) -> OwnTablesGraphs:
    """Return the functions that train shares; `train` takes `Tables` and the handle of the table of trained words.

    Parameters
    ----------
    connection : int
        Its number: tasks of a new connection do not have the functions of an older one.
    """
    with sending_graphs():
        train_block = side_by_side(block_function.__wrapped__(objective, kernel()))
        return OwnTablesGraphs(
            register_model=register_model_graph(),
            train=concrete(lambda *arguments: _train(train_block, *arguments), SIGNATURE[0], _HANDLE, NAME, BYTES),
        )


call_on_disconnect(share_graphs.cache_clear)


def _train(
    train_block: TrainSideBySide,
    tables: Tables,
    trained_words: tf.Tensor,
    name: tf.Tensor,
    assignment: tf.Tensor,
) -> tf.Tensor:
    """Make the block of a share, train it and mark its words as trained; return the report."""
    timed = timed_block(SHARE_BLOCK, name, assignment)
    batches = train_batches(train_block, tables, timed)
    words: ShareWords = timed.block.extra
    with tf.control_dependencies(list(batches)):
        marked = write_rows(trained_words, words.trained, tf.ones([tf.size(words.trained), 1]))
    return report_when_done(timed, batches, [marked])

"""Registers what the graphs of all designs call on a task by name."""

from __future__ import annotations

from functools import partial

from gensim_tfw2v.cluster.remote_functions import register
from gensim_tfw2v.cluster.task import Task, register_task
from gensim_tfw2v.operations import load_operations
from gensim_tfw2v.placement.averaging.task_functions import MAKE_OWN_BLOCK, make_own_block
from gensim_tfw2v.placement.columns import task_functions as columns
from gensim_tfw2v.placement.lbfgs.task_functions import MAKE_PORTION, make_portion
from gensim_tfw2v.placement.parameter_servers.task_functions import MAKE_BLOCK, REGISTER_MODEL, BlockFactory
from gensim_tfw2v.placement.partition.task_functions import MAKE_SHARE_BLOCK, make_share_block


def register_functions() -> None:
    """Make this process able to be a task: call it before starting a `tf.distribute.Server` of your own."""
    load_operations()  # the graphs that come here consist of them
    factory = BlockFactory()
    register_task(Task(factory.details))
    register(REGISTER_MODEL, factory.register_model)
    register(MAKE_BLOCK, factory.make_block)
    register(MAKE_OWN_BLOCK, partial(make_own_block, factory))
    register(MAKE_SHARE_BLOCK, partial(make_share_block, factory))
    register(MAKE_PORTION, partial(make_portion, factory))
    blocks = columns.ColumnBlocks(factory)
    register(columns.READ_WORDS, blocks.read_words)
    register(columns.MAKE_COLUMN_BLOCK, blocks.make)
    register(columns.KEEP_COLUMN_BLOCK, blocks.keep)
    register(columns.COLUMN_BATCH, blocks.batch)
    register(columns.DROP_COLUMN_BLOCK, blocks.drop)

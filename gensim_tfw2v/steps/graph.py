"""The graph that trains a block, on tables given by their resource handles.

Tables, sizes, windows and rates are all arguments, so one trace serves every model of the same `Objective` in the
process. The handles belong to variables on the device that runs the graph; the placement owns the variables.

A kernel (`steps/kernel`) trains the block. The compiled one changes rows in place, in the variables' memory. So nothing
else may share a variable's buffer there, and no TensorFlow operation on single rows may be used on it, not even to
read: after such an operation, TensorFlow gives every reader of the variable a copy, and so also the package's
operations.
"""

from __future__ import annotations

import functools

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.steps.kernel import Kernel
from gensim_tfw2v.steps.signature import SIGNATURE, BlockTensors, Lookups, Objective, Rates, Tables


@functools.cache
def block_function(objective: Objective, kernel: Kernel) -> tf.types.experimental.ConcreteFunction:
    """Return the graph function (tables, block, rates, lookups, span), all tensors → metrics of each batch.

    The span [2] says which batches of the block are trained: from the first to before the second.
    """

    def train_block(
        tables: Tables, block: BlockTensors, rates: Rates, lookups: Lookups, span: tf.Tensor
    ) -> BatchMetrics:
        metrics: BatchMetrics = kernel.train(objective, tables, block, rates, lookups, span)
        return metrics

    # Calling the concrete function saves a millisecond of argument checks a block, with Python's lock held.
    return tf.function(train_block, autograph=False, input_signature=SIGNATURE).get_concrete_function()

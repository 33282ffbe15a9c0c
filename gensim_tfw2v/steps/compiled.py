"""The compiled step: one of the package's operations trains a span of a block's batches, run by run."""

from __future__ import annotations

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.operations import operations
from gensim_tfw2v.steps.signature import BlockTensors, Objective, Rates, Tables


def memory_of(table: tf.Tensor) -> tf.Tensor:
    """Return the memory of a variable, given by its handle, instead of a copy."""
    return tf.raw_ops.ReadVariableOp(resource=table, dtype=tf.float32)


def copy_of(values: tf.Tensor) -> tf.Tensor:
    """Return a copy of rows [n, D]. TensorFlow's DeepCopy would take as long as the steps of a small block."""
    return operations().tfw2v_read_rows(table=values, rows=tf.range(tf.shape(values)[0]), T=tf.float32)


def train(objective: Objective, tables: Tables, block: BlockTensors, rates: Rates, span: tf.Tensor) -> BatchMetrics:
    """Train a span [2] of a block's batches; return the metrics of each."""
    left, right, inputs, candidates, targets = (tf.cast(ids, tf.int32) for ids in block[:5])  # graphs draw int64
    operation = operations().tfw2v_train_skip_gram if objective.skip_gram else operations().tfw2v_train_cbow
    paths = block.tree
    metrics = operation(
        inputs=memory_of(tables.inputs),
        outputs=memory_of(tables.outputs),
        nodes=memory_of(tables.nodes),
        left=left,
        right=right,
        input_ids=inputs,
        candidates=candidates,
        targets=targets,
        words=paths.words,
        path_nodes=tf.cast(paths.nodes, tf.int32),
        codes=paths.codes,
        offsets=paths.offsets,
        weights=block.weights,
        bag_members=block.bags.members,
        bag_offsets=block.bags.offsets,
        window=block.window,
        learning_rates=rates.learning_rates,
        max_step=rates.max_step,
        lock_factors=rates.lock_factors,
        negative=rates.negative,
        shared_negatives=rates.shared_negatives,
        measured=rates.measured,
        radius_chance=rates.radius_chance,
        token_documents=block.documents,
        span=span,
        adagrad=objective.adagrad,
        negative_sampling=objective.negative_sampling,
        hierarchical_softmax=objective.hierarchical_softmax,
        mean_context=objective.mean_context,
        even_contexts=objective.even_contexts,
        mask_hits=objective.mask_accidental_hits,
        weighted=objective.weighted,
        freezes_inputs=objective.freezes_inputs,
        freezes_outputs=objective.freezes_outputs,
        bags=objective.bags,
        documents=objective.documents,
        concatenated=objective.concatenated,
    )
    return BatchMetrics(*tf.unstack(tf.ensure_shape(metrics, [len(BatchMetrics._fields), None])))

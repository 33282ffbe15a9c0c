"""The plain step: TensorFlow's own operations train the batches of a block one after the other.

All gradients of a batch follow from its rows as they are when the batch begins, except for those of tree nodes and of
CBOW's targets. Rows move once the gradients of the batch are summed by row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.plain.bags import BagContexts, BatchBags, mean_rows
from gensim_tfw2v.steps.plain.cbow import Candidates, train_cbow
from gensim_tfw2v.steps.plain.contexts import RowContexts
from gensim_tfw2v.steps.plain.huffman_paths import train_huffman_paths
from gensim_tfw2v.steps.plain.in_turn import Outputs, Tokens
from gensim_tfw2v.steps.plain.table import StepLimits, StepTable
from gensim_tfw2v.steps.signature import BlockTensors, Objective, Rates, Tables


class _BlockGraph(NamedTuple):
    """The values that all batches of a block have in common."""

    objective: Objective
    tables: Tables
    block: BlockTensors
    rates: Rates


class _BatchIndex:
    """The position of a batch in the arrays of its block."""

    def __init__(self, batch: tf.Tensor) -> None:
        # The bounds of all slices are made once; Python's indexing would make them again for each slice.
        self._begin = tf.expand_dims(batch, 0)
        self._end = self._begin + 1

    def of(self, values: tf.Tensor) -> tf.Tensor:
        """Return the entry of this batch in an array with one entry a batch."""
        return tf.raw_ops.StridedSlice(input=values, begin=self._begin, end=self._end, strides=[1], shrink_axis_mask=1)


def train_batches(
    objective: Objective,
    tables: Tables,
    block: BlockTensors,
    rates: Rates,
    span: tf.Tensor,
    id_type: str = "int32",
) -> BatchMetrics:
    """Add the training of a span [2] of a block's batches to the graph; return the metrics of each batch.

    Parameters
    ----------
    id_type : str
        The type of ids and numbers of contexts within the graph.
    """
    first, end = tf.unstack(span, num=2)
    batches = end - first
    block, rates = _in_number_types(id_type, block, rates)
    of_block = _BlockGraph(objective, tables, block, rates)

    def train_batch(batch: tf.Tensor, *arrays: tf.TensorArray) -> tuple[tf.Tensor | tf.TensorArray, ...]:
        number = batch - first
        metrics = _Step(of_block, batch).run()
        with tf.control_dependencies(list(metrics)):
            return batch + 1, *(array.write(number, metric) for array, metric in zip(arrays, metrics, strict=True))

    arrays = [tf.TensorArray(tf.float32, size=batches, element_shape=[]) for _ in BatchMetrics._fields]
    _, *arrays = tf.while_loop(lambda batch, *_: batch < end, train_batch, [first, *arrays], parallel_iterations=1)
    return BatchMetrics(*(array.stack() for array in arrays))


def _in_number_types(id_type: str, block: BlockTensors, rates: Rates) -> tuple[BlockTensors, Rates]:
    """Return a block and rates with ids and numbers of contexts in this type.

    Where the type is int64, so that a GPU has these numbers, flags of measured batches become int32: the CPU, which
    decides by them what runs next, then has them without waiting for the GPU.
    """
    names = ("left", "right", "inputs", "candidates", "targets")
    ids = {name: tf.cast(getattr(block, name), id_type) for name in names}
    tree = block.tree._replace(**{name: tf.cast(getattr(block.tree, name), id_type) for name in ("words", "nodes")})
    bags = block.bags._replace(members=tf.cast(block.bags.members, id_type))
    measured = rates.measured if id_type == "int32" else tf.cast(rates.measured, tf.int32)
    return block._replace(**ids, tree=tree, bags=bags), rates._replace(measured=measured)


class _Step:
    """Builds the graph of one batch.

    All gradients of the hidden vectors are computed before any of the input rows that hidden vectors consist of moves.
    """

    def __init__(self, of_block: _BlockGraph, batch: tf.Tensor) -> None:
        self.objective, tables, self.block, self.rates = of_block
        self.inputs, self.outputs, self.nodes = (StepTable(handle, self.objective.adagrad) for handle in tables)
        self.batch = _BatchIndex(batch)
        self.learning_rate = self.batch.of(self.rates.learning_rates)
        measured = self.batch.of(self.rates.measured)
        self.measured = measured if measured.dtype == tf.bool else measured > 0
        self.reach = self.batch.of(self.block.left), self.batch.of(self.block.right)
        documents = self.objective.documents
        self.documents = BatchBags.of(self.block.bags, self.batch.of(self.block.documents)) if documents else None
        self.losses: list[tf.Tensor] = []
        self.moved: list[tf.Tensor] = []  # [2] each: touched rows and clipped rows

    def run(self) -> BatchMetrics:
        """Add the batch's operations to the graph; return its metrics, which are ready once every row is written."""
        tree, negatives = self.objective.hierarchical_softmax, self.objective.negative_sampling
        negatives_alone = self.objective.skip_gram and not tree
        contexts = None if self.objective.skip_gram else self._contexts()
        if contexts is None:
            number_type = self._product_type if negatives_alone else tf.float32
            hidden = self._hidden_rows(number_type)
        else:
            hidden = contexts.sum(self.inputs)
        gradients = []
        if tree:
            gradients.append(self._train_huffman_paths(hidden))
        if negatives and contexts is not None:
            gradients.append(self._train_cbow(hidden))
        elif negatives:
            with tf.control_dependencies(gradients):
                gradient = self._train_skip_gram(tf.cast(hidden, self._product_type))
            gradients.append(gradient if negatives_alone else tf.cast(gradient, tf.float32))
        gradient = gradients[0] if len(gradients) == 1 else tf.add_n(gradients)
        if not self.objective.freezes_inputs or self.objective.documents:
            with tf.control_dependencies(self.moved):
                self._move_inputs(gradient, contexts)
        moved = tf.add_n(self.moved) if self.moved else tf.zeros([2])
        return BatchMetrics(tf.ensure_shape(tf.add_n(self.losses), []), *tf.unstack(moved, num=2))

    def _move_inputs(self, gradient: tf.Tensor, contexts: RowContexts | BagContexts | None) -> None:
        """Move the input rows of hidden vectors against the gradients of these [R, B, D]."""
        limits = self._limits(self.rates.lock_factors)
        if contexts is not None:
            moved = contexts.move(self.inputs, gradient, limits)
        elif self.objective.bags:
            every = tf.ones(tf.shape(gradient)[:2], tf.bool)
            moved = self._bags().move(self.inputs, every, gradient, limits)
        else:
            moved = self.inputs.move(self.batch.of(self.block.inputs), gradient, limits)
        self.moved.append(moved)

    def _hidden_rows(self, number_type: tf.DType) -> tf.Tensor:
        """Return skip-gram's hidden vectors [R, B, D]."""
        if not self.objective.bags:
            return self.inputs.vectors(self.batch.of(self.block.inputs), number_type)
        return tf.cast(mean_rows(self._bags(), self.inputs), number_type)

    def _bags(self) -> BatchBags:
        inputs = self.batch.of(self.block.inputs)
        return BatchBags.of(self.block.bags, inputs) if self.objective.bags else BatchBags.of_rows(inputs)

    def _further_contexts(self) -> Any:
        """Return how many rows the documents of tokens have [R, B], 0 without documents."""
        return 0 if self.documents is None else tf.cast(self.documents.sizes, self.block.left.dtype)

    def _tokens(self, hidden: tf.Tensor) -> Tokens:
        """Return the tokens with these hidden vectors [R, B, D]."""
        weighted = self.objective.weighted
        weights = self.batch.of(self.block.weights) if weighted else tf.ones(tf.shape(self.reach[0]))
        return Tokens(hidden, weights, *self.reach, self._further_contexts())

    def _outputs(self, table: StepTable) -> Outputs:
        return Outputs(table, self.objective.freezes_outputs, self.measured)

    def _train_huffman_paths(self, hidden: tf.Tensor) -> tf.Tensor:
        """Train the nodes on words' paths with hidden vectors [R, B, D], and return the gradients of these."""
        paths = self.block.tree._replace(words=self.batch.of(self.block.tree.words))
        outputs, every_context = self._outputs(self.nodes), self.objective.skip_gram
        gradients, loss = train_huffman_paths(outputs, self._tokens(hidden), paths, every_context, self.learning_rate)
        self.losses.append(loss)
        return gradients

    def _train_cbow(self, hidden: tf.Tensor) -> tf.Tensor:
        """Train targets and negatives with CBOW's hidden vectors [R, B, D], and return the gradients of these."""
        targets, negatives = self.batch.of(self.block.targets), self.batch.of(self.block.candidates)
        candidates = Candidates(targets, negatives, self.rates.negative, self.objective.mask_accidental_hits)
        outputs = self._outputs(self.outputs)
        moved, gradients, loss = train_cbow(outputs, self._tokens(hidden), candidates, self._limits(tf.zeros([0])))
        self.moved.append(moved)
        self.losses.append(loss)
        return gradients

    def _train_skip_gram(self, hidden: tf.Tensor) -> tf.Tensor:
        """Train contexts and negatives with skip-gram's hidden vectors [R, B, D], and return the gradients of these."""
        shared, negative = self.rates.shared_negatives, self.rates.negative
        weights = maths.skip_gram_weights(maths.window_mask(*self._windows()), shared, negative)
        if self.objective.weighted:
            weights = maths.weighted(weights, self.batch.of(self.block.weights))
        ids = self.batch.of(self.block.candidates)
        candidates = self.outputs.vectors(ids, self._product_type)
        score = tf.cast(maths.scores(hidden, candidates), tf.float32)
        labels = maths.skip_gram_labels(tf.shape(ids)[-1], shared)
        if self.objective.mask_accidental_hits:
            weights = maths.without_accidental_hits(weights, ids, shared, negative)
        self._measure(lambda: maths.sampling_loss(score, labels, weights))
        score_gradient = tf.cast(maths.sampling_gradient(score, labels, weights), self._product_type)
        if not self.objective.freezes_outputs:
            gradients, limits = maths.back_to_columns(score_gradient, hidden), self._limits(tf.zeros([0]))
            self.moved.append(self.outputs.move(ids, gradients, limits))
        return maths.back_to_rows(score_gradient, candidates)

    def _measure(self, losses: Callable[[], tf.Tensor]) -> None:
        """Add the losses of tokens [R, B] to the batch's, if the batch is measured."""
        self.losses.append(tf.cond(self.measured, lambda: tf.reduce_sum(losses()), lambda: tf.zeros([])))

    def _limits(self, factors: tf.Tensor) -> StepLimits:
        return StepLimits(self.learning_rate, self.rates.max_step, factors)

    def _contexts(self) -> RowContexts | BagContexts:
        """Return the contexts of CBOW's hidden vectors."""
        ids, window, mean = self.batch.of(self.block.inputs), self.block.window, self.objective.mean_context
        if self.objective.bags or self.documents is not None:
            inside = maths.places_inside(*self.reach, window)
            return BagContexts.of(self.objective, self._bags(), self.documents, inside)
        if self.objective.even_contexts:
            return RowContexts.even(ids, *self.reach, window, mean)
        return RowContexts.of(ids, self._windows(), mean)

    def _windows(self) -> tuple[tf.Tensor, ...]:
        """Return the arguments of `maths.window_mask`: contexts to the left and right [R, B], window, radius chance."""
        return *self.reach, self.block.window, self.rates.radius_chance

    @property
    def _product_type(self) -> tf.DType:
        """The number format of matrix products."""
        return tf.bfloat16 if self.objective.bfloat16_products else tf.float32

"""The plain step: TensorFlow's own operations train the batches of a block one after the other.

All gradients of a batch follow from its rows as they are when the batch begins, except for those of tree nodes and of
CBOW's targets. Rows move once the gradients of the batch are summed by row.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.plain.bags import BagContexts, BatchBags, mean_rows
from gensim_tfw2v.steps.plain.cbow import train_cbow
from gensim_tfw2v.steps.plain.contexts import move_contexts, move_even_contexts, sum_contexts, sum_even_contexts
from gensim_tfw2v.steps.plain.huffman_paths import train_huffman_paths
from gensim_tfw2v.steps.plain.rows import StepLimits, gather_rows, move_rows
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
        self.number = batch
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
    tree = block.tree._replace(nodes=tf.cast(block.tree.nodes, id_type))
    bags = block.bags._replace(members=tf.cast(block.bags.members, id_type))
    measured = rates.measured if id_type == "int32" else tf.cast(rates.measured, tf.int32)
    return block._replace(**ids, tree=tree, bags=bags), rates._replace(measured=measured)


class _Step:
    """Builds the graph of one batch.

    All gradients of the hidden vectors are computed before any of the input rows that hidden vectors consist of moves.
    """

    def __init__(self, of_block: _BlockGraph, batch: tf.Tensor) -> None:
        self.objective, self.tables, self.block, self.rates = of_block
        self.batch = _BatchIndex(batch)
        self.learning_rate = self.batch.of(self.rates.learning_rates)
        measured = self.batch.of(self.rates.measured)
        self.measured = measured if measured.dtype == tf.bool else measured > 0
        # [R * B], or empty if every token has the weight 1
        weighted = self.objective.weighted
        self.token_weights = tf.reshape(self.batch.of(self.block.weights), [-1]) if weighted else tf.zeros([0])
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
            hidden = contexts.sum()
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

    def _move_inputs(self, gradient: tf.Tensor, contexts: _Contexts | None) -> None:
        """Move the input rows of hidden vectors against the gradients of these [R, B, D]."""
        limits = self._step_limits(self.rates.lock_factors)
        if contexts is not None:
            self.moved.append(contexts.move(gradients=gradient, **limits))
        elif self.objective.bags:
            bags, every = self._bags(), tf.ones(tf.shape(gradient)[:2], tf.bool)
            of_bags = tf.cast(gradient, tf.float32)
            self.moved.append(
                bags.move(self.tables.inputs, every, of_bags, StepLimits(**limits), self.objective.adagrad)
            )
        else:
            self._move(self.tables.inputs, self.block.inputs, gradient, self.rates.lock_factors)

    def _hidden_rows(self, number_type: tf.DType) -> tf.Tensor:
        """Return skip-gram's hidden vectors [R, B, D]."""
        if not self.objective.bags:
            return self._rows(self.tables.inputs, self.block.inputs, number_type)
        return tf.cast(mean_rows(self._bags(), self.tables.inputs, self.objective.adagrad), number_type)

    def _bags(self) -> BatchBags:
        inputs = self.batch.of(self.block.inputs)
        return BatchBags.of(self.block.bags, inputs) if self.objective.bags else BatchBags.of_rows(inputs)

    def _further_contexts(self) -> Any:
        """Return how many rows the documents of tokens have [R, B], 0 without documents."""
        return 0 if self.documents is None else tf.cast(self.documents.sizes, self.block.left.dtype)

    def _train_huffman_paths(self, hidden: tf.Tensor) -> tf.Tensor:
        """Train the nodes on words' paths with hidden vectors [R, B, D], and return the gradients of these."""
        paths = self.block.tree
        gradients, loss = train_huffman_paths(
            table=self.tables.nodes,
            hidden=hidden,
            words=paths.words,
            left=self.block.left,
            right=self.block.right,
            batch=self.batch.number,
            nodes=paths.nodes,
            codes=paths.codes,
            offsets=paths.offsets,
            every_context=self.objective.skip_gram,
            rate=self.learning_rate,
            max_score=maths.MAX_NODE_SCORE,
            measured=self.measured,
            adagrad=self.objective.adagrad,
            frozen=self.objective.freezes_outputs,
            token_weights=self.token_weights,
            further=self._further_contexts(),
        )
        self.losses.append(loss)
        return gradients

    def _train_cbow(self, hidden: tf.Tensor) -> tf.Tensor:
        """Train targets and negatives with CBOW's hidden vectors [R, B, D], and return the gradients of these."""
        moved, gradients, loss = train_cbow(
            table=self.tables.outputs,
            hidden=hidden,
            negatives=self.block.candidates,
            targets=self.block.targets,
            left=self.block.left,
            right=self.block.right,
            batch=self.batch.number,
            negative=self.rates.negative,
            mask_hits=self.objective.mask_accidental_hits,
            measured=self.measured,
            adagrad=self.objective.adagrad,
            frozen=self.objective.freezes_outputs,
            token_weights=self.token_weights,
            further=self._further_contexts(),
            **self._step_limits(tf.zeros([0])),
        )
        self.moved.append(moved)
        self.losses.append(loss)
        return gradients

    def _train_skip_gram(self, hidden: tf.Tensor) -> tf.Tensor:
        """Train contexts and negatives with skip-gram's hidden vectors [R, B, D], and return the gradients of these."""
        shared, negative = self.rates.shared_negatives, self.rates.negative
        weights = maths.skip_gram_weights(maths.window_mask(*self._windows()), shared, negative)
        if self.objective.weighted:
            weights = maths.weighted(weights, tf.reshape(self.token_weights, tf.shape(weights)[:2]))
        candidates = self._rows(self.tables.outputs, self.block.candidates, self._product_type)
        score = tf.cast(maths.scores(hidden, candidates), tf.float32)
        labels = maths.skip_gram_labels(tf.shape(self.block.candidates)[-1], shared)
        if self.objective.mask_accidental_hits:
            weights = maths.without_accidental_hits(weights, self.batch.of(self.block.candidates), shared, negative)
        self._measure(lambda: maths.sampling_loss(score, labels, weights))
        score_gradient = tf.cast(maths.sampling_gradient(score, labels, weights), self._product_type)
        if not self.objective.freezes_outputs:
            gradients = maths.back_to_columns(score_gradient, hidden)
            self._move(self.tables.outputs, self.block.candidates, gradients, tf.zeros([0]))
        return maths.back_to_rows(score_gradient, candidates)

    def _measure(self, losses: Callable[[], tf.Tensor]) -> None:
        """Add the losses of tokens [R, B] to the batch's, if the batch is measured."""
        self.losses.append(tf.cond(self.measured, lambda: tf.reduce_sum(losses()), lambda: tf.zeros([])))

    def _rows(self, table: tf.Tensor, ids: tf.Tensor, number_type: tf.DType) -> tf.Tensor:
        """Return the batch's rows of a table [R, ..., D]."""
        return gather_rows(table=table, ids=ids, batch=self.batch.number, T=number_type, adagrad=self.objective.adagrad)

    def _move(self, table: tf.Tensor, ids: tf.Tensor, gradients: tf.Tensor, factors: tf.Tensor) -> None:
        """Move each row of the batch by one step of limited length."""
        self.moved.append(
            move_rows(
                table=table,
                ids=ids,
                batch=self.batch.number,
                gradients=gradients,
                adagrad=self.objective.adagrad,
                **self._step_limits(factors),
            )
        )

    def _step_limits(self, factors: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"rate": self.learning_rate, "max_step": self.rates.max_step, "factors": factors}

    def _contexts(self) -> _Contexts:
        """Return the operations on the contexts of CBOW's hidden vectors."""
        if self.objective.bags or self.documents is not None:
            return self._bag_contexts()
        places: dict[str, Any] = {
            "table": self.tables.inputs,
            "ids": self.block.inputs,
            "left": self.block.left,
            "right": self.block.right,
            "batch": self.batch.number,
            "adagrad": self.objective.adagrad,
        }
        if self.objective.even_contexts:
            places["mean"] = self.objective.mean_context
            of_even = sum_even_contexts, move_even_contexts
            return _Contexts(*(functools.partial(operation, **places) for operation in of_even))
        windows = self._windows()
        mask, shares = maths.window_mask(*windows), maths.window_shares(*windows)
        forward, backward = maths.context_weights(mask, shares, self.objective.mean_context)
        return _Contexts(
            functools.partial(sum_contexts, **places, weights=forward),
            functools.partial(move_contexts, **places, weights=backward),
        )

    def _bag_contexts(self) -> _Contexts:
        reach = self.batch.of(self.block.left), self.batch.of(self.block.right)
        contexts = BagContexts.of(self._bags(), self.documents, *reach)
        places = {"table": self.tables.inputs, "mean": self.objective.mean_context, "adagrad": self.objective.adagrad}

        def move(gradients: tf.Tensor, **limits: tf.Tensor) -> tf.Tensor:
            frozen = self.objective.freezes_inputs
            return contexts.move(gradients=gradients, limits=StepLimits(**limits), frozen=frozen, **places)

        return _Contexts(functools.partial(contexts.sum, **places), move)

    def _windows(self) -> tuple[tf.Tensor, ...]:
        """Return the arguments of `maths.window_mask`: contexts to the left and right [R, B], window, radius chance."""
        reach = self.batch.of(self.block.left), self.batch.of(self.block.right)
        return *reach, self.block.window, self.rates.radius_chance

    @property
    def _product_type(self) -> tf.DType:
        """The number format of matrix products."""
        return tf.bfloat16 if self.objective.bfloat16_products else tf.float32


class _Contexts(NamedTuple):
    """The operations on the contexts of CBOW's hidden vectors."""

    sum: Callable[[], tf.Tensor]  # returns the hidden vectors [R, B, D]
    move: Callable[..., tf.Tensor]  # takes their gradients and the limits of steps

"""A block's batches, one after the other, on tables given by their resource handles: the graph that training runs.

Tables, sizes, windows and rates are all arguments, so one trace serves every model of the same `Objective` in the
process. Tables are reached through handles of variables on the device that runs the graph; who owns the variables is
the placement's business.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import tensorflow as tf

from gensim_tfw2v import maths, updates


@dataclass(frozen=True)
class Objective:
    """What decides the shape of the graph, and so needs a trace of its own."""

    skip_gram: bool
    negative_sampling: bool
    hierarchical_softmax: bool
    mean_context: bool  # CBOW averages its contexts, or sums them
    lookup_weights: bool  # pair weights from a table made for (left, right, place), not computed
    spare_targets: bool  # negatives are likely to hit their own targets and must be masked
    count_bounded: bool = False  # count the rows of measured batches whose step was shortened


class Segments(NamedTuple):
    """The tensors of `gensim_tfw2v.segments.Segments`."""

    order: tf.Tensor
    segment: tf.Tensor
    unique: tf.Tensor
    splits: tf.Tensor

    def of_batch(self, batch: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Return order, segment and distinct ids of one batch."""
        rows = self.unique[self.splits[batch] : self.splits[batch + 1]]
        return self.order[batch], self.segment[batch], rows


class BlockTensors(NamedTuple):
    """The tensors of `gensim_tfw2v.batches.Block`; what an objective does not use is empty."""

    left: tf.Tensor
    right: tf.Tensor
    input_ids: tf.Tensor
    input_segments: Segments
    candidate_ids: tf.Tensor
    candidate_segments: Segments
    node_ids: tf.Tensor
    node_signs: tf.Tensor
    node_segments: Segments
    window: tf.Tensor


class Tables(NamedTuple):
    """Resource handles of float32 variables [rows, vector size]."""

    inputs: tf.Tensor
    outputs: tf.Tensor
    nodes: tf.Tensor


class Rates(NamedTuple):
    """What scales the steps."""

    learning_rates: tf.Tensor  # [S]
    bound: tf.Tensor  # longest step of a row in a batch
    lock_factors: tf.Tensor  # gensim's vectors_lockf: input row r moves by factor[r % size]
    negative: tf.Tensor  # draws owed to each pair
    shared_negatives: tf.Tensor  # K
    measured: tf.Tensor  # [S] bool: batches whose loss is wanted


class Figures(NamedTuple):
    """What the measured batches showed; 0 for others."""

    losses: tf.Tensor  # [S], summed over the batch's pairs
    bounded_rows: tf.Tensor  # [S], rows whose step was shortened; 0 unless the objective counts them


class Lookups(NamedTuple):
    """Pair weights made once, by (left, right, token of the run); empty where the graph computes them."""

    masks: tf.Tensor  # [(W + 1)² * B, P]
    positives: tf.Tensor  # skip-gram [(W + 1)² * B, C]; CBOW [B, C], the same whatever the window
    totals: tf.Tensor


def _int(rank: int) -> tf.TensorSpec:
    return tf.TensorSpec([None] * rank, tf.int32)


def _float(rank: int) -> tf.TensorSpec:
    return tf.TensorSpec([None] * rank, tf.float32)


_SEGMENTS = Segments(_int(2), _int(2), _int(1), _int(1))
_HANDLE = tf.TensorSpec([], tf.resource)
SIGNATURE = (
    Tables(_HANDLE, _HANDLE, _HANDLE),
    BlockTensors(
        _int(3),
        _int(3),
        _int(3),
        _SEGMENTS,
        _int(3),
        _SEGMENTS,
        _int(3),
        tf.TensorSpec([None] * 4, tf.int8),
        _SEGMENTS,
        _int(0),
    ),
    Rates(_float(1), _float(0), _float(1), _float(0), _int(0), tf.TensorSpec([None], tf.bool)),
    Lookups(_float(2), _float(2), _float(2)),
)


@functools.cache
def block_function(objective: Objective) -> tf.types.experimental.ConcreteFunction:
    """Return the graph function (tables, block, rates, lookups), all tensors → figures of each batch."""

    def train_block(tables: Tables, block: BlockTensors, rates: Rates, lookups: Lookups) -> Figures:
        batches = tf.shape(block.left)[0]
        bounded_rows = [tf.TensorArray(tf.float32, size=batches, element_shape=[])] if objective.count_bounded else []

        def train_batch(batch: tf.Tensor, *arrays: tf.TensorArray) -> tuple[tf.Tensor | tf.TensorArray, ...]:
            step = _Step(objective, tables, block, rates, lookups, batch)
            batch_loss = step.run()
            figures = [batch_loss, *([tf.add_n(step.bounded_rows)] if objective.count_bounded else [])]
            with tf.control_dependencies([batch_loss]):
                return batch + 1, *(array.write(batch, figure) for array, figure in zip(arrays, figures, strict=True))

        losses = tf.TensorArray(tf.float32, size=batches, element_shape=[])
        state = [0, losses, *bounded_rows]
        _, losses, *bounded_rows = tf.while_loop(
            lambda batch, *_: batch < batches, train_batch, state, parallel_iterations=1
        )
        return Figures(losses.stack(), bounded_rows[0].stack() if bounded_rows else tf.zeros([batches]))

    # Calling the concrete function spares a millisecond of argument checks a block, in which Python's lock is held.
    return tf.function(train_block, autograph=False, input_signature=SIGNATURE).get_concrete_function()


class _Step:
    """One batch while its graph is built: all gradients are computed before any row is written."""

    def __init__(
        self,
        objective: Objective,
        tables: Tables,
        block: BlockTensors,
        rates: Rates,
        lookups: Lookups,
        batch: tf.Tensor,
    ) -> None:
        self.objective, self.tables, self.block, self.rates, self.lookups = objective, tables, block, rates, lookups
        self.batch = batch
        self.left, self.right = block.left[batch], block.right[batch]
        self.learning_rate = rates.learning_rates[batch]
        self.losses: list[tf.Tensor] = []
        self.bounded_rows: list[tf.Tensor] = []

    def run(self) -> tf.Tensor:
        """Add the batch's operations to the graph and return its loss, known once every row is written."""
        rows = _gather(self.tables.inputs, self.block.input_ids[self.batch])
        if self.objective.skip_gram:
            hidden = rows
        else:
            hidden, backward = maths.mix_contexts(
                self._mask(), rows, self.left, self.right, self.objective.mean_context
            )
        hidden_gradients = []
        pending = []
        if self.objective.negative_sampling:
            ids = self.block.candidate_ids[self.batch]
            gradient, change = self._meet(hidden, self.tables.outputs, ids, *self._sampling_weights(ids))
            hidden_gradients.append(gradient)
            pending.append((self.tables.outputs, change, self.block.candidate_segments))
        if self.objective.hierarchical_softmax:
            ids = self.block.node_ids[self.batch]
            gradient, change = self._meet(hidden, self.tables.nodes, ids, *self._tree_weights())
            hidden_gradients.append(gradient)
            pending.append((self.tables.nodes, change, self.block.node_segments))
        change = tf.add_n(hidden_gradients)
        if not self.objective.skip_gram:
            change = maths.back_to_contexts(backward, change)
        pending.append((self.tables.inputs, change, self.block.input_segments))
        with tf.control_dependencies([change]):
            writes = [self._write(*update) for update in pending]
        with tf.control_dependencies(writes):
            return tf.add_n(self.losses)

    def _meet(
        self, hidden: tf.Tensor, table: tf.Tensor, ids: tf.Tensor, positives: tf.Tensor, totals: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Return the gradients of `hidden` and of the candidate rows `ids`, and take note of the loss."""
        candidates = _gather(table, ids)
        score = maths.scores(hidden, candidates)
        gradient = maths.pull(score, positives, totals)
        measured = self.rates.measured[self.batch]
        self.losses.append(
            tf.cond(
                measured, lambda: maths.loss(score, positives, totals, self.left, self.right), lambda: tf.constant(0.0)
            )
        )
        return maths.back_to_hidden(gradient, candidates), maths.back_to_candidates(gradient, hidden)

    def _write(self, table: tf.Tensor, gradients: tf.Tensor, segments: Segments) -> tf.Operation:
        """Move each row the batch touched by one bounded step."""
        order, segment, rows = segments.of_batch(self.batch)
        flat = tf.reshape(gradients, [-1, tf.shape(gradients)[-1]])
        factors = None
        if table is self.tables.inputs:
            factors = tf.gather(self.rates.lock_factors, rows % tf.size(self.rates.lock_factors))
        total = updates.sum_segments(flat, order, segment)
        steps = updates.bounded_steps(total, self.learning_rate, self.rates.bound, factors)
        if self.objective.count_bounded:
            self.bounded_rows.append(
                tf.cond(
                    self.rates.measured[self.batch],
                    lambda: updates.count_bounded(total, self.learning_rate, self.rates.bound),
                    lambda: tf.constant(0.0),
                )
            )
        # Writing back old + step copies whole rows: over twice as fast as adding in place.
        return tf.raw_ops.ResourceScatterUpdate(resource=table, indices=rows, updates=_gather(table, rows) + steps)

    def _mask(self) -> tf.Tensor:
        if self.objective.lookup_weights:
            return tf.gather(self.lookups.masks, self._window_codes())
        return maths.window_mask(self.left, self.right, self.block.window)

    def _window_codes(self) -> tf.Tensor:
        """Return the row of the look-up tables [R, B] for each token's windows and place in its run."""
        run_tokens = tf.shape(self.left)[-1]
        return (self.left * (self.block.window + 1) + self.right) * run_tokens + tf.range(run_tokens)

    def _sampling_weights(self, ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        shared, negative = self.rates.shared_negatives, self.rates.negative
        if self.objective.lookup_weights and self.objective.skip_gram:
            codes = self._window_codes()
            positives, totals = tf.gather(self.lookups.positives, codes), tf.gather(self.lookups.totals, codes)
        elif self.objective.skip_gram:
            positives, totals = maths.skip_gram_sampling_weights(
                self.left, self.right, self.block.window, shared, negative
            )
        else:  # the same for every run
            positives, totals = self.lookups.positives[None], self.lookups.totals[None]
        if self.objective.spare_targets:
            totals = maths.spare_targets(positives, totals, ids, shared, negative)
        return positives, totals

    def _tree_weights(self) -> tuple[tf.Tensor, tf.Tensor]:
        signs = self.block.node_signs[self.batch]
        if self.objective.skip_gram:
            return maths.skip_gram_tree_weights(self._mask(), signs)
        return maths.cbow_tree_weights(signs)


def _gather(table: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """Return rows of a table [..., D]."""
    return tf.raw_ops.ResourceGather(resource=table, indices=ids, dtype=tf.float32)

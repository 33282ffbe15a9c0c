"""A block's batches, one after the other, on tables given by their resource handles: the graph that training runs.

Tables, sizes, windows and rates are all arguments, so one trace serves every model of the same `Objective` in the
process. Tables are reached through handles of variables on the device that runs the graph; who owns the variables is
the placement's business.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
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
    splits: tf.Tensor
    unique: tf.Tensor
    unique_splits: tf.Tensor

    def of_batch(self, batch: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Return order, segment and distinct ids of one batch."""
        order, segment = _slice(batch, self.splits, self.order, self.segment)
        (rows,) = _slice(batch, self.unique_splits, self.unique)
        return order, segment, rows


class TreeRuns(NamedTuple):
    """The tensors of `gensim_tfw2v.tree.TreeRuns`."""

    hidden: tf.Tensor
    leaves: tf.Tensor
    nodes: tf.Tensor
    first: tf.Tensor
    middle: tf.Tensor
    end: tf.Tensor
    node_segments: Segments
    places: tf.Tensor
    owners: tf.Tensor
    splits: tf.Tensor


class BlockTensors(NamedTuple):
    """The tensors of `gensim_tfw2v.batches.Block`; what an objective does not use is empty."""

    left: tf.Tensor
    right: tf.Tensor
    input_ids: tf.Tensor
    input_segments: Segments
    candidate_ids: tf.Tensor
    candidate_segments: Segments
    tree_runs: TreeRuns
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
    weights: tf.Tensor  # skip-gram [(W + 1)² * B, C]; CBOW [B, C], the same whatever the window


def _int(rank: int) -> tf.TensorSpec:
    return tf.TensorSpec([None] * rank, tf.int32)


def _float(rank: int) -> tf.TensorSpec:
    return tf.TensorSpec([None] * rank, tf.float32)


SEGMENTS = Segments(_int(1), _int(1), _int(1), _int(1), _int(1))
TREE_RUNS = TreeRuns(
    _int(3), _int(3), _int(3), _int(3), _int(3), _int(3), SEGMENTS, places=_int(1), owners=_int(1), splits=_int(1)
)
_HANDLE = tf.TensorSpec([], tf.resource)
SIGNATURE = (
    Tables(_HANDLE, _HANDLE, _HANDLE),
    BlockTensors(_int(3), _int(3), _int(3), SEGMENTS, _int(3), SEGMENTS, TREE_RUNS, _int(0)),
    Rates(_float(1), _float(0), _float(1), _float(0), _int(0), tf.TensorSpec([None], tf.bool)),
    Lookups(_float(2), _float(2)),
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
            gradient, change = self._sample_negatives(hidden)
            hidden_gradients.append(gradient)
            pending.append((self.tables.outputs, change, self.block.candidate_segments))
        if self.objective.hierarchical_softmax:
            gradient, change = self._descend_tree(hidden)
            hidden_gradients.append(gradient)
            pending.append((self.tables.nodes, change, self.block.tree_runs.node_segments))
        change = tf.add_n(hidden_gradients)
        if not self.objective.skip_gram:
            change = maths.back_to_contexts(backward, change)
        pending.append((self.tables.inputs, change, self.block.input_segments))
        with tf.control_dependencies([change]):
            writes = [self._write(*update) for update in pending]
        with tf.control_dependencies(writes):
            return tf.add_n(self.losses)

    def _sample_negatives(self, hidden: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Return the gradients of `hidden` [R, B, D] and of the output rows of targets and negatives."""
        ids = self.block.candidate_ids[self.batch]
        candidates = _gather(self.tables.outputs, ids)
        shared = self.rates.shared_negatives
        labels = maths.sampling_labels(tf.shape(ids)[-1] - shared, shared)
        weights = self._sampling_weights(ids)
        score = maths.scores(hidden, candidates)
        trained = tf.cast(self.left + self.right > 0, tf.float32)
        self._measure(lambda: trained * maths.loss(score, labels, weights))
        gradient = maths.pull(score, labels, weights)
        return maths.back_to_hidden(gradient, candidates), maths.back_to_candidates(gradient, hidden)

    def _descend_tree(self, hidden: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Return the gradients of `hidden` [R, B, D] and of the rows of the nodes on the way to their targets."""
        runs = self.block.tree_runs
        flat = _as_rows(hidden)
        placed = tf.gather(flat, runs.hidden[self.batch])
        candidates = _gather(self.tables.nodes, runs.nodes[self.batch])
        bounds = (bound[self.batch] for bound in (runs.first, runs.middle, runs.end))
        labels, weights = maths.tree_weights(runs.leaves[self.batch], *bounds)
        score = maths.scores(placed, candidates)
        self._measure(lambda: maths.loss(score, labels, weights))
        gradient = maths.pull(score, labels, weights)
        places, owners = _slice(self.batch, runs.splits, runs.places, runs.owners)
        back = updates.sum_segments(_as_rows(maths.back_to_hidden(gradient, candidates)), places, owners)
        # The last hidden vectors may be in no pair.
        back = tf.pad(back, [[0, tf.shape(flat)[0] - tf.shape(back)[0]], [0, 0]])
        return tf.reshape(back, tf.shape(hidden)), maths.back_to_candidates(gradient, placed)

    def _measure(self, losses: Callable[[], tf.Tensor]) -> None:
        """Add to the batch's loss, if it is one whose loss is wanted."""
        measured = self.rates.measured[self.batch]
        self.losses.append(tf.cond(measured, lambda: tf.reduce_sum(losses()), lambda: tf.constant(0.0)))

    def _write(self, table: tf.Tensor, gradients: tf.Tensor, segments: Segments) -> tf.Operation:
        """Move each row the batch touched by one bounded step."""
        order, segment, rows = segments.of_batch(self.batch)
        factors = None
        if table is self.tables.inputs:
            factors = tf.gather(self.rates.lock_factors, rows % tf.size(self.rates.lock_factors))
        total = updates.sum_segments(_as_rows(gradients), order, segment)
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

    def _sampling_weights(self, ids: tf.Tensor) -> tf.Tensor:
        shared, negative = self.rates.shared_negatives, self.rates.negative
        if not self.objective.skip_gram:  # the same for every run
            weights = self.lookups.weights[None]
        elif self.objective.lookup_weights:
            weights = tf.gather(self.lookups.weights, self._window_codes())
        else:
            weights = maths.skip_gram_sampling_weights(self.left, self.right, self.block.window, shared, negative)
        return maths.spare_targets(weights, ids, shared, negative) if self.objective.spare_targets else weights


def _slice(batch: tf.Tensor, splits: tf.Tensor, *flat: tf.Tensor) -> list[tf.Tensor]:
    """Return the part of each of these that belongs to a batch."""
    return [values[splits[batch] : splits[batch + 1]] for values in flat]


def _as_rows(vectors: tf.Tensor) -> tf.Tensor:
    """Return vectors [..., D] as [rows, D]."""
    return tf.reshape(vectors, [-1, tf.shape(vectors)[-1]])


def _gather(table: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """Return rows of a table [..., D]."""
    return tf.raw_ops.ResourceGather(resource=table, indices=ids, dtype=tf.float32)

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
    half_products: bool = False  # products are of bfloat16 numbers; all else, the tables above all, is of float32


class Segments(NamedTuple):
    """The tensors of `gensim_tfw2v.segments.Segments`, without the numbers, which stand where the rows are wanted."""

    order: tf.Tensor
    segment: tf.Tensor
    splits: tf.Tensor
    unique: tf.Tensor
    unique_splits: tf.Tensor


class TreeRuns(NamedTuple):
    """The tensors of `gensim_tfw2v.tree_runs.TreeRuns`, as the graph takes them."""

    run_splits: tf.Tensor
    hidden: tf.Tensor
    nodes: tf.Tensor  # [runs, U], numbers
    passed: tf.Tensor
    node_segments: Segments
    places: tf.Tensor
    splits: tf.Tensor
    owners: tf.Tensor
    fill: tf.Tensor  # [S, 2, 2], as `tf.pad` wants it: rows for the hidden vectors after the last owner


class BlockTensors(NamedTuple):
    """The tensors of `gensim_tfw2v.batches.Block`; what an objective does not use is empty.

    Rows are given by their numbers among the distinct ones of their batch.
    """

    left: tf.Tensor
    right: tf.Tensor
    inputs: tf.Tensor
    input_segments: Segments
    candidates: tf.Tensor
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
    radius_chance: tf.Tensor  # of each radius of a token's window but the widest; 0 if the block has drawn one


class Figures(NamedTuple):
    """What the measured batches showed; 0 for others."""

    losses: tf.Tensor  # [S], summed over the batch's pairs
    bounded_rows: tf.Tensor  # [S], rows whose step was shortened; 0 unless the objective counts them


class Lookups(NamedTuple):
    """Pair weights made once; empty where the graph computes them or has no use for them."""

    masks: tf.Tensor  # [(W + 1)² * B, P], by (left, right, token of the run)
    shares: tf.Tensor  # CBOW, likewise
    weights: tf.Tensor  # skip-gram [(W + 1)² * B, C], likewise; CBOW [B, C], the same whatever the window
    turns: tf.Tensor  # [..., most H], by the number of a `gensim_tfw2v.tree_paths.Passing`


class _OncePerBlock(NamedTuple):
    """What is the same for every batch: an operation takes its time however little it does."""

    rows: tf.Tensor  # [2], the shape that makes rows of vectors
    hidden: tf.Tensor  # [3], the shape that makes hidden vectors of rows
    reach: tf.Tensor  # [S, R, B], contexts of each token
    window_codes: tf.Tensor  # [S, R, B], row of the look-up tables for each token's windows and place in its run
    mixing: list[tf.Tensor]  # CBOW's look-up tables of weights, there and back, for products
    labels: tf.Tensor  # [C] of negative sampling
    turns: tf.Tensor  # [..., H], those of the look-up table for this block's runs
    lock_factors: tf.Tensor  # by distinct input row, as `Segments.unique`

    @classmethod
    def of(
        cls, objective: Objective, tables: Tables, block: BlockTensors, rates: Rates, lookups: Lookups
    ) -> _OncePerBlock:
        """Add the operations to the graph."""
        reach = block.left + block.right
        run_tokens = tf.shape(block.left)[-1]
        codes = (block.left * (block.window + 1) + block.right) * run_tokens + tf.range(run_tokens)
        rows = block.input_segments.unique
        vector_size = tf.raw_ops.VariableShape(input=tables.inputs)[1:]
        return cls(
            rows=tf.concat([[-1], vector_size], 0),
            hidden=tf.concat([tf.shape(block.left)[1:], vector_size], 0),
            reach=reach,
            window_codes=codes,
            mixing=[] if objective.skip_gram else _mixing_weights(objective, lookups.masks, lookups.shares),
            labels=maths.sampling_labels(tf.shape(block.candidates)[-1], rates.shared_negatives),
            turns=lookups.turns[:, : tf.shape(block.tree_runs.hidden)[-1]],
            lock_factors=tf.gather(rates.lock_factors, rows % tf.size(rates.lock_factors)),
        )


_EVERY = [1]  # stride of a slice


class _BatchPlace:
    """Where in the arrays of a block one batch is."""

    def __init__(self, batch: tf.Tensor) -> None:
        # The bounds of all slices, made once: indexing in Python's way makes its own for each.
        self._begin = tf.expand_dims(batch, 0)
        self._end = self._begin + 1
        self._after = self._begin + 2

    def of(self, values: tf.Tensor) -> tf.Tensor:
        """Return what an array by batch holds for this one."""
        return tf.raw_ops.StridedSlice(
            input=values, begin=self._begin, end=self._end, strides=_EVERY, shrink_axis_mask=1
        )

    def slice(self, splits: tf.Tensor, *flat: tf.Tensor) -> list[tf.Tensor]:
        """Return the parts of arrays that stand between this batch's split and the next."""
        start = tf.raw_ops.StridedSlice(input=splits, begin=self._begin, end=self._end, strides=_EVERY)
        stop = tf.raw_ops.StridedSlice(input=splits, begin=self._end, end=self._after, strides=_EVERY)
        return [tf.raw_ops.StridedSlice(input=values, begin=start, end=stop, strides=_EVERY) for values in flat]


def _int(rank: int) -> tf.TensorSpec:
    return tf.TensorSpec([None] * rank, tf.int32)


def _float(rank: int) -> tf.TensorSpec:
    return tf.TensorSpec([None] * rank, tf.float32)


SEGMENTS = Segments(_int(1), _int(1), _int(1), _int(1), _int(1))
TREE_RUNS = TreeRuns(
    run_splits=_int(1),
    hidden=_int(2),
    nodes=_int(2),
    passed=_int(2),
    node_segments=SEGMENTS,
    places=_int(1),
    splits=_int(1),
    owners=_int(1),
    fill=_int(3),
)
_HANDLE = tf.TensorSpec([], tf.resource)
SIGNATURE = (
    Tables(_HANDLE, _HANDLE, _HANDLE),
    BlockTensors(_int(3), _int(3), _int(3), SEGMENTS, _int(3), SEGMENTS, TREE_RUNS, _int(0)),
    Rates(_float(1), _float(0), _float(1), _float(0), _int(0), tf.TensorSpec([None], tf.bool), _float(0)),
    Lookups(_float(2), _float(2), _float(2), _float(2)),
    _int(1),
)


@functools.cache
def block_function(objective: Objective) -> tf.types.experimental.ConcreteFunction:
    """Return the graph function (tables, block, rates, lookups, span), all tensors → figures of each batch.

    The span [2] says which batches of the block are trained: from the first to before the second.
    """

    def train_block(tables: Tables, block: BlockTensors, rates: Rates, lookups: Lookups, span: tf.Tensor) -> Figures:
        first, end = tf.unstack(span, num=2)
        batches = end - first
        once = _OncePerBlock.of(objective, tables, block, rates, lookups)
        bounded_rows = [tf.TensorArray(tf.float32, size=batches, element_shape=[])] if objective.count_bounded else []

        def train_batch(batch: tf.Tensor, *arrays: tf.TensorArray) -> tuple[tf.Tensor | tf.TensorArray, ...]:
            step = _Step(objective, tables, block, rates, lookups, once, batch)
            batch_loss = step.run()
            figures = [batch_loss, *([tf.add_n(step.bounded_rows)] if objective.count_bounded else [])]
            with tf.control_dependencies([batch_loss]):
                number = batch - first
                return batch + 1, *(array.write(number, figure) for array, figure in zip(arrays, figures, strict=True))

        losses = tf.TensorArray(tf.float32, size=batches, element_shape=[])
        state = [first, losses, *bounded_rows]
        _, losses, *bounded_rows = tf.while_loop(
            lambda batch, *_: batch < end, train_batch, state, parallel_iterations=1
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
        once: _OncePerBlock,
        batch: tf.Tensor,
    ) -> None:
        self.objective, self.tables, self.block, self.rates, self.lookups = objective, tables, block, rates, lookups
        self.once = once
        self.batch = _BatchPlace(batch)
        self.learning_rate = self.batch.of(rates.learning_rates)
        self.measured = self.batch.of(rates.measured)
        self.losses: list[tf.Tensor] = []
        self.bounded_rows: list[tf.Tensor] = []

    def run(self) -> tf.Tensor:
        """Add the batch's operations to the graph and return its loss, known once every row is written."""
        rows = self._rows(self.tables.inputs, self.block.input_segments, self.batch.of(self.block.inputs))
        if self.objective.skip_gram:
            hidden = rows
        else:
            forward, backward = self._mixing()
            hidden = maths.mix_contexts(forward, rows)
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
        numbers = self.batch.of(self.block.candidates)
        candidates = self._rows(self.tables.outputs, self.block.candidate_segments, numbers)
        labels = self.once.labels
        weights = self._sampling_weights(numbers)
        score = tf.cast(maths.scores(hidden, candidates), tf.float32)
        has_contexts = self.batch.of(self.once.reach) > 0
        self._measure(lambda: tf.cast(has_contexts, tf.float32) * maths.sampling_loss(score, labels, weights))
        gradient = self._operand(maths.sampling_gradient(score, labels, weights))
        return maths.back_to_rows(gradient, candidates), maths.back_to_columns(gradient, hidden)

    def _descend_tree(self, hidden: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Return the gradients of `hidden` [R, B, D] and of the rows of the nodes on the way to their targets."""
        runs = self.block.tree_runs
        flat = self._as_rows(hidden)
        positions, nodes, passed = self.batch.slice(runs.run_splits, runs.hidden, runs.nodes, runs.passed)
        placed = tf.gather(flat, positions)
        candidates = self._rows(self.tables.nodes, runs.node_segments, nodes)
        turns = tf.gather(self.once.turns, passed)
        score = tf.cast(maths.scores(candidates, placed), tf.float32)
        self._measure(lambda: maths.tree_loss(score, turns))
        gradient = self._operand(maths.tree_gradient(score, turns))
        back = self._back_from_places(self._as_rows(maths.back_to_columns(gradient, candidates)))
        return tf.reshape(back, self.once.hidden), maths.back_to_rows(gradient, placed)

    def _back_from_places(self, gradients: tf.Tensor) -> tf.Tensor:
        """Return the gradient of each hidden vector [R * B, D] from those of its places in tree runs."""
        runs = self.block.tree_runs
        if not self.objective.skip_gram:  # a token has one place
            (places,) = self.batch.slice(runs.splits, runs.places)
            return tf.gather(gradients, places)
        places, owners = self.batch.slice(runs.splits, runs.places, runs.owners)
        summed = updates.sum_segments(gradients, places, owners)
        return self._operand(tf.pad(summed, self.batch.of(runs.fill)))

    def _measure(self, losses: Callable[[], tf.Tensor]) -> None:
        """Add to the batch's loss, if it is one whose loss is wanted."""
        self.losses.append(tf.cond(self.measured, lambda: tf.reduce_sum(losses()), lambda: tf.zeros([])))

    def _write(self, table: tf.Tensor, gradients: tf.Tensor, segments: Segments) -> tf.Operation:
        """Move each row the batch touched by one bounded step."""
        order, segment = self.batch.slice(segments.splits, segments.order, segments.segment)
        factors = []
        if table is self.tables.inputs:
            rows, *factors = self.batch.slice(segments.unique_splits, segments.unique, self.once.lock_factors)
        else:
            (rows,) = self.batch.slice(segments.unique_splits, segments.unique)
        total = updates.sum_segments(self._as_rows(gradients), order, segment)
        steps = updates.bounded_steps(total, self.learning_rate, self.rates.bound, *factors)
        if self.objective.count_bounded:
            self.bounded_rows.append(
                tf.cond(
                    self.measured,
                    lambda: updates.count_bounded(total, self.learning_rate, self.rates.bound),
                    lambda: tf.zeros([]),
                )
            )
        # Writing back old - step copies whole rows: over twice as fast as adding in place. What other threads write to
        # the same rows between the reading and the writing is lost: hence they are read as late as can be.
        with tf.control_dependencies([steps]):
            old = gather_rows(table, rows)
        return tf.raw_ops.ResourceScatterUpdate(resource=table, indices=rows, updates=old - steps)

    def _rows(self, table: tf.Tensor, segments: Segments, numbers: tf.Tensor) -> tf.Tensor:
        """Return rows of a table [..., D] for products.

        Each is fetched from the table, and converted, once; from there to all its places the way is short.
        """
        (ids,) = self.batch.slice(segments.unique_splits, segments.unique)
        return tf.gather(self._operand(gather_rows(table, ids)), numbers)

    def _operand(self, values: tf.Tensor) -> tf.Tensor:
        """Return values as the numbers that products are of."""
        return _operand(self.objective, values)

    def _mixing(self) -> list[tf.Tensor]:
        if self.objective.lookup_weights:
            return [tf.gather(weights, self.batch.of(self.once.window_codes)) for weights in self.once.mixing]
        windows = self._windows()
        return _mixing_weights(self.objective, maths.window_mask(*windows), maths.window_shares(*windows))

    def _windows(self) -> tuple[tf.Tensor, ...]:
        """Return how many contexts each token has on its left and on its right [R, B], at most, and at which odds."""
        reach = self.batch.of(self.block.left), self.batch.of(self.block.right)
        return *reach, self.block.window, self.rates.radius_chance

    def _sampling_weights(self, candidates: tf.Tensor) -> tf.Tensor:
        shared, negative = self.rates.shared_negatives, self.rates.negative
        if not self.objective.skip_gram:  # the same for every run
            weights = self.lookups.weights[None]
        elif self.objective.lookup_weights:
            weights = tf.gather(self.lookups.weights, self.batch.of(self.once.window_codes))
        else:
            weights = maths.skip_gram_sampling_weights(maths.window_mask(*self._windows()), shared, negative)
        return maths.spare_targets(weights, candidates, shared, negative) if self.objective.spare_targets else weights

    def _as_rows(self, vectors: tf.Tensor) -> tf.Tensor:
        """Return vectors [..., D] as [rows, D]."""
        return tf.reshape(vectors, self.once.rows)


def _operand(objective: Objective, values: tf.Tensor) -> tf.Tensor:
    return tf.cast(values, tf.bfloat16 if objective.half_products else tf.float32)


def _mixing_weights(objective: Objective, mask: tf.Tensor, shares: tf.Tensor) -> list[tf.Tensor]:
    """Return CBOW's weights there and back, for products."""
    return [_operand(objective, weights) for weights in maths.mixing_weights(mask, shares, objective.mean_context)]


def gather_rows(table: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """Return rows of a table [..., D] given by its handle."""
    return tf.raw_ops.ResourceGather(resource=table, indices=ids, dtype=tf.float32)

"""CBOW with negative sampling in TensorFlow's own operations, run by run.

A target's row takes its step before the next token of the same word reads it. The tokens of a run do not wait for each
other otherwise. A row moves along hidden vectors, which do not change within a batch. So the score of a word's later
token follows from the row as the run begins, and from the products of the hidden vectors of its earlier tokens:

    score[i] = h[i] · row + sum over earlier tokens j of the word: step[j] (h[i] · h[j])

`_target_steps` finds the first tokens of all words, then the second ones, and so on. Most words are once in a run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.plain.rows import (
    LONGEST_STEP,
    StepLimits,
    add_to,
    after,
    count_steps,
    metrics_of,
    rates_of,
    steps_against,
    vectors_of,
    whole_rows,
)


class _Runs(NamedTuple):
    """The runs of a batch. Each field has one entry a run."""

    hidden: Any  # [R, B, D]
    squares: Any  # [R, B], squared lengths of hidden vectors
    targets: Any  # [R, B], rows of the tokens' words
    negatives: Any  # [R, K]
    weights: Any  # [R, B, K], how often a token is trained with a negative
    is_usable: Any  # [R, B] bool: tokens that have contexts, and along whose hidden vector rows may move
    earlier: Any  # [R, B, B], 1 where a later token has the word of an earlier one
    links: Any  # [R, B, B], there the product of both hidden vectors
    rounds: Any  # [R], how often the most frequent word of a run is in it
    merge: Any  # [R, K, K], adds up what equal negatives have, at the first one


class _TargetSteps(NamedTuple):
    """The tokens of a run with their targets."""

    scores: Any  # [B]; NaN for a token that is refused and moves nothing
    gradients: Any  # [B], of the scores, negated
    steps: Any  # [B]: a target moves along its hidden vector by so much
    grown: Any  # [B], by how much states grow; zeros if there are none


class _TrainedRun(NamedTuple):
    """What training a run has come to."""

    gradients: Any  # [B, D], of the hidden vectors
    scores: Any  # [B, 1 + K], of targets and negatives
    lengths: Any  # [2, K], of the negatives' steps as they were wanted and taken; zeros if rows are frozen


def train_cbow(
    table: tf.Tensor,
    hidden: tf.Tensor,
    negatives: tf.Tensor,
    targets: tf.Tensor,
    left: tf.Tensor,
    right: tf.Tensor,
    batch: tf.Tensor,
    negative: tf.Tensor,
    mask_hits: bool,
    measured: tf.Tensor,
    frozen: bool,
    rate: tf.Tensor,
    max_step: tf.Tensor,
    factors: tf.Tensor,
    adagrad: bool = False,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Train targets and negatives; return the metrics, the gradients of hidden vectors [R, B, D], and the loss."""
    is_trained = (tf.gather(left, batch) + tf.gather(right, batch)) > 0
    may_move = may_move_along(hidden, rate)
    hidden = tf.where(may_move[..., None], hidden, 0.0)
    is_usable = tf.logical_and(is_trained, may_move)
    targets, negatives = tf.gather(targets, batch), tf.gather(negatives, batch)
    is_first = tf.reduce_sum(_equal_before(negatives), -1) == 0
    weights = _weights(targets, negatives, is_trained, negative, mask_hits)
    runs = _runs(hidden, targets, negatives, is_usable, weights, is_first)
    found = _train_runs(table, runs, StepLimits(rate, max_step, factors), frozen, adagrad)
    counts = tf.zeros([3])
    if not frozen:
        wanted, taken = tf.unstack(tf.reshape(found.lengths, [-1, 2, tf.shape(negatives)[-1]]), axis=1)
        counts = count_steps(is_first, wanted, taken, max_step)
    scores = tf.reshape(found.scores, [tf.shape(hidden)[0], tf.shape(hidden)[1], -1])
    is_refused = tf.logical_and(is_trained, tf.math.is_nan(scores[..., 0]))
    counts += tf.math.count_nonzero(is_refused, dtype=tf.float32) * tf.constant([0.0, 0.0, 1.0])
    loss = tf.cond(measured, lambda: _loss(scores, weights, is_trained), lambda: tf.zeros([]))
    return metrics_of(counts), tf.reshape(found.gradients, tf.shape(hidden)), loss


def _weights(
    targets: tf.Tensor, negatives: tf.Tensor, is_trained: tf.Tensor, negative: tf.Tensor, mask_hits: bool
) -> tf.Tensor:
    """Return how often each token is trained with each negative of its run [R, B, K]."""
    weights = tf.cast(is_trained, tf.float32)[..., None] * maths.negative_weight(tf.shape(negatives)[-1], negative)
    weights = tf.broadcast_to(weights, tf.concat([tf.shape(targets), tf.shape(negatives)[-1:]], 0))
    if mask_hits:
        weights = tf.where(tf.equal(targets[..., None], negatives[..., None, :]), 0.0, weights)
    return weights


def _runs(
    hidden: tf.Tensor,
    targets: tf.Tensor,
    negatives: tf.Tensor,
    is_usable: tf.Tensor,
    weights: tf.Tensor,
    is_first: tf.Tensor,
) -> _Runs:
    both_usable = tf.logical_and(is_usable[..., :, None], is_usable[..., None, :])
    earlier = tf.where(both_usable, _equal_before(targets), 0.0)
    equal = tf.equal(negatives[..., :, None], negatives[..., None, :])
    return _Runs(
        hidden=hidden,
        squares=tf.reduce_sum(tf.square(hidden), -1),
        targets=targets,
        negatives=negatives,
        weights=weights,
        is_usable=is_usable,
        earlier=earlier,
        links=earlier * maths.scores(hidden, hidden),
        rounds=1 + tf.reduce_max(tf.cast(tf.reduce_sum(earlier, -1), tf.int32), -1),
        merge=tf.cast(tf.logical_and(equal, is_first[..., None]), tf.float32),
    )


def may_move_along(hidden: tf.Tensor, rate: tf.Tensor) -> tf.Tensor:
    """Return whether rows may move along hidden vectors [..., D] at this rate: whether they stay finite."""
    bound = tf.where(tf.abs(rate) <= LONGEST_STEP, LONGEST_STEP / tf.maximum(tf.abs(rate), 1.0), -1.0)
    return tf.reduce_all(tf.abs(hidden) <= bound, -1)


def _equal_before(rows: tf.Tensor) -> tf.Tensor:
    """Return 1 [R, N, N] where an earlier one of rows [R, N] is the same, else 0."""
    equal = tf.cast(tf.equal(rows[..., :, None], rows[..., None, :]), tf.float32)
    return tf.linalg.band_part(equal, -1, 0) - tf.linalg.band_part(equal, 0, 0)


def _train_runs(table: tf.Tensor, runs: _Runs, limits: StepLimits, frozen: bool, adagrad: bool) -> _TrainedRun:
    """Train one run after the other; return the results of all of them, with one entry a run."""

    def train_run(number: tf.Tensor, *arrays: tf.TensorArray) -> tuple[Any, ...]:
        found = _train_run(table, _Runs(*(tf.gather(of_runs, number) for of_runs in runs)), limits, frozen, adagrad)
        return number + 1, *(array.write(number, value) for array, value in zip(arrays, found, strict=True))

    count = tf.shape(runs.targets)[0]
    arrays = [
        tf.TensorArray(tf.float32, size=count, infer_shape=False, element_shape=None) for _ in _TrainedRun._fields
    ]
    _, *arrays = tf.while_loop(
        lambda number, *_: number < count, train_run, [tf.constant(0), *arrays], parallel_iterations=1
    )
    return _TrainedRun(*(array.stack() for array in arrays))


def _train_run(table: tf.Tensor, run: _Runs, limits: StepLimits, frozen: bool, adagrad: bool) -> _TrainedRun:
    """Train a run's targets, and then its negatives."""
    rows = whole_rows(table, run.targets)
    found, vectors = _target_steps(run, rows, limits.rate, frozen, adagrad)
    moved = None
    if not frozen:
        changes = tf.math.multiply_no_nan(run.hidden, found.steps[:, None])
        if adagrad:
            changes = tf.concat([changes, found.grown[:, None]], -1)
        moved = add_to(table, run.targets, changes)

    rows = whole_rows(table, after(moved, run.negatives))
    negatives = vectors_of(rows, adagrad)
    scores = tf.matmul(run.hidden, negatives, transpose_b=True)
    score_gradients = run.weights * tf.sigmoid(scores)
    gradients = tf.matmul(score_gradients, negatives) - found.gradients[:, None] * vectors
    scores = tf.concat([found.scores[:, None], scores], -1)
    if frozen:
        return _TrainedRun(gradients, scores, tf.zeros([0]))
    sums = tf.matmul(run.merge, tf.matmul(score_gradients, run.hidden, transpose_a=True))
    steps = steps_against(run.negatives, sums, limits, rows[:, -1] if adagrad else None)
    moved = add_to(table, run.negatives, steps.changes)
    return _TrainedRun(after(moved, gradients), scores, tf.stack([steps.wanted, steps.taken]))


def _target_steps(
    run: _Runs, rows: tf.Tensor, rate: tf.Tensor, frozen: bool, adagrad: bool
) -> tuple[_TargetSteps, tf.Tensor]:
    """Return the steps of a run's targets, whose rows are given as the run begins, and the vectors as tokens read them.

    Parameters
    ----------
    rows : tensor
        With states if there are any.
    """
    vectors = vectors_of(rows, adagrad)
    products = tf.reduce_sum(run.hidden * vectors, -1)
    states = rows[:, -1] if adagrad else None

    def steps_of(scores: tf.Tensor, states: tf.Tensor | None) -> _TargetSteps:
        gradients = tf.sigmoid(-scores)
        is_taken = tf.logical_and(run.is_usable, tf.math.is_finite(scores))
        rates, grown = rate, tf.zeros_like(scores)
        if states is not None and not frozen:
            rates, grown = rates_of(rate, states, tf.square(gradients) * run.squares)
            is_taken = tf.logical_and(is_taken, tf.logical_not(tf.math.is_nan(rates)))
            grown = tf.where(is_taken, grown, 0.0)
        gradients = tf.where(is_taken, gradients, 0.0)
        steps = tf.zeros_like(scores) if frozen else tf.math.multiply_no_nan(rates, gradients)
        return _TargetSteps(tf.where(is_taken, scores, float("nan")), gradients, steps, grown)

    def next_round(earlier: _TargetSteps) -> _TargetSteps:
        """Return the steps of all tokens that follow from right steps of the tokens before them."""
        grown = None if states is None else states + tf.linalg.matvec(run.earlier, earlier.grown)
        return steps_of(products + tf.linalg.matvec(run.links, earlier.steps), grown)

    first = steps_of(products, states)
    if frozen:
        return first, vectors

    def all_rounds() -> tuple[_TargetSteps, tf.Tensor]:
        _, found = tf.while_loop(
            lambda number, _: number < run.rounds,
            lambda number, found: (number + 1, next_round(found)),
            [tf.constant(1), first],
            parallel_iterations=1,
        )
        return found, vectors + tf.matmul(run.earlier * found.steps, run.hidden)

    found, vectors = tf.cond(run.rounds > 1, all_rounds, lambda: (first, vectors))
    return found, vectors


def _loss(scores: tf.Tensor, weights: tf.Tensor, is_trained: tf.Tensor) -> tf.Tensor:
    """Return the loss of all targets that were not refused, and of all negatives."""
    clamped = tf.clip_by_value(scores, -maths.LARGEST_SCORE, maths.LARGEST_SCORE)
    targets = tf.where(tf.logical_and(is_trained, tf.math.is_finite(scores[..., 0])), clamped[..., 0], 0.0)
    counts = tf.cast(tf.logical_and(is_trained, tf.math.is_finite(scores[..., 0])), tf.float32)
    of_targets = tf.reduce_sum(counts * tf.nn.softplus(-targets))
    return of_targets + tf.reduce_sum(weights * tf.nn.softplus(clamped[..., 1:]))

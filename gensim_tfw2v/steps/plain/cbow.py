"""CBOW with negative sampling in TensorFlow's own operations, run by run.

The targets of a run move in turn (`in_turn`), and then the run's negatives by one limited step each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.plain.in_turn import Outputs, Tokens, Turns, train_in_turn, turns_of
from gensim_tfw2v.steps.plain.rows import after
from gensim_tfw2v.steps.plain.table import StepLimits, count_steps, may_move_along, metrics_of, steps_against


class Candidates(NamedTuple):
    """The words that a batch's tokens are trained with."""

    targets: Any  # [R, B]
    negatives: Any  # [R, K]
    negative: Any  # negatives expected for each target
    mask_hits: bool  # a negative that is a token's own target does not count


class _Runs(NamedTuple):
    """The runs of a batch. Each field has one entry a run."""

    turns: Turns  # of the tokens' own words: one row a token
    negatives: Any  # [R, K]
    token_weights: Any  # [R, B]
    weights: Any  # [R, B, K], how often a token is trained with a negative
    merge: Any  # [R, K, K], adds up what equal negatives have, at the first one


class _TrainedRun(NamedTuple):
    """What training a run has come to."""

    gradients: Any  # [B, D], of the hidden vectors
    scores: Any  # [B, 1 + K], of targets and negatives
    lengths: Any  # [2, K], of the negatives' steps as they were wanted and taken; zeros if rows are frozen


def train_cbow(
    outputs: Outputs, tokens: Tokens, candidates: Candidates, limits: StepLimits
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Train targets and negatives; return the metrics, the gradients of hidden vectors [R, B, D], and the loss."""
    is_trained, (targets, negatives, *_) = tokens.have_contexts(), candidates
    may_move = may_move_along(tokens.hidden, limits.rate, tokens.weights)
    hidden = tf.where(may_move[..., None], tokens.hidden, 0.0)
    is_usable = tf.logical_and(is_trained, may_move)
    counts = tf.where(is_trained, tokens.weights, 0.0)
    weights = _weights(candidates, counts)
    is_first = _are_first(negatives)
    equal = tf.equal(negatives[..., :, None], negatives[..., None, :])
    merge = tf.cast(tf.logical_and(equal, is_first[..., None]), tf.float32)
    turns = turns_of(targets[:, None], is_usable[:, None], hidden, maths.scores(hidden, hidden))
    found = _train_runs(outputs, _Runs(turns, negatives, tokens.weights, weights, merge), limits)
    steps = tf.zeros([3])
    if not outputs.frozen:
        wanted, taken = tf.unstack(tf.reshape(found.lengths, [-1, 2, tf.shape(negatives)[-1]]), axis=1)
        steps = count_steps(is_first, wanted, taken, limits.max_step)
    scores = tf.reshape(found.scores, [tf.shape(hidden)[0], tf.shape(hidden)[1], -1])
    is_refused = tf.logical_and(is_trained, tf.math.is_nan(scores[..., 0]))
    steps += tf.math.count_nonzero(is_refused, dtype=tf.float32) * tf.constant([0.0, 0.0, 1.0])
    loss = tf.cond(outputs.measured, lambda: _loss(scores, weights, counts), lambda: tf.zeros([]))
    return metrics_of(steps), tf.reshape(found.gradients, tf.shape(hidden)), loss


def _weights(candidates: Candidates, counts: tf.Tensor) -> tf.Tensor:
    """Return how often each token, which counts so many times, is trained with each negative of its run [R, B, K]."""
    targets, negatives, negative, mask_hits = candidates
    weights = counts[..., None] * maths.negative_weight(tf.shape(negatives)[-1], negative)
    weights = tf.broadcast_to(weights, tf.concat([tf.shape(targets), tf.shape(negatives)[-1:]], 0))
    if mask_hits:
        weights = tf.where(tf.equal(targets[..., None], negatives[..., None, :]), 0.0, weights)
    return weights


def _are_first(rows: tf.Tensor) -> tf.Tensor:
    """Return whether no earlier one of rows [R, N] is the same."""
    equal = tf.cast(tf.equal(rows[..., :, None], rows[..., None, :]), tf.float32)
    return tf.reduce_sum(tf.linalg.band_part(equal, -1, 0), -1) == 1


def _train_runs(outputs: Outputs, runs: _Runs, limits: StepLimits) -> _TrainedRun:
    """Train one run after the other; return the results of all of them, with one entry a run."""

    def train_run(number: tf.Tensor, *arrays: tf.TensorArray) -> tuple[Any, ...]:
        run = tf.nest.map_structure(lambda of_runs: tf.gather(of_runs, number), runs)
        found = _train_run(outputs, run, limits)
        return number + 1, *(array.write(number, value) for array, value in zip(arrays, found, strict=True))

    count = tf.shape(runs.negatives)[0]
    arrays = [
        tf.TensorArray(tf.float32, size=count, infer_shape=False, element_shape=None) for _ in _TrainedRun._fields
    ]
    _, *arrays = tf.while_loop(
        lambda number, *_: number < count, train_run, [tf.constant(0), *arrays], parallel_iterations=1
    )
    return _TrainedRun(*(array.stack() for array in arrays))


def _train_run(outputs: Outputs, run: _Runs, limits: StepLimits) -> _TrainedRun:
    """Train a run's targets, and then its negatives."""
    hidden = run.turns.hidden
    targets, gradients, moved = train_in_turn(
        outputs, run.turns, lambda scores: -run.token_weights * tf.sigmoid(-scores), limits.rate
    )
    vectors, states = outputs.table.read(after(moved, run.negatives))
    scores = tf.matmul(hidden, vectors, transpose_b=True)
    score_gradients = run.weights * tf.sigmoid(scores)
    gradients += tf.matmul(score_gradients, vectors)
    scores = tf.concat([targets.scores[0, :, None], scores], -1)
    if outputs.frozen:
        return _TrainedRun(gradients, scores, tf.zeros([0]))
    sums = tf.matmul(run.merge, tf.matmul(score_gradients, hidden, transpose_a=True))
    steps = steps_against(run.negatives, sums, limits, states)
    moved = outputs.table.add(run.negatives, steps.changes, steps.growth)
    return _TrainedRun(after(moved, gradients), scores, tf.stack([steps.wanted, steps.taken]))


def _loss(scores: tf.Tensor, weights: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
    """Return the loss of the targets that were not refused, which count so many times, and of all negatives."""
    clamped = tf.clip_by_value(scores, -maths.LARGEST_SCORE, maths.LARGEST_SCORE)
    is_taken = tf.math.is_finite(scores[..., 0])
    targets, counts = (tf.where(is_taken, values, 0.0) for values in (clamped[..., 0], counts))
    of_targets = tf.reduce_sum(counts * tf.nn.softplus(-targets))
    return of_targets + tf.reduce_sum(weights * tf.nn.softplus(clamped[..., 1:]))

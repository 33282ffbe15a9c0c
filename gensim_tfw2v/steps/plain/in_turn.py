"""Rows that tokens of a run move in turn: a row takes a token's step before the next token reads it.

Tokens whose rows differ do not wait for each other. A row moves along hidden vectors, which do not change within a
batch. So the score of a row's later token follows from the row as the run begins, and from products of hidden vectors:

    score[i] = h[i] · row + sum over earlier tokens j of the row: step[j] (h[i] · h[j])

`train_in_turn` takes the steps of all tokens at once, then again with the steps that it has found, until these stay as
they are. Then each token has the score that it would have in turn. Rows that only one token moves need one round, and
those that n tokens move need n at most.

Axes: T tokens of a run, S rows of each token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps.plain.table import StepTable, rates_of

_SAME = 1e-6  # steps that differ by less, relative to the longest one, are equal


class Outputs(NamedTuple):
    """The table of outputs or nodes, and how its rows are trained."""

    table: StepTable
    frozen: bool
    measured: Any  # whether the loss is computed


class Tokens(NamedTuple):
    """The tokens of a batch's runs."""

    hidden: Any  # [R, B, D]
    weights: Any  # [R, B]
    left: Any  # [R, B], numbers of contexts
    right: Any
    further: Any = 0  # of contexts that are not in the window [R, B]; 0 if there are none

    def have_contexts(self) -> tf.Tensor:
        """Return whether tokens have contexts [R, B]; in CBOW, others are not trained."""
        return (self.left + self.right + self.further) > 0


class Turns(NamedTuple):
    """The rows of a run's tokens. With an axis of runs in front, those of several runs."""

    rows: Any  # [S, T]
    counts: Any  # [S, T] bool: which of them are trained
    hidden: Any  # [T, D]
    earlier: Any  # [S, T, T], 1 where a trained row is that of an earlier token
    links: Any  # [S, T, T], there the product of both hidden vectors
    rounds: Any  # how many earlier tokens have a row of the same token, at most


class Taken(NamedTuple):
    """The steps of tokens. All fields but the scores are 0 where a row is not trained or its step was refused."""

    scores: Any  # [S, T]; NaN where a step was refused
    gradients: Any  # [S, T], of the scores
    steps: Any  # [S, T]: a row moves along the hidden vector by so much
    grown: Any  # [S, T], by how much states grow; zeros if there are none


def turns_of(rows: tf.Tensor, counts: tf.Tensor, hidden: tf.Tensor, products: tf.Tensor) -> Turns:
    """Return the turns of rows [..., S, T], given the products [..., T, T] of hidden vectors."""
    same = tf.logical_and(tf.equal(rows[..., :, None], rows[..., None, :]), counts[..., None, :])
    tokens = tf.range(tf.shape(rows)[-1])
    earlier = tf.cast(tf.logical_and(same, tokens[:, None] > tokens), tf.float32)
    rounds = tf.cast(tf.reduce_max(tf.reduce_sum(earlier, -1), [-2, -1]), tf.int32)
    return Turns(rows, counts, hidden, earlier, earlier * products[..., None, :, :], rounds)


def train_in_turn(
    outputs: Outputs, turns: Turns, gradients_of: Callable[[tf.Tensor], tf.Tensor], rate: tf.Tensor
) -> tuple[Taken, tf.Tensor, Any]:
    """Move rows; return the steps, the gradients [T, D] of hidden vectors, and the operation that moves the rows.

    Parameters
    ----------
    gradients_of : callable
        Scores [S, T] → their gradients.
    """
    vectors, states = outputs.table.read(turns.rows)
    products = tf.reduce_sum(vectors * turns.hidden, -1)
    squares = tf.reduce_sum(tf.square(turns.hidden), -1)

    def taken(scores: tf.Tensor, states: tf.Tensor | None) -> Taken:
        counts = tf.logical_and(turns.counts, tf.math.is_finite(scores))
        gradients, rates, grown = gradients_of(scores), rate, tf.zeros_like(scores)
        if states is not None and not outputs.frozen:
            rates, grown = rates_of(rate, states, tf.square(gradients) * squares)
            counts = tf.logical_and(counts, tf.logical_not(tf.math.is_nan(rates)))
            grown = tf.where(counts, grown, 0.0)
        gradients = tf.where(counts, gradients, 0.0)
        steps = tf.zeros_like(scores) if outputs.frozen else -tf.math.multiply_no_nan(rates, gradients)
        return Taken(tf.where(counts, scores, float("nan")), gradients, steps, grown)

    def gradients_with(found: Taken) -> tf.Tensor:
        """Return the gradients of hidden vectors with rows as they are when the run begins."""
        return tf.reduce_sum(found.gradients[..., None] * vectors, 0)

    first = taken(products, states)
    if outputs.frozen:
        return first, gradients_with(first), None

    def another_round(earlier: Taken) -> Taken:
        grown = None if states is None else states + tf.linalg.matvec(turns.earlier, earlier.grown)
        return taken(products + tf.linalg.matvec(turns.links, earlier.steps), grown)

    def until_the_same() -> tuple[Taken, tf.Tensor]:
        _, found = tf.while_loop(
            lambda before, now: _differ(before, now),
            lambda _, now: (now, another_round(now)),
            (first, another_round(first)),
            parallel_iterations=1,
            maximum_iterations=turns.rounds - 1,
        )
        by_earlier = tf.reduce_sum(found.gradients[..., None] * turns.earlier * found.steps[:, None], 0)
        return found, gradients_with(found) + tf.matmul(by_earlier, turns.hidden)

    found, gradients = tf.cond(turns.rounds > 0, until_the_same, lambda: (first, gradients_with(first)))
    changes = tf.math.multiply_no_nan(turns.hidden, found.steps[..., None])
    growth = None if states is None else found.grown
    return found, gradients, outputs.table.add(turns.rows, changes, growth)


def _differ(before: Taken, now: Taken) -> tf.Tensor:
    """Return whether another round may change a step."""
    steps, grown = (_are_apart(old, new) for old, new in ((before.steps, now.steps), (before.grown, now.grown)))
    return tf.logical_or(steps, grown)


def _are_apart(before: tf.Tensor, now: tf.Tensor) -> tf.Tensor:
    return tf.reduce_max(tf.abs(before - now)) > _SAME * tf.reduce_max(tf.abs(now))

"""A table as the functions of a batch see it: its rows are read, and move against gradients by limited steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps.adagrad import rate_factor, states_of, vectors_of
from gensim_tfw2v.steps.maths import LONGEST_STEP
from gensim_tfw2v.steps.plain.rows import add_to, after, whole_rows


class StepLimits(NamedTuple):
    """How far rows move."""

    rate: Any
    max_step: Any
    factors: Any  # row r's step is scaled by factors[r % size], if there are any


class Steps(NamedTuple):
    """What changes rows, and the lengths of the steps."""

    changes: Any  # [n, D]
    growth: Any  # [n], of states; None if rows have none
    wanted: Any  # [n], before they were clipped
    taken: Any  # [n]; NaN, infinite or too long if a step was refused, and the row does not move


class StepTable(NamedTuple):
    """A table whose rows are vectors, which may have a state of Adagrad behind them."""

    handle: Any
    have_states: bool

    def read(self, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor | None]:
        """Return vectors [..., D] and states [...] of rows; None where rows have no states."""
        found = whole_rows(self.handle, rows)
        return vectors_of(found, self.have_states), states_of(found) if self.have_states else None

    def vectors(self, rows: tf.Tensor, number_type: Any = tf.float32) -> tf.Tensor:
        """Return the vectors of rows [..., D]."""
        return tf.cast(self.read(rows)[0], number_type)

    def add(self, rows: tf.Tensor, changes: tf.Tensor, growth: tf.Tensor | None) -> Any:
        """Add to vectors, and to states if there are any; return what `add_to` does."""
        if growth is not None:
            changes = tf.concat([changes, growth[..., None]], -1)
        return add_to(self.handle, rows, changes)

    def move(self, ids: tf.Tensor, gradients: tf.Tensor, limits: StepLimits) -> tf.Tensor:
        """Move each row by one limited step against the sum of the gradients [..., D] at its places.

        Places without a row have an id below 0. Return the numbers of touched rows and of clipped steps.
        """
        rows, numbers = tf.unique(tf.reshape(ids, [-1]), out_idx=ids.dtype)
        is_row = rows >= 0
        numbers = tf.where(tf.gather(is_row, numbers), numbers, -1)  # which the sum leaves out
        of_places = tf.reshape(tf.cast(gradients, tf.float32), [-1, tf.shape(gradients)[-1]])
        sums = tf.math.unsorted_segment_sum(of_places, numbers, tf.size(rows))
        rows = tf.maximum(rows, 0)
        states = self.read(rows)[1] if self.have_states else None  # without states, the rows need not be read
        steps = steps_against(rows, sums, limits, states)
        counts = count_steps(is_row, steps.wanted, steps.taken, limits.max_step)
        return after(self.add(rows, steps.changes, steps.growth), metrics_of(counts))


def may_move_along(hidden: tf.Tensor, rate: tf.Tensor, token_weights: tf.Tensor) -> tf.Tensor:
    """Return whether rows may move along hidden vectors [..., D] at this rate: whether they stay finite."""
    rate *= tf.maximum(tf.reduce_max(token_weights), 1.0)
    bound = tf.where(tf.abs(rate) <= LONGEST_STEP, LONGEST_STEP / tf.maximum(tf.abs(rate), 1.0), -1.0)
    return tf.reduce_all(tf.abs(hidden) <= bound, -1)


def steps_against(rows: tf.Tensor, sums: tf.Tensor, limits: StepLimits, states: tf.Tensor | None) -> Steps:
    """Return one limited step of each row against the sum [n, D] of its gradients.

    Parameters
    ----------
    states : tensor or None
        Adagrad's states [n], if rows have them.
    """
    square = tf.reduce_sum(tf.square(sums), -1)
    length = tf.sqrt(square)
    rate, growth = rates_of(limits.rate, states, square)
    wanted = rate * length
    rate = tf.where(wanted > limits.max_step, limits.max_step / length, rate)
    if limits.factors.shape[0] != 0:
        rate *= _factors_of(rows, limits.factors)
    taken = tf.abs(rate) * length
    changes = tf.math.multiply_no_nan(sums, tf.where(taken <= LONGEST_STEP, -rate, 0.0)[:, None])
    return Steps(changes, growth, wanted, taken)


def rates_of(rate: tf.Tensor, states: tf.Tensor | None, squares: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor | None]:
    """Return the rates of steps against gradients with these squared lengths, and by how much states grow.

    With states, a rate is NaN, and its state stays as it is, if the state would not be finite or the learning rate is
    too large.
    """
    if states is None:
        return rate, None
    grown = states + squares
    is_taken = tf.logical_and(grown <= tf.float32.max, tf.abs(rate) <= LONGEST_STEP)
    rates = tf.where(is_taken, rate * rate_factor(grown), float("nan"))
    return rates, tf.where(is_taken, squares, 0.0)


def _factors_of(rows: tf.Tensor, factors: tf.Tensor) -> tf.Tensor:
    """Return what multiplies the steps of rows: 1 if there are no factors."""
    some = tf.maximum(tf.size(factors), 1)
    return tf.gather(tf.concat([factors, [1.0]], 0)[:some], rows % tf.cast(some, rows.dtype))


def count_steps(is_row: tf.Tensor, wanted: tf.Tensor, taken: tf.Tensor, max_step: tf.Tensor) -> tf.Tensor:
    """Return how many rows have taken a step, how many steps were clipped, and how many refused [3]."""
    refused = tf.logical_not(taken <= LONGEST_STEP)  # it may be NaN
    flags = tf.reshape(tf.stack([is_row, wanted > max_step, refused]), [3, -1])
    return tf.math.count_nonzero(flags, axis=-1, dtype=tf.float32)


def metrics_of(counts: tf.Tensor) -> tf.Tensor:
    """Return the numbers of touched and clipped rows [2], or NaN for both if a step was refused."""
    return tf.where(counts[2] > 0, float("nan"), counts[:2])

"""Row-wise Adagrad in graphs: rows that end with a state, and the rate that follows from it.

The state of a row is a first value and, over the row's steps, the squared lengths of its gradients. A step has the
learning rate times FACTOR / sqrt(START + state), where the state includes the step's own gradient. So the steps of a
row become shorter the more the row has been trained. The operations take the steps:
`gensim_tfw2v/operations/adagrad.h` has the same rule and the same two numbers.
"""

from __future__ import annotations

import tensorflow as tf

from gensim_tfw2v import tuning


def rate_factor(states: tf.Tensor) -> tf.Tensor:
    """Return what multiplies the learning rate of rows with these states."""
    return tuning.ADAGRAD_FACTOR * tf.math.rsqrt(tuning.ADAGRAD_START + states)


def vectors_of(rows: tf.Tensor, have_state: bool) -> tf.Tensor:
    """Return the vectors [..., D] of rows, which may have a state behind them."""
    return rows[..., :-1] if have_state else rows


def states_of(rows: tf.Tensor) -> tf.Tensor:
    """Return the states [...] of rows that have them."""
    return rows[..., -1]

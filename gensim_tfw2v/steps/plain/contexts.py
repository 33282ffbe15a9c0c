"""CBOW's contexts in TensorFlow's own operations: one product of matrices sums the rows of a run, or its gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.plain.table import StepLimits, StepTable


class RowContexts(NamedTuple):
    """The contexts of a batch's tokens, each of them a row."""

    ids: Any  # [R, P], rows of the widened runs
    inside: Any  # [R, B, P], 1 where a place is within a token's reach and not its own
    forward: Any  # [R, B, P], weights of contexts in hidden vectors
    backward: Any  # [R, B, P], and in the gradients that contexts receive

    @classmethod
    def of(cls, ids: tf.Tensor, windows: tuple[tf.Tensor, ...], mean: bool) -> RowContexts:
        """Return contexts that weigh as their chances say, given the arguments of `maths.window_mask`."""
        mask, shares = maths.window_mask(*windows), maths.window_shares(*windows)
        return cls(ids, maths.places_inside(*windows[:3]), *maths.context_weights(mask, shares, mean))

    @classmethod
    def even(cls, ids: tf.Tensor, left: tf.Tensor, right: tf.Tensor, window: tf.Tensor, mean: bool) -> RowContexts:
        """Return contexts that have the same weight, if tokens have so many [R, B] on both sides."""
        inside = maths.places_inside(left, right, window)
        shares = tf.math.divide_no_nan(inside, tf.reduce_sum(inside, -1, keepdims=True))
        return cls(ids, inside, *maths.context_weights(inside, shares, mean))

    def sum(self, table: StepTable) -> tf.Tensor:
        """Return hidden vectors [R, B, D]: weighted sums of the rows of contexts."""
        return tf.matmul(self.forward, table.vectors(self.ids))

    def move(self, table: StepTable, gradients: tf.Tensor, limits: StepLimits) -> tf.Tensor:
        """Move the rows against the weighted gradients of hidden vectors; return touched and clipped rows."""
        of_places = tf.matmul(self.backward, gradients, transpose_a=True)
        is_context = tf.reduce_any(self.inside > 0, axis=1)
        return table.move(tf.where(is_context, self.ids, -1), of_places, limits)

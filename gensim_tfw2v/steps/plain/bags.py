"""Inputs that are bags of rows, in TensorFlow's own operations. Each row of a bag gets the bag's whole gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.adagrad import vectors_of
from gensim_tfw2v.steps.plain.rows import StepLimits, move_places, whole_rows
from gensim_tfw2v.steps.signature import Bags


class BatchBags(NamedTuple):
    """The bags of a batch's inputs."""

    members: Any  # [m], rows, those of one place after the other
    places: Any  # [m], the place of each among all R * P
    sizes: Any  # [R, P]

    @classmethod
    def of(cls, bags: Bags, numbers: tf.Tensor) -> BatchBags:
        """Return the bags of these numbers [R, P]."""
        begins = tf.gather(bags.offsets, tf.reshape(numbers, [-1]))
        sizes = tf.gather(bags.offsets, tf.reshape(numbers, [-1]) + 1) - begins
        found = tf.ragged.range(begins, begins + sizes)
        return cls(tf.gather(bags.members, found.values), found.value_rowids(), tf.reshape(sizes, tf.shape(numbers)))

    def sums(self, table: tf.Tensor, adagrad: bool) -> tf.Tensor:
        """Return the sum of the rows of each bag [R, P, D]."""
        rows = vectors_of(whole_rows(table, self.members), adagrad)
        sums = tf.math.unsorted_segment_sum(rows, self.places, tf.size(self.sizes))
        return tf.reshape(sums, [tf.shape(self.sizes)[0], tf.shape(self.sizes)[1], -1])

    def move(
        self, table: tf.Tensor, is_moved: tf.Tensor, gradients: tf.Tensor, limits: StepLimits, adagrad: bool
    ) -> tf.Tensor:
        """Move the rows of some bags [R, P] against the bags' gradients [R, P, D]; return touched and clipped rows."""
        rows = tf.where(tf.gather(tf.reshape(is_moved, [-1]), self.places), self.members, -1)
        of_bags = tf.reshape(gradients, [-1, tf.shape(gradients)[2]])
        return move_places(table, rows, tf.gather(of_bags, self.places), limits, adagrad)


def mean_rows(bags: BatchBags, table: tf.Tensor, adagrad: bool) -> tf.Tensor:
    """Return skip-gram's hidden vectors [R, B, D]: the means of the rows of bags."""
    sizes = tf.cast(tf.maximum(bags.sizes, 1), tf.float32)
    return bags.sums(table, adagrad) / sizes[..., None]


class BagContexts(NamedTuple):
    """CBOW's contexts, each of them a bag. All rows of a token's contexts have the same weight."""

    bags: BatchBags
    inside: Any  # [R, B, P], 1 where a place is a context of a token
    rows: Any  # [R, B, 1], of a token's contexts

    @classmethod
    def of(cls, bags: BatchBags, left: tf.Tensor, right: tf.Tensor) -> BagContexts:
        """Return the contexts of tokens that have so many [R, B] on both sides."""
        window = (tf.shape(bags.sizes)[-1] - tf.shape(left)[-1]) // 2
        inside = maths.places_inside(left, right, window)
        return cls(bags, inside, tf.matmul(inside, tf.cast(bags.sizes, tf.float32)[..., None]))

    def sum(self, table: tf.Tensor, mean: bool, adagrad: bool) -> tf.Tensor:
        """Return hidden vectors [R, B, D]: sums or means of the rows of contexts."""
        sums = tf.matmul(self.inside, self.bags.sums(table, adagrad))
        return tf.math.divide_no_nan(sums, self.rows) if mean else sums

    def move(self, table: tf.Tensor, mean: bool, gradients: tf.Tensor, limits: StepLimits, adagrad: bool) -> tf.Tensor:
        """Move the rows against the gradients of hidden vectors; return touched and clipped rows."""
        shares = self.inside if mean else tf.math.divide_no_nan(self.inside, self.rows)
        of_places = tf.matmul(shares, gradients, transpose_a=True)
        return self.bags.move(table, tf.reduce_any(self.inside > 0, axis=1), of_places, limits, adagrad)

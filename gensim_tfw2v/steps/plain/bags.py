"""Bags of rows, as inputs and as documents, in TensorFlow's own operations. Each row gets its bag's whole gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps.plain.table import StepLimits, StepTable
from gensim_tfw2v.steps.signature import Bags, Objective


class BatchBags(NamedTuple):
    """The bags of a batch's inputs."""

    members: Any  # [m], rows, those of one place after the other
    places: Any  # [m], the place of each among all R * P
    sizes: Any  # [R, P]

    @classmethod
    def of(cls, bags: Bags, numbers: tf.Tensor) -> BatchBags:
        """Return the bags of these numbers [R, P]; -1 is one without rows."""
        flat = tf.reshape(numbers, [-1])
        begins = tf.gather(bags.offsets, tf.maximum(flat, 0))
        sizes = tf.gather(bags.offsets, flat + 1) - begins  # 0 for -1
        found = tf.ragged.range(begins, begins + sizes)
        return cls(tf.gather(bags.members, found.values), found.value_rowids(), tf.reshape(sizes, tf.shape(numbers)))

    @classmethod
    def of_rows(cls, rows: tf.Tensor) -> BatchBags:
        """Return a bag of each row [R, P]."""
        return cls(tf.reshape(rows, [-1]), tf.range(tf.size(rows)), tf.ones(tf.shape(rows), tf.int32))

    def sums(self, table: StepTable) -> tf.Tensor:
        """Return the sum of the rows of each bag [R, P, D]."""
        sums = tf.math.unsorted_segment_sum(table.vectors(self.members), self.places, tf.size(self.sizes))
        return tf.reshape(sums, [tf.shape(self.sizes)[0], tf.shape(self.sizes)[1], -1])

    def move(self, table: StepTable, is_moved: tf.Tensor, gradients: tf.Tensor, limits: StepLimits) -> tf.Tensor:
        """Move the rows of some bags [R, P] against the bags' gradients [R, P, D]; return touched and clipped rows."""
        rows = tf.where(tf.gather(tf.reshape(is_moved, [-1]), self.places), self.members, -1)
        of_bags = tf.reshape(gradients, [-1, tf.shape(gradients)[2]])
        return table.move(rows, tf.gather(of_bags, self.places), limits)


def mean_rows(bags: BatchBags, table: StepTable) -> tf.Tensor:
    """Return skip-gram's hidden vectors [R, B, D]: the means of the rows of bags."""
    sizes = tf.cast(tf.maximum(bags.sizes, 1), tf.float32)
    return bags.sums(table) / sizes[..., None]


class BagContexts(NamedTuple):
    """CBOW's contexts, each of them a bag, and tokens' documents. All rows of a token have the same weight."""

    bags: BatchBags
    documents: BatchBags | None  # [R, B]
    inside: Any  # [R, B, P], 1 where a place is a context of a token
    rows: Any  # [R, B, 1], of a token's contexts and its document
    objective: Objective

    @classmethod
    def of(cls, objective: Objective, bags: BatchBags, documents: BatchBags | None, inside: tf.Tensor) -> BagContexts:
        """Return the contexts of tokens, given which places [R, B, P] are inside their windows."""
        rows = tf.matmul(inside, tf.cast(bags.sizes, tf.float32)[..., None])
        if documents is not None:
            rows += tf.cast(documents.sizes, tf.float32)[..., None]
        return cls(bags, documents, inside, rows, objective)

    def sum(self, table: StepTable) -> tf.Tensor:
        """Return hidden vectors [R, B, D]: sums or means of the rows of contexts and documents."""
        sums = tf.matmul(self.inside, self.bags.sums(table))
        if self.documents is not None:
            sums += self.documents.sums(table)
        return tf.math.divide_no_nan(sums, self.rows) if self.objective.mean_context else sums

    def move(self, table: StepTable, gradients: tf.Tensor, limits: StepLimits) -> tf.Tensor:
        """Move the rows against the gradients of hidden vectors; return touched and clipped rows.

        Frozen rows of contexts stay, and those of documents move.
        """
        shares = gradients if self.objective.mean_context else tf.math.divide_no_nan(gradients, self.rows)
        moved = tf.zeros([2])
        if self.documents is not None:
            moved += self.documents.move(table, self.documents.sizes > 0, shares, limits)
        if not self.objective.freezes_inputs:
            of_places = tf.matmul(self.inside, shares, transpose_a=True)
            moved += self.bags.move(table, tf.reduce_any(self.inside > 0, axis=1), of_places, limits)
        return moved

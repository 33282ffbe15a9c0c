"""A line of tokens → batches of runs of tokens: `gensim_tfw2v.blocks.batches` has the same in arrays."""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf


class TokenGrid(NamedTuple):
    """How the tokens of a block are cut. All numbers are int32 scalars."""

    tokens: tf.Tensor  # without padding
    batches: tf.Tensor  # S
    runs: tf.Tensor  # R, of a batch
    run_tokens: tf.Tensor  # B

    @property
    def shape(self) -> tf.Tensor:
        """S, R and B."""
        return tf.stack([self.batches, self.runs, self.run_tokens])

    def padded(self, values: tf.Tensor) -> tf.Tensor:
        """Return the values [k] of tokens in the grid [S, R, B], with zeros after the last token."""
        missing = tf.reduce_prod(self.shape) - self.tokens
        return tf.reshape(tf.concat([values, tf.zeros(tf.expand_dims(missing, 0), values.dtype)], 0), self.shape)

    def widened(self, padded: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
        """Return the values of widened runs [S, R, B + 2 * window], given those of the grid."""
        # int64, with which a GPU computes; it would leave int32 to the CPU.
        first, end, run_tokens, runs, last = (
            tf.cast(number, tf.int64)
            for number in (
                -window,
                self.run_tokens + window,
                self.run_tokens,
                self.batches * self.runs,
                tf.maximum(self.tokens - 1, 0),
            )
        )
        places = tf.range(first, end) + run_tokens * tf.expand_dims(tf.range(runs), 1)
        places = tf.maximum(tf.minimum(places, last), 0)  # beyond the ends, no place is a context
        wide = tf.gather(tf.reshape(padded, [-1]), places)
        return tf.reshape(wide, tf.stack([self.batches, self.runs, self.run_tokens + 2 * window]))


def cut(tokens: tf.Tensor, batch_tokens: tf.Tensor, run_tokens: tf.Tensor) -> TokenGrid:
    """Return the grid that holds so many tokens with the least padding."""
    batches = tf.maximum(_up(tokens, batch_tokens), 1)
    return TokenGrid(tokens, batches, tf.maximum(_up(tokens, batches * run_tokens), 1), run_tokens)


def _up(number: tf.Tensor, divisor: tf.Tensor) -> tf.Tensor:
    """Return the quotient, rounded up."""
    return (number + divisor - 1) // divisor

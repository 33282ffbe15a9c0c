"""The model: gathered rows and pair weights → gradients and loss. Pure TensorFlow, no state, no randomness.

All modes are one formula. Hidden vectors H (skip-gram: rows of the run's words; CBOW: mixtures of context rows) meet
candidate rows Z, each pair of which has

    labels  L   what it is to be told: 1 "yes", 0 "no"
    weights N   how often it is told so

so that with S = H Zt the loss and its gradients are

    loss = sum(N * (softplus(S) - L * S))        G = N * (sigmoid(S) - L)        dH = G Z        dZ = Gt H

Here are weights, and products of whole runs for skip-gram's pairs with contexts, which neighbours share, and with
negatives, which whole runs share; their operands may be bfloat16 where labels and weights are float32, and what stands
between them converts. With float32 the same is in `gensim_tfw2v/operations/candidates.c`. CBOW's pairs are in
`negatives.c` beside it, by the same formula: those with negatives, with L = 0, and each token's with its own word, with
N = 1. What is predicted down the tree is in `predictions.c`, with N = 1, or 0 for a node whose score is farther from 0
than `FARTHEST_NODE_SCORE`.

Axes: R runs, B tokens a run, P = B + 2 * window places of the widened run, C candidates, D vector size.
"""

from __future__ import annotations

import tensorflow as tf

# As in word2vec, whose table of the sigmoid ends there.
FARTHEST_NODE_SCORE = 6.0


def scores(rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """Return the product of every vector of `rows` [R, B, D] with its run's `columns` [R, C, D], as [R, B, C]."""
    return tf.matmul(rows, columns, transpose_b=True)


def back_to_rows(gradient: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """Return the gradient [R, B, D] of what made the rows of scores."""
    return tf.matmul(gradient, columns)


def back_to_columns(gradient: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """Return the gradient [R, C, D] of what made the columns of scores."""
    return tf.matmul(gradient, rows, transpose_a=True)


def sampling_gradient(score: tf.Tensor, labels: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Return G [R, B, C]."""
    return weights * (tf.sigmoid(score) - labels)


def sampling_loss(score: tf.Tensor, labels: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Return the negative log likelihood of each hidden vector [R, B]."""
    return tf.reduce_sum(weights * (tf.nn.softplus(score) - labels * score), axis=-1)


def window_mask(left: tf.Tensor, right: tf.Tensor, window: tf.Tensor, chance: tf.Tensor) -> tf.Tensor:
    """Return M [..., B, P]: how likely it is that the place in the widened run is a context of the token.

    Token i stands at place i + window; its contexts are among the `left[i]` places before and `right[i]` places after:
    those that its radius reaches. Each radius below `window` has this `chance`, the widest has what is left; with 0 all
    places are contexts.
    """
    distance = _distances(left, window)
    reached = tf.cumsum(_radius_chances(window, chance), reverse=True)  # [W], by the distance that is reached
    return _inside(left, right, distance) * tf.gather(reached, _radius_number(distance, window))


def window_shares(left: tf.Tensor, right: tf.Tensor, window: tf.Tensor, chance: tf.Tensor) -> tf.Tensor:
    """Return the share [..., B, P] that each place is expected to have of a token's contexts, as `window_mask`."""
    distance = _distances(left, window)
    radii = tf.range(1, window + 1)
    contexts = tf.minimum(left[..., None], radii) + tf.minimum(right[..., None], radii)  # [..., B, W]
    shares = tf.math.divide_no_nan(_radius_chances(window, chance), tf.cast(contexts, tf.float32))
    reached = tf.cumsum(shares, axis=-1, reverse=True)
    inside = _inside(left, right, distance)
    numbers = tf.broadcast_to(_radius_number(distance, window), tf.shape(inside))
    return inside * tf.gather(reached, numbers, batch_dims=left.shape.rank)


def _distances(left: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Return how far each place of the widened run is to the right of each token [B, P]."""
    run_tokens = tf.shape(left)[-1]
    return tf.range(run_tokens + 2 * window)[None, :] - (tf.range(run_tokens)[:, None] + window)


def _inside(left: tf.Tensor, right: tf.Tensor, distance: tf.Tensor) -> tf.Tensor:
    """Return 1 [..., B, P] where a place is another one than the token's and within its reach."""
    # One comparison covers both sides: |2 * distance - (right - left)| <= left + right.
    off_centre = tf.abs(2 * distance - (right - left)[..., None])
    inside = off_centre <= (left + right)[..., None]
    return tf.cast(inside, tf.float32) * tf.cast(tf.not_equal(distance, 0), tf.float32)


def _radius_chances(window: tf.Tensor, chance: tf.Tensor) -> tf.Tensor:
    """Return how likely each radius from 1 to `window` is [W]."""
    narrower = tf.fill([window - 1], chance)
    return tf.concat([narrower, [1.0 - chance * tf.cast(window - 1, tf.float32)]], 0)


def _radius_number(distance: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Return the number, from 0, of the narrowest radius that reaches so far; any that there is, if none does."""
    return tf.clip_by_value(tf.abs(distance), 1, window) - 1


def skip_gram_labels(candidates: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
    """Return L [P + K]: "yes" for the widened run's words, "no" for its `shared` = K negatives, the last."""
    return tf.cast(tf.range(candidates) < candidates - shared, tf.float32)


def negative_weight(shared: tf.Tensor, negative: tf.Tensor) -> tf.Tensor:
    """Return N of one of K = `shared` negatives and one pair, which is owed `negative` draws."""
    return negative / tf.cast(shared, tf.float32)


def skip_gram_weights(mask: tf.Tensor, shared: tf.Tensor, negative: tf.Tensor) -> tf.Tensor:
    """Return N [..., B, P + K] of skip-gram with M = `mask` and `shared` = K negatives a run."""
    weight = negative_weight(shared, negative) * tf.reduce_sum(mask, axis=-1, keepdims=True)
    return tf.concat([mask, tf.repeat(weight, shared, axis=-1)], -1)


def without_accidental_hits(
    weights: tf.Tensor, candidates: tf.Tensor, shared: tf.Tensor, negative: tf.Tensor
) -> tf.Tensor:
    """Return skip-gram's N without the draws that hit the very word they are drawn against, as gensim skips them.

    `candidates` [R, P + K] are numbers of any kind, the same for the same word.
    """
    targets = tf.shape(candidates)[-1] - shared
    target_ids, drawn_ids = candidates[..., :targets], candidates[..., targets:]
    hits = tf.matmul(weights[..., :targets], _same(target_ids, drawn_ids)) * negative_weight(shared, negative)
    return weights - tf.pad(hits, [[0, 0], [0, 0], [targets, 0]])


def _same(words: tf.Tensor, others: tf.Tensor) -> tf.Tensor:
    """Return 1 [R, T, K] where one of `words` [R, T] is one of `others` [R, K], 0 elsewhere."""
    return tf.cast(tf.equal(words[..., :, None], others[..., None, :]), tf.float32)


def mixing_weights(mask: tf.Tensor, shares: tf.Tensor, mean: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Return by which weights [..., P] CBOW mixes contexts into hidden vectors, and carries their error back.

    As in gensim, `mean` averages the contexts and gives each the whole error; otherwise contexts are summed and the
    error is shared out.
    """
    return (shares, mask) if mean else (mask, shares)

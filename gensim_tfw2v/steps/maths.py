"""The model: gathered rows and pair weights → gradients and loss. Pure TensorFlow, no state, no randomness.

All modes are one formula. Hidden vectors H (skip-gram: rows of the run's words; CBOW: weighted sums of context rows)
and candidate rows Z form pairs. Each pair has

    a label  L   1 for a context or target, 0 for a negative
    a weight N   how often the pair counts

With the scores S = H Zt, the loss and its gradients are

    loss = sum(N * (softplus(S) - L * S))        G = N * (sigmoid(S) - L)        dH = G Z        dZ = Gt H

This module has the weights, and the products of whole runs for skip-gram, whose operands may be bfloat16 while labels
and weights are float32. With float32, `gensim_tfw2v/operations/negative_sampling.c` computes the same. CBOW's pairs
are there, too: a token with its own word, N = 1, and with the run's negatives. Hierarchical softmax is in
`huffman_paths.c`: N = 1, or 0 for a node whose score is farther from 0 than `MAX_NODE_SCORE`.

Axes: R runs, B tokens a run, P = B + 2 * window places of the widened run, C candidates, D vector size.
"""

from __future__ import annotations

import tensorflow as tf

# As in word2vec, whose table of the sigmoid ends at this score.
MAX_NODE_SCORE = 6.0
# Farther from 0, scores count as this in a loss, as in the C operations: float32 has no exponential of more than 88.
LARGEST_SCORE = 80.0
# As in the C operations: longer steps, and NaN, are refused.
LONGEST_STEP = 1e32


def scores(rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """Return the product of every vector of `rows` [R, B, D] with its run's `columns` [R, C, D], as [R, B, C]."""
    return tf.matmul(rows, columns, transpose_b=True)


def back_to_rows(gradient: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """Return the gradient [R, B, D] of the vectors that make the rows of scores."""
    return tf.matmul(gradient, columns)


def back_to_columns(gradient: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """Return the gradient [R, C, D] of the vectors that make the columns of scores."""
    return tf.matmul(gradient, rows, transpose_a=True)


def sampling_gradient(score: tf.Tensor, labels: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Return G [R, B, C]."""
    return weights * (tf.sigmoid(score) - labels)


def sampling_loss(score: tf.Tensor, labels: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Return the negative log likelihood of each hidden vector [R, B]."""
    return tf.reduce_sum(weights * (tf.nn.softplus(score) - labels * score), axis=-1)


def window_mask(left: tf.Tensor, right: tf.Tensor, window: tf.Tensor, chance: tf.Tensor) -> tf.Tensor:
    """Return M [..., B, P]: the probability that a place of the widened run is a context of a token.

    Token i is at place i + window. Its contexts are, of the `left[i]` places before it and the `right[i]` places after
    it, those within its radius. Each radius below `window` has the probability `chance`, and the widest has the rest.
    If `chance` is 0, all these places are contexts.
    """
    distance = _distances(left, window)
    return _inside(left, right, distance) * tf.gather(reach_chances(window, chance), _radius_number(distance, window))


def window_shares(left: tf.Tensor, right: tf.Tensor, window: tf.Tensor, chance: tf.Tensor) -> tf.Tensor:
    """Return the expected share [..., B, P] of each place among a token's contexts, as in `window_mask`."""
    distance = _distances(left, window)
    radii = tf.cast(tf.range(1, window + 1), left.dtype)
    contexts = tf.minimum(left[..., None], radii) + tf.minimum(right[..., None], radii)  # [..., B, W]
    shares = tf.math.divide_no_nan(_radius_chances(window, chance), tf.cast(contexts, tf.float32))
    reached = tf.cumsum(shares, axis=-1, reverse=True)
    inside = _inside(left, right, distance)
    numbers = tf.broadcast_to(_radius_number(distance, window), tf.shape(inside))
    return inside * tf.gather(reached, numbers, batch_dims=left.shape.rank)


def places_inside(left: tf.Tensor, right: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Return 1 [..., B, P] for the places of the widened run that are within a token's reach, 0 elsewhere."""
    return _inside(left, right, _distances(left, window))


def _distances(left: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Return the distance [B, P] from each token to each place of the widened run, positive to the right."""
    run_tokens = tf.shape(left)[-1]
    return tf.range(run_tokens + 2 * window)[None, :] - (tf.range(run_tokens)[:, None] + window)


def _inside(left: tf.Tensor, right: tf.Tensor, distance: tf.Tensor) -> tf.Tensor:
    """Return 1 [..., B, P] for places within a token's reach, except its own."""
    distance = tf.cast(distance, left.dtype)
    # One comparison covers both sides: |2 * distance - (right - left)| <= left + right.
    off_centre = tf.abs(2 * distance - (right - left)[..., None])
    inside = off_centre <= (left + right)[..., None]
    return tf.cast(inside, tf.float32) * tf.cast(tf.not_equal(distance, 0), tf.float32)


def reach_chances(window: tf.Tensor, chance: tf.Tensor) -> tf.Tensor:
    """Return the probability [W] that a radius reaches each distance from 1 to `window`, as in `window_mask`."""
    return tf.cumsum(_radius_chances(window, chance), reverse=True)


def _radius_chances(window: tf.Tensor, chance: tf.Tensor) -> tf.Tensor:
    """Return the probability of each radius from 1 to `window` [W]."""
    narrower = tf.fill([window - 1], chance)
    return tf.concat([narrower, [1.0 - chance * tf.cast(window - 1, tf.float32)]], 0)


def _radius_number(distance: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Return the index, from 0, of the narrowest radius that reaches a distance, within the indices there are."""
    return tf.clip_by_value(tf.abs(distance), 1, window) - 1


def skip_gram_labels(candidates: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
    """Return L [P + K]: 1 for the words of the widened run, 0 for the K = `shared` negatives after them."""
    return tf.cast(tf.range(candidates) < candidates - shared, tf.float32)


def negative_weight(shared: tf.Tensor, negative: tf.Tensor) -> tf.Tensor:
    """Return the weight N of one of K = `shared` negatives for a pair that expects `negative` draws."""
    return negative / tf.cast(shared, tf.float32)


def skip_gram_weights(mask: tf.Tensor, shared: tf.Tensor, negative: tf.Tensor) -> tf.Tensor:
    """Return N [..., B, P + K] of skip-gram with M = `mask` and `shared` = K negatives a run."""
    weight = negative_weight(shared, negative) * tf.reduce_sum(mask, axis=-1, keepdims=True)
    return tf.concat([mask, tf.repeat(weight, shared, axis=-1)], -1)


def weighted(weights: tf.Tensor, of_tokens: tf.Tensor) -> tf.Tensor:
    """Return N [..., B, C] of tokens that count as many times as `of_tokens` [..., B] says."""
    return weights * of_tokens[..., None]


def without_accidental_hits(
    weights: tf.Tensor, candidates: tf.Tensor, shared: tf.Tensor, negative: tf.Tensor
) -> tf.Tensor:
    """Return skip-gram's N without accidental hits, negatives that equal the context, which gensim skips.

    `candidates` [R, P + K] are ids or any numbers that are equal for equal words.
    """
    targets = tf.shape(candidates)[-1] - shared
    target_ids, drawn_ids = candidates[..., :targets], candidates[..., targets:]
    hits = tf.matmul(weights[..., :targets], _same(target_ids, drawn_ids)) * negative_weight(shared, negative)
    return weights - tf.pad(hits, [[0, 0], [0, 0], [targets, 0]])


def _same(words: tf.Tensor, others: tf.Tensor) -> tf.Tensor:
    """Return 1 [R, T, K] where one of `words` [R, T] is one of `others` [R, K], 0 elsewhere."""
    return tf.cast(tf.equal(words[..., :, None], others[..., None, :]), tf.float32)


def context_weights(mask: tf.Tensor, shares: tf.Tensor, mean: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Return CBOW's weights of contexts [..., P] in hidden vectors, and in the gradients that contexts receive.

    As in gensim, `mean` averages the contexts, and each receives the whole gradient. Otherwise contexts are summed, and
    each receives its share of the gradient.
    """
    return (shares, mask) if mean else (mask, shares)

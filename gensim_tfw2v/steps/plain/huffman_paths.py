"""Hierarchical softmax in TensorFlow's own operations.

A node takes its step before the next word reads it, and every path begins at the root. In CBOW, the nodes of a run's
words move in turn (`in_turn`). In skip-gram, several tokens predict a word together, and words are trained one after
the other, each with a few operations on the rows of its path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.plain.in_turn import Outputs, Tokens, train_in_turn, turns_of
from gensim_tfw2v.steps.plain.rows import after
from gensim_tfw2v.steps.plain.table import may_move_along, rates_of
from gensim_tfw2v.steps.signature import HuffmanPaths

_MOST_TOGETHER = 16  # as in huffman_paths.c: tokens that predict a word with the same version of its rows


class _Predictions(NamedTuple):
    """The words that the runs of a batch predict, in order: U a run, each predicted by some of the run's tokens."""

    begins: Any  # [R, U], where the paths of words begin and end in all steps
    ends: Any
    hidden: Any  # [R, B, D]
    weights: Any  # [R, B]
    counts: Any  # [R, U, B, 1] bool: whether a token predicts the word; in CBOW [R, U]: whether its own does


class _Tree(NamedTuple):
    """The steps of all paths, and how nodes are trained."""

    outputs: Outputs
    nodes: Any  # [steps]
    signs: Any  # [steps], -1 where the sigmoid of the score should be 1, else 1
    rate: Any
    max_score: float


def train_huffman_paths(
    outputs: Outputs,
    tokens: Tokens,
    paths: HuffmanPaths,
    every_context: bool,
    rate: tf.Tensor,
    max_score: float = maths.MAX_NODE_SCORE,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Train the nodes on the paths of a batch's words; return the gradients of hidden vectors [R, B, D], and the loss.

    A loss of NaN says that steps were refused.

    Parameters
    ----------
    paths : HuffmanPaths
        The words of the widened runs [R, P], and the paths of all words.
    every_context : bool
        Whether a token predicts its contexts, as in skip-gram. Otherwise it predicts its own word.
    """
    is_usable = tf.reduce_all(may_move_along(tokens.hidden, rate, tokens.weights), -1)
    hidden = tf.where(is_usable[:, None, None], tokens.hidden, 0.0)  # of a run that trains nothing
    make = _by_contexts if every_context else _by_own_words
    runs = make(tokens._replace(hidden=hidden), paths)
    is_counted = tf.reshape(is_usable, [-1, *[1] * (runs.counts.shape.rank - 1)])
    runs = runs._replace(counts=tf.logical_and(runs.counts, is_counted))
    tree = _Tree(outputs, paths.nodes, 2.0 * tf.cast(paths.codes, tf.float32) - 1.0, rate, max_score)
    train_run = _train_by_contexts if every_context else _train_own_words

    def train(measures: bool) -> tuple[tf.Tensor, tf.Tensor]:
        return _train_runs(runs, lambda run: train_run(run, tree, measures))

    gradients, loss = tf.cond(outputs.measured, lambda: train(True), lambda: train(False))
    loss += tf.where(tf.reduce_all(is_usable), 0.0, float("nan"))
    return tf.reshape(gradients, tf.shape(hidden)), loss


def _window(tokens: Tokens, paths: HuffmanPaths) -> tf.Tensor:
    return (tf.shape(paths.words)[-1] - tf.shape(tokens.left)[-1]) // 2


def _by_contexts(tokens: Tokens, paths: HuffmanPaths) -> _Predictions:
    """Return the words of all places, each predicted by the tokens whose context it is, a few at a time."""
    window = _window(tokens, paths)
    inside = tf.transpose(maths.places_inside(tokens.left, tokens.right, window), [0, 2, 1]) > 0  # [R, P, B]
    number = tf.cumsum(tf.cast(inside, tf.int32), axis=-1, exclusive=True)  # of a token among those of the place
    parts = tf.maximum(-(-tf.minimum(2 * window, tf.shape(tokens.left)[-1]) // _MOST_TOGETHER), 1)
    is_part = tf.equal(number[:, :, None] // _MOST_TOGETHER, tf.range(parts)[:, None])  # [R, P, parts, B]
    runs, places, of_run = tf.unstack(tf.shape(inside), num=3)
    counts = tf.reshape(tf.logical_and(inside[:, :, None], is_part), [runs, places * parts, of_run, 1])
    return _predictions(tokens, tf.repeat(paths.words, parts, axis=1), paths.offsets, counts)


def _by_own_words(tokens: Tokens, paths: HuffmanPaths) -> _Predictions:
    """Return the tokens' own words, each predicted by its token."""
    window = _window(tokens, paths)
    own = paths.words[:, window : window + tf.shape(tokens.left)[-1]]
    return _predictions(tokens, own, paths.offsets, tokens.have_contexts())


def _predictions(tokens: Tokens, words: tf.Tensor, offsets: tf.Tensor, counts: tf.Tensor) -> _Predictions:
    begins, ends = tf.gather(offsets, words), tf.gather(offsets, words + 1)
    return _Predictions(begins, ends, tokens.hidden, tokens.weights, counts)


def _train_runs(
    runs: _Predictions, train_run: Callable[[_Predictions], tuple[tf.Tensor, tf.Tensor]]
) -> tuple[tf.Tensor, tf.Tensor]:
    """Train one run after the other; return the gradients [R, B, D] of hidden vectors, and the loss."""

    def train_next(run: tf.Tensor, loss: tf.Tensor, gradients: tf.TensorArray) -> tuple[Any, ...]:
        found, of_run = train_run(_Predictions(*(tf.gather(values, run) for values in runs)))
        return run + 1, loss + of_run, gradients.write(run, found)

    count = tf.shape(runs.begins)[0]
    start = [tf.constant(0), tf.zeros([]), _array(count)]
    _, loss, gradients = tf.while_loop(lambda run, *_: run < count, train_next, start, parallel_iterations=1)
    return gradients.stack(), loss


def _array(size: tf.Tensor) -> tf.TensorArray:
    return tf.TensorArray(tf.float32, size=size, element_shape=None, infer_shape=False)


def _losses(wrong: tf.Tensor) -> tf.Tensor:
    """Return the losses of scores, which count as `wrong` as they are above 0."""
    return tf.nn.softplus(tf.clip_by_value(wrong, -maths.LARGEST_SCORE, maths.LARGEST_SCORE))


# -- own words ---------------------------------------------------------------------------------------------------------


def _train_own_words(run: _Predictions, tree: _Tree, measures: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Train a run's tokens with their own words; return the gradients [B, D] of hidden vectors, and the loss.

    A node must have one depth, as in a tree: paths are compared depth by depth. A loss of NaN says that steps were
    refused.
    """
    places = run.begins + tf.range(tf.reduce_max(run.ends - run.begins))[:, None]  # [L, B], in all steps
    counts = tf.logical_and(places < run.ends, run.counts)
    places = tf.where(counts, places, 0)
    nodes, signs = (tf.gather(values, places) for values in (tree.nodes, tree.signs))
    turns = turns_of(nodes, counts, run.hidden, maths.scores(run.hidden, run.hidden))

    def gradients_of(scores: tf.Tensor) -> tf.Tensor:
        return run.weights * tf.where(tf.abs(scores) < tree.max_score, signs * tf.sigmoid(signs * scores), 0.0)

    found, gradients, moved = train_in_turn(tree.outputs, turns, gradients_of, tree.rate)
    loss = tf.zeros([])
    if measures:
        loss = tf.reduce_sum(tf.where(counts, run.weights * _losses(signs * found.scores), 0.0))
    refused = tf.reduce_any(tf.logical_and(counts, tf.math.is_nan(found.scores)))
    return after(moved, gradients), tf.where(refused, float("nan"), loss)


# -- words of contexts -------------------------------------------------------------------------------------------------


def _train_by_contexts(run: _Predictions, tree: _Tree, measures: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Train a run's words in turn; return the gradients [B, D] of hidden vectors, and the loss."""
    count = tf.shape(run.begins)[0]

    def train_word(word: tf.Tensor, loss: tf.Tensor, gradients: tf.Tensor) -> tuple[Any, ...]:
        at, after_it = tf.expand_dims(word, 0), tf.expand_dims(word + 1, 0)
        path = _part(run.begins, at, after_it), _part(run.ends, at, after_it)
        counts = tf.raw_ops.StridedSlice(input=run.counts, begin=at, end=after_it, strides=[1], shrink_axis_mask=1)
        found, of_word = _train_path(tree, *path, run, counts, measures)
        # Not all rows are of a known rank, which must not change from word to word.
        return word + 1, loss + of_word, tf.ensure_shape(gradients + found, gradients.shape)

    start = [tf.constant(0), tf.zeros([]), tf.zeros_like(run.hidden)]
    _, loss, gradients = tf.while_loop(lambda word, *_: word < count, train_word, start, parallel_iterations=1)
    return gradients, loss


def _part(values: tf.Tensor, begin: tf.Tensor, end: tf.Tensor) -> tf.Tensor:
    """Return values between two indices [1]; Python's slices would add operations that make these."""
    return tf.raw_ops.StridedSlice(input=values, begin=begin, end=end, strides=[1])


def _train_path(
    tree: _Tree, begin: tf.Tensor, end: tf.Tensor, run: _Predictions, counts: tf.Tensor, measures: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Move the nodes of a path; return the gradients [B, D] of the hidden vectors that predict it, and the loss.

    A score that is not finite moves nothing, and makes the loss NaN.
    """
    nodes, signs = _part(tree.nodes, begin, end), _part(tree.signs, begin, end)
    table, frozen, _ = tree.outputs
    vectors, states = table.read(nodes)
    scores = tf.matmul(run.hidden, vectors, transpose_b=True)  # [B, L]
    wrong, weights = signs * scores, run.weights[:, None]
    moves = tf.logical_and(counts, tf.abs(scores) < tree.max_score)
    score_gradients = tf.where(moves, weights * signs * tf.sigmoid(wrong), 0.0)
    gradients = tf.matmul(score_gradients, vectors)
    counted = tf.where(counts, wrong, 0.0)
    loss = 0.0 * tf.reduce_sum(counted)
    if measures:
        loss += tf.reduce_sum(tf.where(counts, weights * _losses(counted), 0.0))
    if frozen:
        return gradients, loss
    sums = tf.matmul(score_gradients, run.hidden, transpose_a=True)  # [L, D]
    rates, growth = rates_of(tree.rate, states, tf.reduce_sum(tf.square(sums), -1))
    if growth is None:
        return after(table.add(nodes, -rates * sums, None), gradients), loss
    is_taken = tf.logical_not(tf.math.is_nan(rates))
    changes = tf.math.multiply_no_nan(sums, tf.where(is_taken, -rates, 0.0)[:, None])
    return after(table.add(nodes, changes, growth), gradients), tf.where(tf.reduce_all(is_taken), loss, float("nan"))

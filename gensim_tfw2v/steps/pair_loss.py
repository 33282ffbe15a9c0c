"""Rows of pairs → the loss of each pair, by the formula of `steps/maths`, in NumPy and without gradients.

With the score S of a hidden vector and an output row, or a node's row, the loss is softplus(-S) for the target and for
a node whose branch has the code 0. For a negative, and for the code 1, it is softplus(S).
"""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array


def hidden_vectors(inputs: Float32Array, offsets: Int64Array, mean: bool) -> Float32Array:
    """Return the sum, or the mean, of each pair's input rows: those from ``offsets[p]`` to ``offsets[p + 1]``."""
    sizes = np.diff(offsets)
    if (sizes == 1).all():
        return inputs
    sums: Float32Array = np.add.reduceat(inputs, offsets[:-1], axis=0)
    if mean:
        sums /= sizes[:, None]
    return sums


def sampled_losses(
    hidden: Float32Array, targets: Float32Array, negatives: Float32Array, counts: BoolArray
) -> Float64Array:
    """Return each pair's loss with its target [pairs, D] and those negatives [pairs, K, D] that count [pairs, K]."""
    positive = np.einsum("pd,pd->p", hidden, targets)
    negative = np.matmul(negatives, hidden[:, :, None])[:, :, 0]
    losses: Float64Array = _softplus(-positive) + (_softplus(negative) * counts).sum(axis=1)
    return losses


def path_losses(hidden: Float32Array, nodes: Float32Array, codes: Int32Array, paths: Int64Array) -> Float64Array:
    """Return each pair's loss with its Huffman path: the nodes from ``paths[p]`` to ``paths[p + 1]``."""
    lengths = np.diff(paths)
    scores = np.einsum("nd,nd->n", np.repeat(hidden, lengths, axis=0), nodes)
    losses = _softplus(np.where(codes == 0, -scores, scores))
    numbers = np.repeat(np.arange(len(hidden)), lengths)
    return np.bincount(numbers, weights=losses, minlength=len(hidden)).astype(np.float64)


def _softplus(scores: Float32Array) -> Float64Array:
    return np.asarray(np.logaddexp(0.0, scores.astype(np.float64)))

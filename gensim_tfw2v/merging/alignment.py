"""Rotations of the sub-models onto one consensus (ALiR, arXiv 1812.03825).

A rotation W has orthonormal columns, or orthonormal rows where the sub-model is narrower than the consensus. It may
reflect as well. The consensus of a word is the mean of ``vectors @ W`` over the sub-models that have the word. The best
rotations are those whose consensus is closest to the rotated vectors of all sub-models.

In the paper, a word that a sub-model lacks has the vector ``consensus @ W.T`` there, and a sub-model is rotated onto a
consensus that includes its own vectors. Both only keep a sub-model where it is, because the former W already puts
reconstructed vectors and own vectors in place. The rounds here leave both out, so fewer rounds get as far.
"""

from __future__ import annotations

import logging

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.merging.joint import JointWords
from gensim_tfw2v.merging.pieces import blas_threads_for
from gensim_tfw2v.merging.products import Products, Progress, largest_directions

logger = logging.getLogger(__name__)


def align(
    joint: JointWords,
    products: Products,
    size: int,
    *,
    tolerance: float,
    most_rounds: int,
    seed: int,
    progress: Progress,
) -> Float64Array:
    """Return the rotations of the sub-models, one below the other: [width, size].

    A round rotates one sub-model after the other onto the consensus of the others. The rounds end when the consensus
    moves by less than `tolerance` of its length, where a word counts once for each sub-model that has it.
    """
    rotations, moved = _start(joint, products, size, seed), 1.0
    for number in range(1, most_rounds + 1):
        with blas_threads_for(joint.width):
            moved = _round(joint, products, rotations)
        progress(number / most_rounds)
        if moved <= tolerance:
            logger.info("the sub-models are aligned after %d rounds", number)
            return rotations
    logger.warning(
        "after %d rounds the consensus still moves by %.2g of its length; raise most_rounds or the tolerance",
        most_rounds,
        moved,
    )
    return rotations


def _round(joint: JointWords, products: Products, rotations: Float64Array) -> float:
    """Rotate each sub-model onto the consensus of the others; return by what part of its length the consensus moved."""
    before = rotations.copy()
    for columns in joint.columns:
        rotations[columns] = _nearest_rotation(_towards(products, rotations, columns))
    step = rotations - before
    length = float(np.vdot(rotations, products.mean @ rotations))
    return float(np.sqrt(max(0.0, np.vdot(step, products.mean @ step)) / length)) if length else 0.0


def consensus(joint: JointWords, words: slice, rows: Float64Array, rotations: Float64Array) -> Float64Array:
    """Return the mean of some words' rotated vectors, [words, size], given their concatenation."""
    return np.asarray(rows @ rotations / joint.presence[words, None])


def complete(joint: JointWords, words: slice, rows: Float64Array, rotations: Float64Array) -> Float64Array:
    """Reconstruct the missing vectors in the concatenation of some words, [words, width], and return it."""
    has = joint.has(words)
    partly = ~has.all(axis=1)
    if partly.any():
        means = consensus(joint, words, rows, rotations)
        for present, columns in zip(has.T, joint.columns, strict=True):
            rows[~present, columns] = means[~present] @ rotations[columns].T
    return rows


def _start(joint: JointWords, products: Products, size: int, seed: int) -> Float64Array:
    """Return first rotations: onto the truncated SVD of the common words, if there are enough of them."""
    if joint.common < size:
        return _start_in_a_row(joint, products, size)
    towards = products.common @ largest_directions(products.common, size, seed)
    with blas_threads_for(joint.width):
        return np.concatenate([_nearest_rotation(towards[columns]) for columns in joint.columns])


def _start_in_a_row(joint: JointWords, products: Products, size: int) -> Float64Array:
    """Rotate one sub-model after the other onto those before it: first the largest, then the one that shares most."""
    shared = joint.shared_words()
    words = shared.diagonal().copy()
    rotations = np.zeros((joint.width, size))
    first = int(words.argmax())
    columns = joint.columns[first]
    rotations[columns] = np.eye(columns.stop - columns.start, size)
    placed, waiting = [first], [number for number in range(len(words)) if number != first and words[number]]
    while waiting:
        overlap = [int(shared[number, placed].max()) for number in waiting]
        number = waiting.pop(int(np.argmax(overlap)))
        if not max(overlap):
            raise ValueError(f"{joint.names[number]} shares no word with the others, and cannot be rotated onto them")
        if max(overlap) < size:
            logger.warning(
                "%s shares only %d words with another one, fewer than the vectors' %d numbers; "
                "its rotation is partly arbitrary",
                *(joint.names[number], max(overlap), size),
            )
        columns = joint.columns[number]
        rotations[columns] = _nearest_rotation(products.mean[columns] @ rotations)
        placed.append(number)
    return rotations


def _towards(products: Products, rotations: Float64Array, columns: slice) -> Float64Array:
    """Return the products of a sub-model's columns with the consensus of the others."""
    towards = products.mean[columns] @ rotations
    size = rotations.shape[1]
    if columns.stop - columns.start <= size:
        towards -= products.mean[columns, columns] @ rotations[columns]
    return np.asarray(towards)  # includes a wider sub-model's own part, which decides which of its directions are kept


def _nearest_rotation(towards: Float64Array) -> Float64Array:
    """Solve the orthogonal Procrustes problem, given the products of the columns of both sides."""
    left, _, right = np.linalg.svd(towards, full_matrices=False)
    return np.asarray(left @ right)

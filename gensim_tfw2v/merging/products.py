"""Products of all pairs of columns, summed over the words. The merging methods need nothing else.

A consensus is the mean of the sub-models' rotated vectors. Its products with the columns of a sub-model are sums of
these products as well. The rounds of a merge therefore read no vectors, and cost the same for any number of words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.merging.joint import JointWords
from gensim_tfw2v.merging.pieces import blas_threads_for, side_by_side

_EXACT_WIDTH = 6144  # up to this many columns all eigenvectors are exact, which takes minutes on two cores
_SPARE_DIRECTIONS = 50
_ITERATIONS = 20

Progress = Callable[[float], None]  # called with the fraction that is done, from 0 to 1


@dataclass(frozen=True)
class Products:
    """Products of the columns of the concatenation.

    Attributes
    ----------
    common : Float64Array
        [width, width]: over the words that every sub-model has.
    mean : Float64Array
        [width, width]: over all words, each divided by the number of sub-models that have it. Times the rotations,
        one below the other, it gives the products of each sub-model's columns with the consensus.
    """

    common: Float64Array
    mean: Float64Array


def products_of(joint: JointWords, progress: Progress) -> Products:
    """Return the products of the sub-models' columns, from one reading of their vectors."""
    count = len(joint.submodels)
    common, rest = np.zeros((joint.width, joint.width)), np.zeros((joint.width, joint.width))

    def products_of_piece(words: slice) -> tuple[Float64Array | None, Float64Array | None]:
        rows, presence = joint.concatenation(words), joint.presence[words]
        everywhere = presence == count
        found: list[Float64Array | None] = []
        for chosen, has_all in ((everywhere, True), (~everywhere, False)):
            part = rows[chosen] if not chosen.all() else rows
            if not has_all:
                part = part / np.sqrt(presence[chosen])[:, None]
            found.append(part.T @ part if len(part) else None)
        return found[0], found[1]

    for words, (of_common, of_rest) in side_by_side(products_of_piece, joint.pieces(), joint.width):
        if of_common is not None:
            common += of_common
        if of_rest is not None:
            rest += of_rest
        progress(words.stop / len(joint))
    rest += common / count
    return Products(common, rest)


def largest_directions(products: Float64Array, size: int, seed: int) -> Float64Array:
    """Return the `size` eigenvectors of a symmetric matrix with the largest eigenvalues: [width, size].

    They are the right singular vectors of the rows whose products the matrix has. For a matrix with many columns they
    are found by iterations from random vectors, and those of close eigenvalues can mix.
    """
    from scipy.linalg import eigh

    width = len(products)
    if width <= _EXACT_WIDTH:
        with blas_threads_for(width):
            vectors: Float64Array = eigh(products, subset_by_index=(width - size, width - 1))[1][:, ::-1]
        return vectors
    start = np.random.default_rng(seed).standard_normal((width, min(width, size + _SPARE_DIRECTIONS)))
    directions = np.linalg.qr(products @ start)[0]
    for _ in range(_ITERATIONS):
        directions = np.linalg.qr(products @ directions)[0]
    best: Float64Array = directions @ eigh(directions.T @ products @ directions)[1][:, : -size - 1 : -1]
    return best

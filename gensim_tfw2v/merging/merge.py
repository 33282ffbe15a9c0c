"""Sub-models → one vector for every word, by one of four methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gensim_tfw2v.arrays import Float32Array, Float64Array
from gensim_tfw2v.merging import METHODS
from gensim_tfw2v.merging.alignment import align, complete, consensus
from gensim_tfw2v.merging.joint import JointWords, SubModel
from gensim_tfw2v.merging.pieces import side_by_side
from gensim_tfw2v.merging.products import Progress, largest_directions, products_of

TOLERANCE = 1e-4
MOST_ROUNDS = 100


def merge_submodels(
    submodels: Sequence[SubModel],
    method: str = "alir",
    size: int | None = None,
    *,
    tolerance: float = TOLERANCE,
    most_rounds: int = MOST_ROUNDS,
    seed: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Float32Array:
    """Return one vector for each word of the joint vocabulary.

    All methods first give the sub-models vectors of the same mean square over the words that all of them have.

    Parameters
    ----------
    submodels : sequence of SubModel
        Each word must be in at least one of them. A sub-model without words is left out. The vectors are read in
        pieces, at most four times.
    method : str
        - `"alir"`: the mean of the sub-models' vectors after each is rotated towards the consensus.
        - `"pca"`: the first principal components of the concatenation.
        - `"concatenate"`: the vectors side by side.
        - `"average"`: the mean of the vectors as they are, which suits sub-models that trained from equal vectors.

        `"alir"` and `"average"` take the mean over the sub-models that have the word. In the concatenation of the other
        two, a missing vector is replaced by the one that `"alir"` expects there: the consensus, rotated back.
    size : int, optional
        Numbers in a merged vector; by default as many as in the widest sub-model, or with `"concatenate"` as many as in
        all of them together.
    tolerance : float
        The rounds of `"alir"` end when the consensus moves by less than this part of its length.
    most_rounds : int
        The rounds end after this many, with a warning.
    seed : int
        Seed of the iterations that find the principal directions of more than 6,144 columns.
    progress : callable, optional
        Called at intervals with the fraction that is done, from 0 to 1.

    Returns
    -------
    Float32Array
        [words, size].

    Raises
    ------
    ValueError
        If some words are in no sub-model, if a sub-model shares no word with the others, or if `size` does not fit.
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r} is unknown; choose one of {', '.join(map(repr, METHODS))}")
    joint = JointWords(submodels)
    merged = np.empty((len(joint), _checked_size(joint, method, size)), np.float32)
    report = progress or (lambda part: None)
    if not len(joint):
        return merged
    # Alignment takes about 90 % of the time, or half of it if the principal components need products of their own.
    middle = 0.5 if method == "pca" else 0.9
    rotations = np.tile(np.eye(joint.sizes[0], merged.shape[1]), (len(joint.submodels), 1))  # no rotation
    if method == "alir" or (method != "average" and joint.common < len(joint)):
        size = merged.shape[1] if method == "alir" else max(joint.sizes)
        products = products_of(joint, _share(report, 0, 0.9 * middle))
        aligning = _share(report, 0.9 * middle, middle)
        rotations = align(
            joint, products, size, tolerance=tolerance, most_rounds=most_rounds, seed=seed, progress=aligning
        )
    if method == "pca":
        _write_components(merged, joint, rotations, seed, _share(report, middle, 1))
    else:
        transform = complete if method == "concatenate" else consensus
        _write(merged, joint, lambda words, rows: transform(joint, words, rows, rotations), _share(report, middle, 1))
    return merged


def _checked_size(joint: JointWords, method: str, size: int | None) -> int:
    """Return the numbers in a merged vector."""
    sizes = sorted(set(joint.sizes))
    if method == "average" and len(sizes) > 1:
        raise ValueError(f"the average needs sub-models of one size, not {', '.join(map(str, sizes))}")
    only = {"average": sizes[0], "concatenate": joint.width}.get(method)
    if size is not None and only not in (None, size):
        raise ValueError(f"method {method!r} gives vectors of size {only}, not {size}; leave the size out")
    chosen = size if size is not None else only or sizes[-1]
    if not 1 <= chosen <= joint.width:
        raise ValueError(f"size {chosen} is not between 1 and {joint.width}, the columns of all sub-models")
    return chosen


def _share(progress: Progress, first: float, last: float) -> Progress:
    """Return a function that reports the progress of one stage, which goes from `first` to `last` of the whole."""
    return lambda part: progress(first + part * (last - first))


def _write(
    merged: Float32Array,
    joint: JointWords,
    transform: Callable[[slice, Float64Array], Float64Array],
    progress: Progress,
) -> None:
    """Fill `merged` with the transformed concatenation."""

    def write(words: slice) -> None:
        merged[words] = transform(words, joint.concatenation(words))

    for words, _ in side_by_side(write, joint.pieces(), joint.width):
        progress(words.stop / len(joint))


def _write_components(
    merged: Float32Array, joint: JointWords, rotations: Float64Array, seed: int, progress: Progress
) -> None:
    """Fill `merged` with the first principal components of the completed concatenation."""
    total, products = np.zeros(joint.width), np.zeros((joint.width, joint.width))

    def sums_of(words: slice) -> tuple[Float64Array, Float64Array]:
        rows = complete(joint, words, joint.concatenation(words), rotations)
        return rows.sum(axis=0), rows.T @ rows

    for words, (of_rows, of_products) in side_by_side(sums_of, joint.pieces(), joint.width):
        total += of_rows
        products += of_products
        progress(0.8 * words.stop / len(joint))
    mean = total / len(joint)
    directions = largest_directions(products - len(joint) * np.outer(mean, mean), merged.shape[1], seed)
    _write(
        merged,
        joint,
        lambda words, rows: (complete(joint, words, rows, rotations) - mean) @ directions,
        _share(progress, 0.8, 1),
    )

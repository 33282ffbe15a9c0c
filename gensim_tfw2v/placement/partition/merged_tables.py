"""Tables of sub-models that trained apart → one table of each name.

Sub-models have different coordinates. A merge of the input vectors decides the coordinates of the result. Each
sub-model's other tables are turned by the matrix that turns its inputs closest to the result, and then averaged.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Float32Array, Float64Array
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.merging.joint import SubModel
from gensim_tfw2v.merging.merge import merge_submodels
from gensim_tfw2v.merging.pieces import side_by_side
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.runtime.blas import one_blas_thread

logger = logging.getLogger(__name__)

AVERAGE = "average"
TRAINED = "trained"  # a table of one number a word, which is 1 where the input vector has been trained
_ROWS_AT_ONCE = 65_536


class SubModelTables(Protocol):
    """The tables of one sub-model, wherever they are."""

    @property
    def number(self) -> int:
        """The sub-model's number."""
        ...

    def rows(self, name: str, first: int, end: int) -> Float32Array:
        """Return rows `first` to `end` of a table, also of `TRAINED`."""
        ...

    def load_table(self, name: str, values: Float32Array) -> None:
        """Set one table, `TRAINED` as well, to these values."""

    def read_table(self, name: str, values: Float32Array) -> None:
        """Write the current vectors of one table into an array of its shape."""

    def trained(self) -> BoolArray:
        """Return for each word whether its input vector has been trained."""
        ...


def merge_tables(submodels: Sequence[SubModelTables], into: ModelTables, method: str, tree: HuffmanTree | None) -> None:
    """Write the merged tables of sub-models into arrays.

    A single sub-model's tables are copied as they are. Input vectors whose lock factor is 0 keep their values.

    Parameters
    ----------
    method : str
        How input vectors are merged (`merging.merge`).
    tree : HuffmanTree, optional
        The tree of hierarchical softmax, whose nodes are in the table of nodes.
    """
    if len(submodels) == 1:
        for name, values in into.present().items():
            submodels[0].read_table(name, values)
        return
    began = time.monotonic()
    trained = [submodel.trained() for submodel in submodels]
    inputs = [np.empty(into.inputs.shape, np.float32) for _ in submodels]
    for submodel, values in zip(submodels, inputs, strict=True):
        submodel.read_table("inputs", values)
    merged = _merged_inputs(inputs, trained, method)
    turns = _turns_of_outputs(inputs, merged, trained, method)
    locks = np.resize(into.lock_factors, len(merged))
    np.copyto(into.inputs, np.where((locks == 0)[:, None], inputs[0], merged))
    del inputs, merged
    if into.outputs is not None:
        _average_turned(submodels, "outputs", into.outputs, turns, trained)
    if into.nodes is not None:
        assert tree is not None
        of_nodes = [_nodes_above(is_trained, tree, len(into.nodes)) for is_trained in trained]
        _average_turned(submodels, "nodes", into.nodes, turns, of_nodes)
    logger.info("%i sub-models are merged in %.1f s", len(submodels), time.monotonic() - began)


def _merged_inputs(inputs: Sequence[Float32Array], trained: Sequence[BoolArray], method: str) -> Float32Array:
    """Return the merged input vectors, in the coordinates of the sub-model that trained most words.

    Words that no sub-model trained have the vector with which all of them began.
    """
    merged: Float32Array = inputs[0].copy()
    known = np.flatnonzero(np.any(trained, axis=0))
    if not known.size:
        return merged
    submodels = [
        SubModel(values, np.where(is_trained[known], known, -1))
        for values, is_trained in zip(inputs, trained, strict=True)
    ]
    try:
        found = merge_submodels(submodels, method, merged.shape[1])
    except ValueError as error:  # a sub-model has no word in common with others
        logger.warning("%s; the sub-models began with equal vectors, so they are averaged without rotation", error)
        found, method = merge_submodels(submodels, AVERAGE), AVERAGE
    merged[known] = found
    if method != AVERAGE:
        largest = int(np.argmax([is_trained.sum() for is_trained in trained]))
        with one_blas_thread():
            turn, _ = _turn(merged, inputs[largest], trained[largest])
            merged[known] = found @ turn.astype(np.float32)
    return merged


def _turns_of_outputs(
    inputs: Sequence[Float32Array], merged: Float32Array, trained: Sequence[BoolArray], method: str
) -> list[Float32Array]:
    """Return the matrix by which each sub-model's outputs are turned, given the inputs of all of them."""
    if method == AVERAGE:
        return [np.eye(merged.shape[1], dtype=np.float32) for _ in inputs]

    def turn(number: int) -> Float32Array:
        return _turn_of_outputs(inputs[number], merged, trained[number])

    return [found for _, found in side_by_side(turn, range(len(inputs)), columns=merged.shape[1])]


def _turn_of_outputs(values: Float32Array, merged: Float32Array, is_trained: BoolArray) -> Float32Array:
    """Return the matrix that turns a sub-model's outputs to merged inputs, so that their products stay as they are."""
    turn, products = _turn(values, merged, is_trained)
    squares = sum(float(np.square(merged[rows], dtype=np.float64).sum()) for rows in _pieces(is_trained))
    turn_of_outputs: Float32Array = (turn * (products / squares if squares else 1.0)).astype(np.float32)
    return turn_of_outputs


def _turn(start: Float32Array, end: Float32Array, is_trained: BoolArray) -> tuple[Float64Array, float]:
    """Return the orthogonal matrix that turns trained rows closest to those of `end`, and the sum of products then."""
    products = np.zeros((start.shape[1], end.shape[1]))
    for rows in _pieces(is_trained):
        products += start[rows].astype(np.float64).T @ end[rows].astype(np.float64)
    left, sizes, right = np.linalg.svd(products)
    return left @ right, float(sizes.sum())


def _pieces(is_chosen: BoolArray) -> Iterator[np.ndarray]:
    """Yield the numbers of the chosen rows, some at a time."""
    rows = np.flatnonzero(is_chosen)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        yield rows[first : first + _ROWS_AT_ONCE]


def _average_turned(
    submodels: Sequence[SubModelTables],
    name: str,
    values: Float32Array,
    turns: Sequence[Float32Array],
    trained: Sequence[BoolArray],
) -> None:
    """Write the mean of each turned row over the sub-models that trained it, or over all sub-models if none did."""
    count = np.sum(trained, axis=0)
    of_submodel, total = np.empty_like(values), np.zeros_like(values)
    for submodel, turn, is_trained in zip(submodels, turns, trained, strict=True):
        submodel.read_table(name, of_submodel)
        weights = np.where(count, is_trained / np.maximum(count, 1), 1 / len(submodels)).astype(np.float32)
        with one_blas_thread():
            for first in range(0, len(values), _ROWS_AT_ONCE):
                rows = slice(first, first + _ROWS_AT_ONCE)
                total[rows] += weights[rows, None] * (of_submodel[rows] @ turn)
    np.copyto(values, total)


def _nodes_above(is_trained: BoolArray, tree: HuffmanTree, nodes: int) -> BoolArray:
    """Return for each node of the tree whether a trained word is below it."""
    is_above = np.zeros(nodes, bool)
    is_above[tree.nodes[np.repeat(is_trained, tree.path_lengths())]] = True
    return is_above

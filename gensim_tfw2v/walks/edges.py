"""A list of edges, in a file or in memory → numbers of their nodes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import BoolArray, Float32Array, Int32Array
from gensim_tfw2v.corpus.file_parts import file_parts
from gensim_tfw2v.corpus.file_scan import sentences_of_parts
from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary

_COMMENT = "#"
_NO_WEIGHTS: Float32Array = np.empty(0, np.float32)


@dataclass(frozen=True)
class Edges:
    """Edges between numbered nodes.

    Parameters
    ----------
    nodes : list
        The words that the nodes are.
    first, second : ndarray
        The numbers of the two nodes of each edge.
    weights : ndarray
        The weight of each edge; empty if all are equal.
    """

    nodes: list[Any]
    first: Int32Array
    second: Int32Array
    weights: Float32Array


def edges_of(edges: Any, weights: Any = None, workers: int = 1) -> Edges:
    """Return the edges in a file, an array, an iterable of pairs or a sparse matrix.

    Raises
    ------
    ValueError
        If an edge is no pair of nodes, or a weight no number above 0.
    """
    if isinstance(edges, str | os.PathLike):
        if weights is not None:
            raise ValueError(f"edges in the file {os.fspath(edges)!r} have their weights there; leave out weights=")
        return read_edges(edges, workers)
    if hasattr(edges, "tocoo"):
        if weights is not None:
            raise ValueError("the entries of a matrix are the weights of its edges; leave out weights=")
        matrix = edges.tocoo()
        nodes = list(range(max(matrix.shape)))
        first, second = matrix.row.astype(np.int32), matrix.col.astype(np.int32)
        return Edges(nodes, first, second, _checked_weights(matrix.data, len(first)))
    pairs = _pairs(edges)
    nodes, numbers = _numbered(pairs.ravel())
    first, second = numbers[0::2].copy(), numbers[1::2].copy()
    return Edges(nodes, first, second, _NO_WEIGHTS if weights is None else _checked_weights(weights, len(pairs)))


def read_edges(path: str | os.PathLike[str], workers: int = 1) -> Edges:
    """Return the edges in a file: on each line two nodes, and a weight if all lines have one, between white space.

    The file may be compressed. Lines that begin with ``#`` are comments.

    Parameters
    ----------
    workers : int, optional
        Reading processes.
    """
    vocabulary = RawVocabulary()
    parts = file_parts(os.path.abspath(path), workers, tuning.FILE_PART_BYTES)
    found = list(sentences_of_parts(parts, vocabulary.number))
    none = np.empty(0, np.int32)
    ids: Int32Array = np.concatenate([none, *(sentences.ids for sentences in found)])
    lengths: Int32Array = np.concatenate([none, *(sentences.lengths for sentences in found)])
    del found
    words, _ = vocabulary.words_and_counts()
    is_edge = _without_comments(words, ids, lengths)
    if not is_edge.all():
        ids = ids[np.repeat(is_edge, lengths)]
    columns = _columns(os.fspath(path), lengths, is_edge)
    first, second = ids[0::columns], ids[1::columns]
    distinct, numbers = _places(len(words), first, second)
    nodes = [words[node] for node in distinct]
    weights = _NO_WEIGHTS if columns == 2 else _weights_of(os.fspath(path), words, ids[2::columns])
    return Edges(nodes, numbers[first], numbers[second], weights)


def _without_comments(words: list[str], ids: Int32Array, lengths: Int32Array) -> BoolArray:
    """Return which lines do not begin with the mark of a comment."""
    is_mark = np.fromiter((word.startswith(_COMMENT) for word in words), bool, len(words))
    begins = np.cumsum(lengths, dtype=np.int64) - lengths
    is_edge: BoolArray = ~is_mark[ids[begins]]
    return is_edge


def _columns(path: str, lengths: Int32Array, is_edge: BoolArray) -> int:
    """Return how many columns all lines with an edge have."""
    columns = lengths[is_edge]
    if not columns.size:
        raise ValueError(f"{path} holds no edges; write two nodes on each line")
    wrong = np.flatnonzero(is_edge & ((lengths != columns[0]) | ((lengths != 2) & (lengths != 3))))
    if wrong.size:
        line = int(wrong[0])
        raise ValueError(
            f"{path}: line {line + 1}, without empty ones, has {lengths[line]} columns; an edge is two nodes, and a "
            "weight if all edges have one, between white space"
        )
    return int(columns[0])


def _weights_of(path: str, words: list[str], ids: Int32Array) -> Float32Array:
    """Return weights, given by the numbers of their texts."""
    values = np.zeros(len(words), np.float32)
    for word in np.unique(ids).tolist():
        try:
            values[word] = float(words[word])
        except ValueError:
            values[word] = math.nan
        if not (math.isfinite(values[word]) and values[word] > 0):
            raise ValueError(f"{path}: {words[word]!r} is no weight of an edge; give a number above 0")
    return values[ids]


def _pairs(edges: Iterable[Any]) -> npt.NDArray[Any]:
    """Return pairs of nodes as an array of two columns."""
    pairs = edges if isinstance(edges, np.ndarray) else np.asarray(list(edges))
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iuUO":
        raise ValueError(
            f"edges is an array of shape {pairs.shape} and type {pairs.dtype}; give pairs of whole numbers or of text"
        )
    if not len(pairs):
        raise ValueError("edges holds no edges; give pairs of nodes")
    return pairs


def _numbered(nodes: npt.NDArray[Any]) -> tuple[list[Any], Int32Array]:
    """Return distinct nodes, in rising order, and the number of each node among them."""
    if nodes.dtype.kind in "iu" and nodes.min() >= 0 and nodes.max() <= 4 * nodes.size:  # a table is small
        found, table = _places(int(nodes.max()) + 1, nodes)
        return found, table[nodes]
    distinct, places = np.unique(nodes, return_inverse=True)
    return distinct.tolist(), places.astype(np.int32).ravel()


def _places(end: int, *numbers: npt.NDArray[Any]) -> tuple[list[int], Int32Array]:
    """Return the distinct ones of some numbers below `end`, in rising order, and the place of each by its value."""
    is_there = np.zeros(end, bool)
    for some in numbers:
        is_there[some] = True
    return np.flatnonzero(is_there).tolist(), np.cumsum(is_there, dtype=np.int32) - np.int32(1)


def _checked_weights(weights: Any, edges: int) -> Float32Array:
    """Return weights as an array, which is empty if all are equal."""
    values: Float32Array = np.asarray(weights, np.float32)
    if values.shape != (edges,):
        raise ValueError(f"weights has the shape {values.shape}, and there are {edges} edges; give one for each")
    if not (np.isfinite(values).all() and (values > 0).all()):
        wrong = values[~(np.isfinite(values) & (values > 0))][0]
        raise ValueError(f"weights holds {wrong}; a weight must be a number above 0")
    return _NO_WEIGHTS if (values == values[0]).all() else values

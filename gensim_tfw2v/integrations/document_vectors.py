"""Vectors of words → vectors of documents: means, weighted or not, without a common direction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from gensim_tfw2v.arrays import Float32Array, Int32Array, Int64Array


@dataclass(frozen=True)
class KnownWords:
    """The words of documents that have a vector.

    Parameters
    ----------
    ids : ndarray
        Their ids, document by document.
    ends : ndarray
        0, and for each document how many of them are in it and in those before it.
    """

    ids: Int32Array
    ends: Int64Array

    @classmethod
    def of(cls, documents: Iterable[Collection[Any]], key_to_index: Mapping[Any, int]) -> KnownWords:
        """Return the known words of documents, each a collection of words."""
        ids: list[int] = []
        ends = [0]
        for document in documents:
            ids += [found for found in map(key_to_index.get, document) if found is not None]
            ends.append(len(ids))
        return cls(np.array(ids, np.int32), np.array(ends, np.int64))

    def means(self, vectors: Float32Array, weights: Float32Array | None = None) -> Float32Array:
        """Return the mean of each document's vectors, each times the weight of its word; 0 where there is no word."""
        values = np.ones(len(self.ids), np.float32) if weights is None else weights[self.ids]
        sums = csr_matrix((values, self.ids, self.ends), shape=(len(self.ends) - 1, len(vectors))) @ vectors
        means: Float32Array = (sums / np.maximum(np.diff(self.ends), 1)[:, None]).astype(np.float32)
        return means


def sif_weights(counts: Iterable[int], a: float) -> Float32Array:
    """Return the weights of smooth inverse frequency, a / (a + share of the corpus), by Arora, Liang and Ma (2017)."""
    found = np.array(list(counts), np.float64)
    weights: Float32Array = (a / (a + found / found.sum())).astype(np.float32)
    return weights


def common_direction(vectors: Float32Array) -> Float32Array:
    """Return the direction of length 1 in which vectors have the largest mean square."""
    _, directions = np.linalg.eigh(vectors.T.astype(np.float64) @ vectors)
    return directions[:, -1].astype(np.float32)  # eigenvalues rise


def without_direction(vectors: Float32Array, direction: Float32Array) -> Float32Array:
    """Return vectors without their part along a direction of length 1."""
    return vectors - np.outer(vectors @ direction, direction)

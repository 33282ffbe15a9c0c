"""Vectors → the same directions with length 1, whose products are cosine similarities."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.arrays import Float32Array


def of_length_1(vectors: Float32Array) -> Float32Array:
    """Return a vector, or each row of a matrix, with length 1; zeros stay zeros, because they have no direction."""
    lengths: Float32Array = np.linalg.norm(vectors, axis=-1, keepdims=True)
    divisors: Float32Array = np.where(lengths > 0, lengths, np.float32(1))
    found: Float32Array = vectors / divisors
    return found

"""Merging as the papers write it, in plain NumPy: whole matrices, singular values, a round after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import orthogonal_procrustes

from gensim_tfw2v.merging.joint import SubModel


def whole_matrices(submodels: Sequence[SubModel]) -> list[np.ndarray]:
    """Return each sub-model's vectors of all words, with NaN for missing ones, of equal mean square in common words."""
    matrices = []
    for submodel in submodels:
        matrix = submodel.vectors[submodel.rows].astype(np.float64)
        matrix[submodel.rows < 0] = np.nan
        matrices.append(matrix)
    common = np.all([submodel.rows >= 0 for submodel in submodels], axis=0)
    lengths = [np.sqrt(np.mean(np.sum(matrix[common] ** 2, axis=1))) for matrix in matrices]
    return [matrix * np.mean(lengths) / length for matrix, length in zip(matrices, lengths, strict=True)]


def plain_alir(matrices: Sequence[np.ndarray], size: int, rounds: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the consensus and the rotations of ALiR, in whose rounds the reconstructed words take part."""
    common = np.all([np.isfinite(matrix[:, 0]) for matrix in matrices], axis=0)
    left, values, _ = np.linalg.svd(np.hstack([matrix[common] for matrix in matrices]), full_matrices=False)
    start = (left * values)[:, :size] / np.sqrt(len(matrices))
    rotations = [orthogonal_procrustes(matrix[common], start)[0] for matrix in matrices]
    rotated = [matrix @ rotation for matrix, rotation in zip(matrices, rotations, strict=True)]
    consensus = np.nanmean(rotated, axis=0)
    for _ in range(rounds):
        filled = [
            np.where(np.isnan(matrix), consensus @ rotation.T, matrix)
            for matrix, rotation in zip(matrices, rotations, strict=True)
        ]
        rotations = [orthogonal_procrustes(matrix, consensus)[0] for matrix in filled]
        consensus = np.mean([matrix @ turn for matrix, turn in zip(filled, rotations, strict=True)], axis=0)
    return consensus, rotations


def plain_completion(matrices: Sequence[np.ndarray], size: int, rounds: int) -> np.ndarray:
    """Return the concatenation of the matrices, where missing vectors are what ALiR expects."""
    consensus, rotations = plain_alir(matrices, size, rounds)
    return np.hstack(
        [
            np.where(np.isnan(matrix), consensus @ rotation.T, matrix)
            for matrix, rotation in zip(matrices, rotations, strict=True)
        ]
    )


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines of all pairs of rows, which no rotation changes."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T

"""The loss and the gradient that a training operation makes of one score."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.operation_calls import Arguments, run_operation
from support.reference import LARGEST_SCORE, MAX_NODE_SCORE

SCORES = (-1e30, -88.5, -79.0, -20.0, -5.9, -1.0, 0.0, 3.0, 5.9, 6.1, 20.0, 79.0, 80.5, 1e30)
METHODS = ("target", "node")


def check_one_score(score: float, code: int, method: str) -> None:
    """Check CBOW's loss and gradient in vectors of one number.

    Two words are each other's only context. Both have the hidden vector `score`, and predict a row that is 1 and stays.
    """
    is_node = method == "node"
    arguments = _arguments(score) | (_node(code) if is_node else _target())
    attributes = {"hierarchical_softmax": is_node, "negative_sampling": not is_node, "freezes_outputs": True}
    found = run_operation("train_cbow", arguments, attributes)
    assert found.error is None and found.output is not None
    limited = float(np.clip(score, -LARGEST_SCORE, LARGEST_SCORE))
    wrong = limited if is_node and code else -limited
    np.testing.assert_allclose(found.output[0], [2 * np.log1p(np.exp(wrong))], rtol=1e-6, atol=1e-30)
    step = 1 / (1 + np.exp(-wrong)) * (-1 if is_node and code else 1)
    moves = not is_node or abs(score) < MAX_NODE_SCORE
    expected = np.full((2, 1), score + step * moves)
    np.testing.assert_allclose(found.tables["inputs"], expected, rtol=1e-6, atol=1e-6)


def _arguments(score: float) -> Arguments:
    return {
        "inputs": np.full((2, 1), score, np.float32),
        "left": np.array([[[0, 1]]], np.int32),
        "right": np.array([[[1, 0]]], np.int32),
        "input_ids": np.array([[[0, 0, 1, 1]]], np.int32),
        "window": np.int32(1),
        "learning_rates": np.ones(1, np.float32),
        "max_step": np.float32(1e9),
        "lock_factors": np.zeros(0, np.float32),
        "negative": np.float32(0),
        "shared_negatives": np.int32(1),
        "measured": np.ones(1, bool),
        "radius_chance": np.float32(0),
        "span": np.array([0, 1], np.int32),
    }


def _node(code: int) -> Arguments:
    return {
        "nodes": np.ones((1, 1), np.float32),
        "words": np.zeros((1, 1, 4), np.int32),
        "path_nodes": np.zeros(1, np.int32),
        "codes": np.array([code], np.int32),
        "offsets": np.array([0, 1], np.int32),
    }


def _target() -> dict[str, Any]:
    """Return a target for both words, and a negative that counts nothing."""
    return {
        "outputs": np.ones((1, 1), np.float32),
        "targets": np.zeros((1, 1, 2), np.int32),
        "candidates": np.zeros((1, 1, 1), np.int32),
    }

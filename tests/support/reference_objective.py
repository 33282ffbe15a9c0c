"""The loss of a block by negative sampling, pair by pair in float64. Nothing here shares code with the package."""

from __future__ import annotations

from typing import Any

import numpy as np


def reference_loss(block: Any, settings: Any, inputs: np.ndarray, outputs: np.ndarray) -> float:
    """Return the loss of all pairs of a block: of each token, contexts and negatives as the block has them."""
    total = 0.0
    inputs, outputs = inputs.astype(np.float64), outputs.astype(np.float64)
    batches, runs, run_tokens = block.left.shape
    of_run = _skip_gram if settings.skip_gram else _cbow
    for batch in range(batches):
        for run in range(runs):
            for token in range(run_tokens):
                windows = _windows(block, settings, batch, run, token)
                if any(windows[0]):
                    total += of_run(block, settings, inputs, outputs, (batch, run, token), windows)
    return total


def _windows(block: Any, settings: Any, batch: int, run: int, token: int) -> list[list[int]]:
    """Return the equally likely windows of a token, as places in its widened run."""
    left, right = int(block.left[batch, run, token]), int(block.right[batch, run, token])
    radii = range(1, settings.window + 1) if settings.mean_windows else [settings.window]
    centre = token + block.window
    return [
        [*range(centre - min(left, radius), centre), *range(centre + 1, centre + min(right, radius) + 1)]
        for radius in radii
    ]


def _pair(score: float, label: int) -> float:
    return float(np.logaddexp(0.0, -score if label else score))


def _skip_gram(
    block: Any, settings: Any, inputs: np.ndarray, outputs: np.ndarray, at: tuple[int, int, int], windows: list[Any]
) -> float:
    candidates = block.candidate_ids[at[0], at[1]]
    hidden = inputs[block.input_ids[at]]
    drawn = candidates[-settings.shared_negatives :]
    loss = 0.0
    for window in windows:
        for place in window:
            target = candidates[place]
            loss += _pair(hidden @ outputs[target], 1)
            loss += _negatives(settings, hidden, outputs, drawn, target)
    return loss / len(windows)


def _cbow(
    block: Any, settings: Any, inputs: np.ndarray, outputs: np.ndarray, at: tuple[int, int, int], windows: list[Any]
) -> float:
    words = block.input_ids[at[0], at[1]]
    hidden = np.zeros(inputs.shape[1])
    for window in windows:
        rows = inputs[words[window]]
        hidden += (rows.mean(0) if settings.mean_context else rows.sum(0)) / len(windows)
    target = block.target_ids[at]
    drawn = block.candidate_ids[at[0], at[1]]
    return _pair(hidden @ outputs[target], 1) + _negatives(settings, hidden, outputs, drawn, target)


def _negatives(settings: Any, hidden: np.ndarray, outputs: np.ndarray, drawn: np.ndarray, target: int) -> float:
    weight = settings.negative / len(drawn)
    counted = [word for word in drawn if word != target or not settings.mask_accidental_hits]
    return weight * sum(_pair(hidden @ outputs[word], 0) for word in counted)

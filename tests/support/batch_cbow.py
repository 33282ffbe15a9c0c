"""The plain function that trains CBOW with negatives, and what plain loops over NumPy arrays make of the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.steps.plain.cbow import Candidates, train_cbow
from gensim_tfw2v.steps.plain.in_turn import Outputs
from gensim_tfw2v.steps.plain.table import StepLimits, StepTable
from support.operation_inputs import (
    BATCH,
    BATCHES,
    NO_FACTORS,
    NO_WEIGHTS,
    ROWS,
    Table,
    Windows,
    contexts_of,
    moved,
    normal,
    numbers_below,
    rate_of_step,
    table_rows,
    tokens_of,
    weights_in_run,
    windows_of,
)

LARGEST_SCORE = 80.0


class Cbow(NamedTuple):
    """The arguments of the function but for its table."""

    hidden: np.ndarray
    negatives: np.ndarray
    targets: np.ndarray
    windows: Windows
    negative: float = 5.0
    mask_hits: bool = True
    measured: bool = True
    frozen: bool = False
    rate: float = 0.05
    max_step: float = 1e9
    adagrad: bool = False
    token_weights: np.ndarray = NO_WEIGHTS
    factors: np.ndarray = NO_FACTORS

    def train(self, table: Any) -> tuple[Any, Any, Any]:
        """Call the function with a table's handle."""
        return train_cbow(
            Outputs(StepTable(table, self.adagrad), self.frozen, self.measured),
            tokens_of(self.hidden, self.windows, self.token_weights),
            Candidates(self.targets[BATCH], self.negatives[BATCH], self.negative, self.mask_hits),
            StepLimits(self.rate, self.max_step, self.factors),
        )

    def run(self, table: Table) -> tuple[list[int], np.ndarray, float]:
        """Return how many rows moved and how many steps were clipped, the gradients of hidden vectors, and the loss."""
        metrics, gradients, loss = self.train(table.handle)
        assert loss.shape == ()
        return metrics.numpy().tolist(), gradients.numpy(), float(loss)

    def in_loops(self, before: np.ndarray) -> Expected:
        """Return what plain loops come to."""
        table, hidden = before.astype(np.float64), self.hidden.astype(np.float64)
        size = hidden.shape[-1]
        weight, loss = self.negative / self.negatives.shape[-1], 0.0
        gradients, metrics, steps = np.zeros_like(hidden), [0, 0], []
        for run in range(hidden.shape[0]):
            trained = [token for token in range(hidden.shape[1]) if contexts_of(self.windows, run, token)]
            targets = self.targets[BATCH, run]
            counts = weights_in_run(self.token_weights, run, hidden.shape[1])
            for token in trained:
                row = table[targets[token], :size]
                score = np.clip(hidden[run, token] @ row, -LARGEST_SCORE, LARGEST_SCORE)
                wrong = counts[token] / (1 + np.exp(score))
                loss += counts[token] * np.logaddexp(0, -score)
                gradients[run, token] -= wrong * row
                ascent = wrong * hidden[run, token]
                if not self.frozen:
                    row += rate_of_step(table[targets[token]], ascent, self.rate) * ascent
            sums = {int(row): np.zeros(size) for row in self.negatives[BATCH, run]}
            for token in trained:
                for row in self.negatives[BATCH, run].tolist():
                    if self.mask_hits and row == targets[token]:
                        continue
                    vector = table[row, :size]
                    score = np.clip(hidden[run, token] @ vector, -LARGEST_SCORE, LARGEST_SCORE)
                    wrong = counts[token] * weight / (1 + np.exp(-score))
                    loss += counts[token] * weight * np.logaddexp(0, score)
                    gradients[run, token] += wrong * vector
                    sums[row] += wrong * hidden[run, token]
            if self.frozen:
                continue
            table, of_run = moved(table, sums, self.rate, self.max_step, NO_FACTORS)
            metrics = [total + count for total, count in zip(metrics, of_run, strict=True)]
            steps += [self.rate * np.linalg.norm(gradient) for gradient in sums.values()]
        return Expected(table, metrics, gradients, loss if self.measured else 0.0, steps)


class Expected(NamedTuple):
    """A table, metrics, gradients and a loss as they should be, and the lengths of steps of negatives unclipped."""

    table: np.ndarray
    metrics: list[int]
    gradients: np.ndarray
    loss: float
    steps: list[float]


def cbow(size: int, window: int = 3, runs: int = 3, tokens: int = 6, negatives: int = 5, **own: Any) -> Cbow:
    """Return runs, tokens of which are negatives of their own, and some of which have no contexts."""
    return Cbow(
        hidden=normal(runs, tokens, size) / np.float32(np.sqrt(size)),
        negatives=numbers_below(ROWS, BATCHES, runs, negatives),
        targets=numbers_below(ROWS, BATCHES, runs, tokens, seed=1),
        windows=windows_of(runs, tokens, window),
        **own,
    )


def check_cbow(call: Cbow) -> None:
    """Check what becomes of gradients and of one table, against plain loops."""
    before = table_rows(call.hidden.shape[-1], call.adagrad, seed=5)
    table, expected = Table(before), call.in_loops(before)
    metrics, gradients, loss = call.run(table)
    np.testing.assert_allclose(gradients, expected.gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected.loss, rtol=1e-5)
    np.testing.assert_allclose(table.values(), expected.table, rtol=1e-5, atol=1e-5)
    assert metrics == expected.metrics

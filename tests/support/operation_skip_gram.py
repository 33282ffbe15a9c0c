"""The operation that trains skip-gram with negatives, and what plain loops over NumPy arrays make of the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from support.kernels import operations
from support.operation_inputs import (
    BATCH,
    BATCHES,
    NO_FACTORS,
    ROWS,
    Table,
    Windows,
    contexts_of,
    moved,
    normal,
    numbers_below,
    table_rows,
    windows_of,
)

LARGEST_SCORE = 80.0


class SkipGram(NamedTuple):
    """The arguments of the operation but for its table."""

    hidden: np.ndarray
    ids: np.ndarray
    windows: Windows
    weights: np.ndarray  # [runs * tokens, places + shared_negatives], of each token
    shared_negatives: int
    negative: float = 5.0
    mask_hits: bool = True
    measured: bool = True
    frozen: bool = False
    rate: float = 0.05
    max_step: float = 1e9
    adagrad: bool = False

    def arguments(self, table: Table | None = None) -> dict[str, Any]:
        """Return all arguments; the weights of tokens are in random order."""
        runs, tokens = self.hidden.shape[:2]
        order = np.random.default_rng(0).permutation(runs * tokens)
        return {
            "table": table and table.memory,
            "hidden": self.hidden,
            "ids": self.ids,
            "left": self.windows.left,
            "right": self.windows.right,
            "batch": BATCH,
            "window_rows": order.reshape(runs, tokens).astype(np.int32),
            "weights": self.weights[np.argsort(order)],
            "shared_negatives": self.shared_negatives,
            "negative": self.negative,
            "mask_hits": self.mask_hits,
            "measured": self.measured,
            "frozen": self.frozen,
            "rate": self.rate,
            "max_step": self.max_step,
            "factors": NO_FACTORS,
        }

    def run(self, table: Table) -> tuple[list[int], np.ndarray, float]:
        """Return how many rows moved and how many steps were clipped, the gradients of hidden vectors, and the loss."""
        metrics, gradients, loss = operations().tfw2v_train_skip_gram(**self.arguments(table), adagrad=self.adagrad)
        assert loss.shape == ()
        return metrics.numpy().tolist(), gradients.numpy(), float(loss)

    def in_loops(self, before: np.ndarray) -> tuple[np.ndarray, float, dict[int, np.ndarray]]:
        """Return what plain loops come to: the gradients of the hidden vectors, the loss, and the gradients of rows."""
        hidden, size = self.hidden.astype(np.float64), self.hidden.shape[-1]
        table, gradients, loss = before[:, :size].astype(np.float64), np.zeros_like(hidden), 0.0
        sums = {int(row): np.zeros(size) for row in self.ids[BATCH].reshape(-1)}
        places = self.ids.shape[-1] - self.shared_negatives
        for number, (run, token) in enumerate(np.ndindex(hidden.shape[:2])):
            weights, ids = self.weights[number], self.ids[BATCH, run]
            contexts = contexts_of(self.windows, run, token)
            trained = [(place, 1.0, float(weights[place])) for place in contexts]
            for candidate in range(places, len(ids)):
                own = sum(weights[place] for place in contexts if ids[place] == ids[candidate])
                weight = weights[candidate] - self.mask_hits * own * self.negative / self.shared_negatives
                trained.append((candidate, 0.0, float(weight)))
            for candidate, label, weight in trained:
                row = ids[candidate]
                score = np.clip(hidden[run, token] @ table[row], -LARGEST_SCORE, LARGEST_SCORE)
                wrong = weight * (1 / (1 + np.exp(-score)) - label)
                loss += weight * np.logaddexp(0, -score if label else score)
                gradients[run, token] += wrong * table[row]
                sums[row] += wrong * hidden[run, token]
        return gradients, loss, sums


def skip_gram(
    size: int, window: int = 3, runs: int = 3, tokens: int = 6, shared_negatives: int = 5, **own: Any
) -> SkipGram:
    """Return runs, contexts of which are negatives as well, and some tokens of which have no contexts."""
    windows = windows_of(runs, tokens, window)
    weights = np.zeros((runs * tokens, tokens + 2 * window + shared_negatives), np.float32)
    negative = own.get("negative", 5.0)
    for number, (run, token) in enumerate(np.ndindex(runs, tokens)):
        contexts = contexts_of(windows, run, token)
        weights[number, contexts] = np.random.default_rng(number).uniform(0.2, 1, len(contexts))
        weights[number, -shared_negatives:] = weights[number, contexts].sum() * negative / shared_negatives
    return SkipGram(
        hidden=normal(runs, tokens, size) / np.float32(np.sqrt(size)),
        ids=numbers_below(ROWS, BATCHES, runs, weights.shape[1]),
        windows=windows,
        weights=weights,
        shared_negatives=shared_negatives,
        **own,
    )


def check_skip_gram(call: SkipGram) -> None:
    """Check what becomes of gradients and of one table, against plain loops."""
    before = table_rows(call.hidden.shape[-1], call.adagrad, seed=5)
    table = Table(before)
    metrics, gradients, loss = call.run(table)
    expected_gradients, expected_loss, sums = call.in_loops(before)
    expected_rows, expected_metrics = moved(before, {} if call.frozen else sums, call.rate, call.max_step, NO_FACTORS)
    np.testing.assert_allclose(gradients, expected_gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected_loss if call.measured else 0.0, rtol=1e-5)
    np.testing.assert_allclose(table.read(), expected_rows, rtol=2e-5, atol=2e-5)
    assert metrics == expected_metrics

"""The plain functions on CBOW's contexts, and what plain loops over NumPy arrays make of the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gensim_tfw2v.steps import maths
from gensim_tfw2v.steps.plain.contexts import RowContexts
from gensim_tfw2v.steps.plain.table import StepLimits, StepTable
from support.operation_inputs import (
    BATCH,
    BATCHES,
    NO_FACTORS,
    ROWS,
    Table,
    Windows,
    contexts_of,
    median_step,
    moved,
    normal,
    numbers_below,
    table_rows,
    windows_of,
)


class Contexts(NamedTuple):
    """What tokens' contexts are, and the weights that these have."""

    ids: np.ndarray
    windows: Windows
    weights: np.ndarray  # [runs, tokens, places]

    def given(self) -> RowContexts:
        """Return what has the functions."""
        left, right, window = self.windows
        inside = maths.places_inside(left[BATCH], right[BATCH], window)
        return RowContexts(self.ids[BATCH], inside, inside * self.weights, inside * self.weights)

    def each(self) -> Iterator[tuple[tuple[int, int], int, float]]:
        """Yield every token with the row and the weight of each of its contexts."""
        for token in np.ndindex(self.weights.shape[:2]):
            for place in contexts_of(self.windows, *token):
                weight = self.weights[token[0], token[1], place]
                yield token, int(self.ids[BATCH, token[0], place]), float(weight)


def some_contexts(window: int = 3, runs: int = 4, tokens: int = 6) -> Contexts:
    """Return contexts that tokens have within their sentences."""
    places = tokens + 2 * window
    return Contexts(
        ids=numbers_below(ROWS, BATCHES, runs, places),
        windows=windows_of(runs, tokens, window),
        weights=normal(runs, tokens, places),
    )


def check_summed_contexts(size: int, contexts: Contexts, adagrad: bool = False) -> None:
    """Check the weighted sums of contexts."""
    before = table_rows(size, adagrad)
    hidden = contexts.given().sum(StepTable(Table(before).handle, adagrad))
    expected = np.zeros((*contexts.weights.shape[:2], size))
    for token, row, weight in contexts.each():
        expected[token] += weight * before[row, :size].astype(np.float64)
    np.testing.assert_allclose(hidden, expected, rtol=1e-5, atol=1e-5)
    alone = contexts.windows.left[BATCH] + contexts.windows.right[BATCH] == 0
    assert not hidden.numpy()[alone].any()


def check_moved_contexts(
    size: int, contexts: Contexts, factors: np.ndarray = NO_FACTORS, adagrad: bool = False
) -> None:
    """Check rows moved by the gradients of weighted sums; those of half of the rows are too long."""
    gradients = normal(*contexts.weights.shape[:2], size, seed=2)
    sums: dict[int, np.ndarray] = {}
    for token, row, weight in contexts.each():
        sums[row] = sums.get(row, 0.0) + weight * gradients[token].astype(np.float64)
    check_steps(contexts.given(), gradients, sums, factors, adagrad)


def check_steps(
    contexts: RowContexts,
    gradients: np.ndarray,
    sums: dict[int, np.ndarray],
    factors: np.ndarray,
    adagrad: bool,
) -> None:
    """Check that rows move against these sums of gradients, and no others; half of the steps are long."""
    before, rate = table_rows(gradients.shape[-1], adagrad), 0.05
    max_step = median_step(sums, rate, before)
    table = Table(before)
    metrics = contexts.move(StepTable(table.handle, adagrad), gradients, StepLimits(rate, max_step, factors))
    expected, counts = moved(before, sums, rate, max_step, factors)
    assert metrics.numpy().tolist() == counts
    np.testing.assert_allclose(table.values(), expected, rtol=1e-5, atol=1e-5)
    others = np.setdiff1d(np.arange(ROWS), list(sums))
    np.testing.assert_array_equal(table.values()[others], before[others])

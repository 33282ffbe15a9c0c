"""The operations that mix contexts, and move them, do what plain loops over NumPy arrays do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from operation_inputs import (
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
    of_every_size,
    windows_of,
)

from gensim_tfw2v.operations import operations


class Contexts(NamedTuple):
    """What tokens' contexts are, and the weights that these have."""

    rows: np.ndarray
    windows: Windows
    codes: np.ndarray
    weights: np.ndarray  # of every place, by code, in any shape

    def arguments(self, table: Table) -> dict[str, Any]:
        """Return the arguments that mixing contexts and moving them have in common."""
        return {
            "table": table.memory,
            "rows": self.rows,
            "left": self.windows.left,
            "right": self.windows.right,
            "batch": BATCH,
            "codes": self.codes,
            "weights": self.weights,
        }

    def each(self) -> Iterator[tuple[tuple[int, int], int, float]]:
        """Yield every token with the row and the weight of each of its contexts."""
        by_code = self.weights.reshape(9, -1)
        for token in np.ndindex(self.codes.shape):
            for place in contexts_of(self.windows, *token):
                yield token, int(self.rows[BATCH, token[0], place]), float(by_code[self.codes[token], place])


def some_contexts(window: int = 3, runs: int = 4, tokens: int = 6) -> Contexts:
    """Return contexts that tokens have within their sentences."""
    places = tokens + 2 * window
    return Contexts(
        rows=numbers_below(ROWS, BATCHES, runs, places),
        windows=windows_of(runs, tokens, window),
        codes=numbers_below(9, runs, tokens, seed=1),
        weights=normal(3, 3, places),
    )


def check_mixtures(size: int, contexts: Contexts) -> None:
    """Check mixtures of contexts."""
    before = normal(ROWS, size)
    hidden = operations().tfw2v_mix_contexts(**contexts.arguments(Table(before)))
    expected = np.zeros((*contexts.codes.shape, size))
    for token, row, weight in contexts.each():
        expected[token] += weight * before[row].astype(np.float64)
    np.testing.assert_allclose(hidden, expected, rtol=1e-5, atol=1e-5)
    alone = contexts.windows.left[BATCH] + contexts.windows.right[BATCH] == 0
    assert not hidden.numpy()[alone].any()


@of_every_size
def test_contexts_are_mixed_by_their_weights(size: int) -> None:
    check_mixtures(size, some_contexts())


WIDTHS = pytest.mark.parametrize(
    ("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (20, 2, 3), (5, 1, 60), (12, 9, 1)]
)


@WIDTHS
def test_contexts_of_any_window_are_mixed(window: int, runs: int, tokens: int) -> None:
    check_mixtures(7, some_contexts(window, runs, tokens))


def check_moved_contexts(size: int, contexts: Contexts, factors: np.ndarray = NO_FACTORS) -> None:
    """Check rows moved by the gradients of mixtures, those of half of the rows being too long."""
    before, rate = normal(ROWS, size), 0.05
    gradients = normal(*contexts.codes.shape, size, seed=2)
    sums: dict[int, np.ndarray] = {}
    for token, row, weight in contexts.each():
        sums[row] = sums.get(row, 0.0) + weight * gradients[token].astype(np.float64)
    bound = median_step(sums, rate)
    table = Table(before)
    figures = operations().tfw2v_move_contexts(
        **contexts.arguments(table), gradients=gradients, rate=rate, bound=bound, factors=factors
    )
    expected, counts = moved(before, sums, rate, bound, factors)
    assert figures.numpy().tolist() == counts
    np.testing.assert_allclose(table.read(), expected, rtol=1e-5, atol=1e-5)
    others = np.setdiff1d(np.arange(ROWS), list(sums))
    np.testing.assert_array_equal(table.read()[others], before[others])


@of_every_size
def test_contexts_move_against_the_gradients_of_what_is_mixed_of_them(size: int) -> None:
    check_moved_contexts(size, some_contexts())


@WIDTHS
def test_contexts_of_any_window_move(window: int, runs: int, tokens: int) -> None:
    check_moved_contexts(7, some_contexts(window, runs, tokens))


@pytest.mark.parametrize("factors", [[0.0], [0.0, 1.0, 0.25], np.linspace(0, 2, ROWS)])
def test_steps_of_contexts_are_scaled_by_the_factors_of_their_rows(factors: list[float]) -> None:
    check_moved_contexts(33, some_contexts(), np.array(factors, np.float32))


def test_places_that_are_no_tokens_context_do_not_move() -> None:
    before, none = normal(ROWS, 9), np.zeros((1, 2, 4), np.int32)
    table = Table(before)
    figures = operations().tfw2v_move_contexts(
        table=table.memory,
        rows=numbers_below(ROWS, 1, 2, 8),
        left=none,
        right=none,
        batch=0,
        codes=none[0],
        weights=normal(1, 8),
        gradients=normal(2, 4, 9),
        rate=0.1,
        bound=1.0,
        factors=NO_FACTORS,
    )
    assert figures.numpy().tolist() == [0, 0]
    np.testing.assert_array_equal(table.read(), before)

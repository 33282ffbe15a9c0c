"""The operations that sum contexts, and move them, do what plain loops over NumPy arrays do."""

from __future__ import annotations

import numpy as np
import pytest
from support.operation_contexts import check_moved_contexts, check_summed_contexts, some_contexts
from support.operation_inputs import NO_FACTORS, ROWS, Table, normal, numbers_below, of_every_size

from gensim_tfw2v.operations import operations


@of_every_size
def test_contexts_are_summed_by_their_weights(size: int) -> None:
    check_summed_contexts(size, some_contexts())


WIDTHS = pytest.mark.parametrize(
    ("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (20, 2, 3), (5, 1, 60), (12, 9, 1)]
)


@WIDTHS
def test_contexts_of_any_window_are_summed(window: int, runs: int, tokens: int) -> None:
    check_summed_contexts(7, some_contexts(window, runs, tokens))


@of_every_size
def test_contexts_move_against_the_gradients_of_their_sums(size: int) -> None:
    check_moved_contexts(size, some_contexts())


@WIDTHS
def test_contexts_of_any_window_move(window: int, runs: int, tokens: int) -> None:
    check_moved_contexts(7, some_contexts(window, runs, tokens))


@pytest.mark.parametrize("factors", [[0.0], [0.0, 1.0, 0.25], np.linspace(0, 2, ROWS)])
def test_steps_of_contexts_are_scaled_by_the_factors_of_their_rows(factors: list[float]) -> None:
    check_moved_contexts(33, some_contexts(), np.array(factors, np.float32))


def test_places_that_are_no_context_of_a_token_do_not_move() -> None:
    before, none = normal(ROWS, 9), np.zeros((1, 2, 4), np.int32)
    table = Table(before)
    metrics = operations().tfw2v_move_contexts(
        table=table.memory,
        ids=numbers_below(ROWS, 1, 2, 8),
        left=none,
        right=none,
        batch=0,
        window_rows=none[0],
        weights=normal(1, 8),
        gradients=normal(2, 4, 9),
        rate=0.1,
        max_step=1.0,
        factors=NO_FACTORS,
    )
    assert metrics.numpy().tolist() == [0, 0]
    np.testing.assert_array_equal(table.read(), before)

"""The operations that sum contexts of equal weight, and move them, do what plain loops over NumPy arrays do."""

from __future__ import annotations

import numpy as np
import pytest
from support.operation_even_contexts import (
    EvenContexts,
    check_moved_even_contexts,
    check_summed_even_contexts,
    contexts_of_continued_runs,
    some_even_contexts,
)
from support.operation_inputs import BATCHES, NO_FACTORS, ROWS, Table, Windows, normal, numbers_below, of_every_size

from gensim_tfw2v.operations import operations

MEANS = pytest.mark.parametrize("mean", [True, False])
WIDTHS = pytest.mark.parametrize(
    ("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (20, 2, 3), (5, 1, 60), (12, 9, 1), (10, 2, 32), (50, 1, 112)]
)


@of_every_size
@MEANS
def test_even_contexts_are_averaged_or_summed(size: int, mean: bool) -> None:
    check_summed_even_contexts(size, some_even_contexts(mean=mean))


@WIDTHS
def test_even_contexts_of_any_window_are_averaged(window: int, runs: int, tokens: int) -> None:
    check_summed_even_contexts(7, some_even_contexts(window, runs, tokens))


@of_every_size
@MEANS
def test_even_contexts_move_against_the_gradients_of_their_means_or_sums(size: int, mean: bool) -> None:
    check_moved_even_contexts(size, some_even_contexts(mean=mean))


@WIDTHS
def test_even_contexts_of_any_window_move(window: int, runs: int, tokens: int) -> None:
    check_moved_even_contexts(7, some_even_contexts(window, runs, tokens))


@pytest.mark.parametrize(
    ("window", "runs", "tokens", "gap"),
    [(3, 4, 6, None), (10, 40, 32, None), (3, 5, 6, 2), (10, 1, 700, None), (8, 9, 1, 4)],
)
def test_even_contexts_of_runs_that_continue_each_other_are_averaged_and_move(
    window: int, runs: int, tokens: int, gap: int | None
) -> None:
    contexts = contexts_of_continued_runs(window, runs, tokens, gap)
    check_summed_even_contexts(17, contexts)
    check_moved_even_contexts(17, contexts)


@pytest.mark.parametrize("factors", [[0.0], [0.0, 1.0, 0.25], np.linspace(0, 2, ROWS)])
def test_steps_of_even_contexts_are_scaled_by_the_factors_of_their_rows(factors: list[float]) -> None:
    check_moved_even_contexts(33, some_even_contexts(), np.array(factors, np.float32))


def test_running_sums_along_the_longest_run_stay_exact_to_five_digits() -> None:
    """All rows have a large part in common, as vectors may have after training, so that running sums grow."""
    runs, tokens, window, size = 1, 512, 10, 16
    ids = numbers_below(ROWS, BATCHES, runs, tokens + 2 * window)
    reach = np.full((BATCHES, runs, tokens), window, np.int32)
    contexts = EvenContexts(ids, Windows(reach, reach, window), mean=True)
    before = 1 + 0.1 * normal(ROWS, size)
    hidden = operations().tfw2v_sum_even_contexts(**contexts.arguments(Table(before))).numpy()
    for token, rows in contexts.tokens():
        np.testing.assert_allclose(hidden[token], before[rows].astype(np.float64).mean(axis=0), atol=3e-5)


def test_a_place_that_is_no_context_does_not_move_even_between_others() -> None:
    before, tokens, window = normal(ROWS, 9), 7, 2
    ids = np.arange(tokens + 2 * window, dtype=np.int32)[None, None].repeat(BATCHES, 0)
    left, right = np.zeros((2, BATCHES, 1, tokens), np.int32)
    left[..., 0], right[..., -1] = 2, 2  # the first token has the places before it, and the last one those behind it
    table = Table(before)
    metrics = operations().tfw2v_move_even_contexts(
        table=table.memory,
        ids=ids,
        left=left,
        right=right,
        batch=0,
        mean=True,
        gradients=normal(1, tokens, 9),
        rate=0.1,
        max_step=100.0,
        factors=NO_FACTORS,
    )
    moved = [0, 1, 9, 10]
    assert metrics.numpy().tolist() == [len(moved), 0]
    others = np.setdiff1d(np.arange(ROWS), moved)
    np.testing.assert_array_equal(table.read()[others], before[others])
    assert (table.read()[moved] != before[moved]).all()

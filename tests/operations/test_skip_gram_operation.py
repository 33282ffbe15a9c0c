"""The operation that trains skip-gram with negatives does what plain loops over NumPy arrays do."""

from __future__ import annotations

import numpy as np
import pytest
from support.operation_inputs import BATCHES, ROWS, Table, Windows, median_step, normal, of_every_size
from support.operation_skip_gram import LARGEST_SCORE, check_skip_gram, skip_gram


@of_every_size
def test_hidden_vectors_are_trained_with_their_contexts_and_negatives(size: int) -> None:
    check_skip_gram(skip_gram(size))


@pytest.mark.parametrize("shared_negatives", [1, 2, 7, 8, 9, 15, 16, 17, 33])
@pytest.mark.parametrize(("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (12, 4, 1), (20, 2, 50), (5, 2, 32)])
def test_there_may_be_any_number_of_runs_and_negatives(
    shared_negatives: int, window: int, runs: int, tokens: int
) -> None:
    check_skip_gram(skip_gram(17, window, runs, tokens, shared_negatives))


def test_a_negative_that_is_a_context_is_masked_if_asked() -> None:
    call = skip_gram(17, shared_negatives=16)
    unmasked = call._replace(mask_hits=False)
    before = normal(ROWS, 17, seed=5)
    assert not np.allclose(call.in_loops(before)[0], unmasked.in_loops(before)[0])
    check_skip_gram(call)
    check_skip_gram(unmasked)


def test_tokens_without_contexts_move_nothing() -> None:
    nothing = np.zeros((BATCHES, 3, 6), np.int32)
    call = skip_gram(17)
    call = call._replace(windows=Windows(nothing, nothing, 3), weights=np.zeros_like(call.weights))
    before = normal(ROWS, 17)
    table = Table(before)
    _, gradients, loss = call.run(table)
    assert loss == 0
    np.testing.assert_array_equal(gradients, np.zeros_like(gradients))
    np.testing.assert_array_equal(table.read(), before)


def test_candidates_move_by_at_most_the_longest_step() -> None:
    call = skip_gram(33)
    sums = call.in_loops(normal(ROWS, 33, seed=5))[2]
    call = call._replace(max_step=median_step(sums, call.rate))
    assert 0 < call.run(Table(normal(ROWS, 33, seed=5)))[0][1] < len(sums)
    check_skip_gram(call)


def test_training_that_is_not_measured_has_no_loss_and_trains_as_one_that_is() -> None:
    before, rows = normal(ROWS, 17), []
    for measured in (True, False):
        table = Table(before)
        call = skip_gram(17, measured=measured)
        assert (call.run(table)[2] > 0) == measured
        rows.append(table.read())
        check_skip_gram(call)
    np.testing.assert_array_equal(*rows)


@pytest.mark.parametrize("scale", [100.0, 1e4, 1e15])
def test_scores_too_large_for_an_exponential_have_finite_gradients_and_losses(scale: float) -> None:
    call = skip_gram(16, rate=0.0)
    call = call._replace(hidden=call.hidden * np.float32(scale))
    before = normal(ROWS, 16, seed=5)
    assert np.abs(call.hidden.astype(np.float64) @ before.T).max() > LARGEST_SCORE
    _, gradients, loss = call.run(Table(before))
    expected_gradients, expected_loss, _ = call.in_loops(before)
    np.testing.assert_allclose(gradients, expected_gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)


@of_every_size
def test_frozen_rows_give_gradients_and_a_loss_and_keep_every_bit(size: int) -> None:
    call = skip_gram(size, frozen=True)
    check_skip_gram(call)
    before = normal(ROWS, size, seed=5)
    before[:, 0] = -0.0  # adding zero would make it 0.0
    table = Table(before)
    assert call.run(table)[0] == [0, 0]
    assert table.values().tobytes() == before.tobytes()

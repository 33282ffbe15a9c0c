"""The operation that trains CBOW with negatives does what plain loops over NumPy arrays do."""

from __future__ import annotations

import numpy as np
import pytest
from support.operation_cbow import LARGEST_SCORE, cbow, check_cbow
from support.operation_inputs import BATCHES, ROWS, Table, Windows, normal, of_every_size, some_token_weights


@of_every_size
def test_hidden_vectors_are_trained_with_their_targets_and_the_negatives_of_their_run(size: int) -> None:
    check_cbow(cbow(size))


@pytest.mark.parametrize("negatives", [1, 2, 7, 8, 9, 15, 16, 17, 33])
@pytest.mark.parametrize(("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (12, 4, 1), (20, 2, 50)])
def test_there_may_be_any_number_of_runs_and_negatives(negatives: int, window: int, runs: int, tokens: int) -> None:
    check_cbow(cbow(17, window, runs, tokens, negatives))


def test_a_negative_that_is_the_target_of_its_token_is_masked_if_asked() -> None:
    call = cbow(17, negatives=16)
    unmasked = call._replace(mask_hits=False)
    before = normal(ROWS, 17, seed=5)
    assert not np.allclose(call.in_loops(before).gradients, unmasked.in_loops(before).gradients)
    check_cbow(call)
    check_cbow(unmasked)


def test_a_word_that_comes_again_reads_its_row_as_it_has_moved() -> None:
    call = cbow(17, rate=0.5)._replace(targets=np.full((BATCHES, 3, 6), 4, np.int32))
    before = normal(ROWS, 17, seed=5)
    assert not np.allclose(call.in_loops(before).gradients, call._replace(rate=0.0).in_loops(before).gradients)
    check_cbow(call)


def test_tokens_without_contexts_move_nothing() -> None:
    nothing = np.zeros((BATCHES, 3, 6), np.int32)
    call = cbow(17)._replace(windows=Windows(nothing, nothing, 3))
    before = normal(ROWS, 17)
    table = Table(before)
    _, gradients, loss = call.run(table)
    assert loss == 0
    np.testing.assert_array_equal(gradients, np.zeros_like(gradients))
    np.testing.assert_array_equal(table.read(), before)


def test_negatives_move_by_at_most_the_longest_step_in_a_run() -> None:
    call = cbow(33)
    before = normal(ROWS, 33, seed=5)
    steps = call.in_loops(before).steps
    call = call._replace(max_step=float(np.median(steps)))
    assert 0 < call.run(Table(before))[0][1] < len(steps)
    check_cbow(call)


def test_training_that_is_not_measured_has_no_loss_and_trains_as_one_that_is() -> None:
    before, rows = normal(ROWS, 17), []
    for measured in (True, False):
        table = Table(before)
        call = cbow(17, measured=measured)
        assert (call.run(table)[2] > 0) == measured
        rows.append(table.read())
        check_cbow(call)
    np.testing.assert_array_equal(*rows)


@pytest.mark.parametrize("scale", [100.0, 1e4, 1e15])
def test_scores_too_large_for_an_exponential_have_finite_gradients_and_losses(scale: float) -> None:
    call = cbow(16, rate=0.0)
    call = call._replace(hidden=call.hidden * np.float32(scale))
    before = normal(ROWS, 16, seed=5)
    assert np.abs(call.hidden.astype(np.float64) @ before.T).max() > LARGEST_SCORE
    _, gradients, loss = call.run(Table(before))
    expected = call.in_loops(before)
    np.testing.assert_allclose(gradients, expected.gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected.loss, rtol=1e-5)


@of_every_size
def test_frozen_rows_give_gradients_and_a_loss_and_keep_every_bit(size: int) -> None:
    call = cbow(size, frozen=True)
    check_cbow(call)
    before = normal(ROWS, size, seed=5)
    before[:, 0] = -0.0  # adding zero would make it 0.0
    table = Table(before)
    assert call.run(table)[0] == [0, 0]
    assert table.values().tobytes() == before.tobytes()


@pytest.mark.parametrize("adagrad", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_tokens_count_as_many_times_as_their_weights_say(adagrad: bool, frozen: bool) -> None:
    for size in (5, 33):
        check_cbow(cbow(size, adagrad=adagrad, frozen=frozen, token_weights=some_token_weights(3, 6)))


def test_weights_of_one_change_no_bit() -> None:
    before, found = normal(ROWS, 33, seed=5), []
    for own in ({}, {"token_weights": np.ones(18, np.float32)}):
        table = Table(before)
        _, gradients, loss = cbow(33, **own).run(table)
        found.append((gradients.tobytes(), loss, table.read().tobytes()))
    assert found[0] == found[1]


def test_a_weight_so_large_that_rows_would_overflow_moves_nothing() -> None:
    before = normal(ROWS, 17, seed=5)
    table = Table(before)
    metrics, _, _ = cbow(17, token_weights=np.full(18, 3e38, np.float32)).run(table)
    assert np.isnan(metrics).all()
    assert np.isfinite(table.read()).all()

"""Operations take no step that is not finite, leave such rows where they are, and say so by NaN in their metrics."""

from __future__ import annotations

import numpy as np
import pytest
from support.operation_calls import (
    END,
    FIRST,
    TABLES,
    TRAINING,
    Arguments,
    Outcome,
    are_finite,
    run_call,
    valid_call,
    with_states,
)

EACH_TRAINING = pytest.mark.parametrize("name", TRAINING)
ADAGRAD = pytest.mark.parametrize("adagrad", [False, True], ids=["sgd", "adagrad"])


def unlimited_call(name: str, adagrad: bool) -> Arguments:
    """Return a valid call whose steps may be of any length."""
    arguments = valid_call(name) | {"max_step": np.float32(np.inf)}
    return with_states(arguments) if adagrad else arguments


def run(name: str, arguments: Arguments, adagrad: bool) -> Outcome:
    """Run an operation, which must not fail."""
    outcome = run_call(name, arguments, adagrad=adagrad)
    assert outcome.error is None
    assert outcome.output is not None and outcome.output.shape == (3, END - FIRST)
    return outcome


@EACH_TRAINING
@ADAGRAD
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_input_row_that_is_not_finite_makes_no_other_row_so(name: str, adagrad: bool, bad: float) -> None:
    arguments = unlimited_call(name, adagrad)
    row = int(arguments["input_ids"][FIRST, 0, 3])
    arguments["inputs"][row, 2] = bad
    outcome = run(name, arguments, adagrad)
    assert np.isnan(outcome.output[:, 0]).all()
    outcome.tables["inputs"][row] = 0
    assert are_finite(outcome)


@EACH_TRAINING
@ADAGRAD
@pytest.mark.parametrize("large", [1e30, 1e37, 3e38])
def test_rows_too_long_for_a_step_stay_finite(name: str, adagrad: bool, large: float) -> None:
    for table in TABLES:
        arguments = unlimited_call(name, adagrad)
        if table in arguments:
            arguments[table][:, : arguments[table].shape[1] - adagrad] *= np.float32(large / 4)
            assert np.isfinite(arguments[table]).all()
            assert are_finite(run(name, arguments, adagrad))


@EACH_TRAINING
@ADAGRAD
def test_rows_too_long_for_a_score_are_refused(name: str, adagrad: bool) -> None:
    arguments = unlimited_call(name, adagrad)
    for table in ("inputs", "outputs", "nodes"):
        if table in arguments:
            arguments[table][:, :7] = np.float32(3e38)
            arguments[table][:, :7:2] *= -1
    outcome = run(name, arguments, adagrad)
    assert np.isnan(outcome.output).all()
    assert are_finite(outcome)


@EACH_TRAINING
@ADAGRAD
@pytest.mark.parametrize("rate", [np.nan, np.inf, -np.inf, 1e37])
def test_no_row_and_no_state_moves_at_a_rate_that_is_not_finite_or_nearly_so(
    name: str, adagrad: bool, rate: float
) -> None:
    arguments = unlimited_call(name, adagrad)
    arguments["learning_rates"][:] = rate
    outcome = run(name, arguments, adagrad)
    assert np.isnan(outcome.output).all()
    for table, values in outcome.tables.items():
        np.testing.assert_array_equal(values, arguments[table])


@EACH_TRAINING
@ADAGRAD
def test_only_the_batch_of_a_refused_step_has_no_metrics(name: str, adagrad: bool) -> None:
    arguments = unlimited_call(name, adagrad)
    arguments["learning_rates"][FIRST] = np.nan
    outcome = run(name, arguments, adagrad)
    assert np.isnan(outcome.output[:, 0]).all()
    assert np.isfinite(outcome.output[:, 1]).all()
    assert (outcome.output[:2, 1] > 0).all()


@EACH_TRAINING
@ADAGRAD
def test_weights_so_large_that_rows_would_overflow_move_nothing_beyond_all_bounds(name: str, adagrad: bool) -> None:
    arguments = unlimited_call(name, adagrad)
    arguments["weights"][:] = np.float32(3e38)
    outcome = run(name, arguments, adagrad)
    assert np.isnan(outcome.output).all()
    assert are_finite(outcome)


@EACH_TRAINING
def test_a_state_near_the_largest_number_stays_finite(name: str) -> None:
    arguments = with_states(valid_call(name), state=float(np.finfo(np.float32).max))
    outcome = run(name, arguments, adagrad=True)
    assert are_finite(outcome)


@EACH_TRAINING
@pytest.mark.parametrize("factor", [np.nan, np.inf, 1e38])
def test_a_factor_that_is_not_finite_or_nearly_so_moves_no_input(name: str, factor: float) -> None:
    arguments = valid_call(name) | {"lock_factors": np.float32([factor])}
    outcome = run(name, arguments, adagrad=False)
    assert np.isnan(outcome.output).all()
    np.testing.assert_array_equal(outcome.tables["inputs"], arguments["inputs"])


@EACH_TRAINING
def test_a_clipped_step_is_not_refused(name: str) -> None:
    arguments = valid_call(name) | {"max_step": np.float32(1e-4)}
    if name == "skip-gram negatives":  # in all others, some rows have no longest step
        arguments["learning_rates"][:] = 1e15
    outcome = run(name, arguments, adagrad=False)
    assert (outcome.output[2] > 0).all()
    assert are_finite(outcome)

"""Operations take no step that is not finite, leave such rows where they are, and say so by NaN in their metrics."""

from __future__ import annotations

import numpy as np
import pytest
from support.operation_calls import run_call, valid_call

TRAINING = ["train CBOW", "train skip-gram", "move rows", "move contexts", "move even contexts"]
HUFFMAN = ["train Huffman paths of contexts", "train Huffman paths of own words"]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e37])
@pytest.mark.parametrize("name", TRAINING)
def test_a_row_whose_step_would_not_be_finite_stays_and_the_counts_say_so(name: str, bad: float) -> None:
    arguments = valid_call(name)
    gradients = arguments["gradients" if "gradients" in arguments else "hidden"]
    gradients[0, gradients.shape[1] // 2] = bad
    outputs, table, error = run_call(name, arguments | {"max_step": np.float32(np.inf)})
    assert error is None
    assert np.isnan(outputs[0]).all()
    assert np.isfinite(table).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e37])
@pytest.mark.parametrize("name", HUFFMAN)
def test_a_hidden_vector_that_is_not_finite_moves_no_node(name: str, bad: float) -> None:
    arguments = valid_call(name)
    arguments["hidden"][1, 2, 3] = bad
    outputs, table, error = run_call(name, arguments)
    assert error is None
    assert np.isnan(outputs[1])
    assert np.isfinite(table).all()
    assert not outputs[0][1, 2].any()
    assert np.isfinite(outputs[0]).all()


@pytest.mark.parametrize("rate", [np.nan, np.inf, 1e37])
@pytest.mark.parametrize("name", [*TRAINING, *HUFFMAN])
def test_no_row_moves_at_a_rate_that_is_not_finite_or_nearly_so(name: str, rate: float) -> None:
    arguments = valid_call(name) | {"rate": np.float32(rate)}
    if "max_step" in arguments:
        arguments["max_step"] = np.float32(np.inf)
    outputs, table, error = run_call(name, arguments)
    assert error is None
    assert any(np.isnan(output).any() for output in outputs)
    np.testing.assert_array_equal(table, arguments["table"])


@pytest.mark.parametrize("name", ["train CBOW", *HUFFMAN])
def test_rows_too_long_for_a_score_stay(name: str) -> None:
    arguments = valid_call(name)
    arguments["table"][:] = np.float32(3e38)
    arguments["table"][:, ::2] *= -1
    outputs, table, error = run_call(name, arguments)
    assert error is None
    assert any(np.isnan(output).any() for output in outputs)
    assert np.isfinite(table).all()


@pytest.mark.parametrize("name", TRAINING)
def test_a_clipped_step_is_not_refused(name: str) -> None:
    arguments = valid_call(name)
    gradients = arguments["gradients" if "gradients" in arguments else "hidden"]
    gradients *= np.float32(1e15)
    outputs, table, error = run_call(name, arguments)
    assert error is None
    assert outputs[0][1] > 0
    assert np.isfinite(table).all()

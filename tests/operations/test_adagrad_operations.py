"""Operations take the steps of row-wise Adagrad on rows that end with a state, as plain loops over NumPy arrays do."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from support.operation_calls import OPERATIONS, SIZE, run_call, valid_call, with_states
from support.operation_cbow import cbow, check_cbow
from support.operation_contexts import check_moved_contexts, check_summed_contexts, some_contexts
from support.operation_even_contexts import check_moved_even_contexts, check_summed_even_contexts, some_even_contexts
from support.operation_huffman import check_huffman_paths, huffman_paths
from support.operation_inputs import ADAGRAD_FACTOR, ADAGRAD_START, BATCH, ROWS, Table, normal, of_every_size
from support.operation_rows import check_gathered_rows, check_moved_rows
from support.operation_skip_gram import check_skip_gram, skip_gram

from gensim_tfw2v import tuning
from gensim_tfw2v.operations import operations
from gensim_tfw2v.steps.adagrad import rate_factor

TRAINING = [name for name in OPERATIONS if name not in ("read rows", "write rows", "add rows")]
MOVING = [name for name in TRAINING if name not in ("gather rows", "sum contexts", "sum even contexts")]
EVERY_OR_OWN = pytest.mark.parametrize("every_context", [True, False], ids=["every context", "own word"])


@of_every_size
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_rows_are_gathered_without_their_states_and_move_by_steps_that_follow_from_them(
    size: int, number_type: str
) -> None:
    check_gathered_rows(size, BATCH, number_type, adagrad=True)
    check_moved_rows(size, number_type, adagrad=True)


@pytest.mark.parametrize("factors", [[0.0], [0.0, 1.0, 0.25]])
def test_lock_factors_scale_steps_and_not_states(factors: list[float]) -> None:
    check_moved_rows(17, factors=np.array(factors, np.float32), adagrad=True)


@of_every_size
def test_contexts_are_summed_without_their_states_and_move_by_steps_that_follow_from_them(size: int) -> None:
    check_summed_contexts(size, some_contexts(), adagrad=True)
    check_moved_contexts(size, some_contexts(), adagrad=True)


@of_every_size
@pytest.mark.parametrize("mean", [True, False])
def test_even_contexts_are_summed_without_their_states_and_move_as_well(size: int, mean: bool) -> None:
    check_summed_even_contexts(size, some_even_contexts(mean=mean), adagrad=True)
    check_moved_even_contexts(size, some_even_contexts(mean=mean), adagrad=True)


@of_every_size
def test_skip_gram_trains_rows_with_states(size: int) -> None:
    check_skip_gram(skip_gram(size, adagrad=True))


@of_every_size
def test_cbow_trains_rows_with_states(size: int) -> None:
    check_cbow(cbow(size, adagrad=True))


@of_every_size
@EVERY_OR_OWN
def test_huffman_paths_train_rows_with_states(size: int, every_context: bool) -> None:
    check_huffman_paths(huffman_paths(size, every_context, adagrad=True))


def test_a_word_may_be_trained_with_more_tokens_than_move_its_rows_together() -> None:
    check_huffman_paths(huffman_paths(17, True, window=20, runs=2, tokens=50, adagrad=True))


@EVERY_OR_OWN
@pytest.mark.parametrize("hot_nodes", [1, 4, ROWS + 1])
def test_rows_that_are_trained_apart_have_their_states_with_them(every_context: bool, hot_nodes: int) -> None:
    check_huffman_paths(huffman_paths(33, every_context, hot_nodes=hot_nodes, adagrad=True))


def test_the_longest_first_step_has_the_rate_that_the_two_constants_say() -> None:
    before = np.zeros((1, 4), np.float32)
    table, gradient = Table(before), np.float32([[[1e-3, 0, 0]]])
    ids = np.zeros((1, 1, 1), np.int32)
    operations().tfw2v_move_rows(
        table=table.memory, ids=ids, batch=0, gradients=gradient, rate=0.1, max_step=1.0, factors=[], adagrad=True
    )
    np.testing.assert_allclose(table.values(), [[-1e-4 * ADAGRAD_FACTOR / ADAGRAD_START**0.5, 0, 0, 1e-6]], rtol=1e-5)


def test_graphs_and_operations_have_one_rule() -> None:
    assert (tuning.ADAGRAD_FACTOR, tuning.ADAGRAD_START) == (ADAGRAD_FACTOR, ADAGRAD_START)
    states = np.float32([0, 1, 99, 1e6])
    expected = ADAGRAD_FACTOR / np.sqrt(ADAGRAD_START + states)
    np.testing.assert_allclose(rate_factor(tf.constant(states)), expected, rtol=1e-6)


@pytest.mark.parametrize("name", TRAINING)
def test_a_valid_call_with_states_succeeds(name: str) -> None:
    arguments = with_states(valid_call(name))
    outputs, table, error = run_call(name, arguments, adagrad=True)
    assert error is None and outputs
    moved = (table != arguments["table"]).any(1)
    assert moved.any() == (name in MOVING)
    assert (table[moved, -1] > arguments["table"][moved, -1]).all()


@pytest.mark.parametrize("name", MOVING)
def test_a_table_without_states_is_refused(name: str) -> None:
    arguments = valid_call(name)
    _, table, error = run_call(name, arguments, adagrad=True)
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert f"has {SIZE} numbers a vector and table has {SIZE - 1}" in error.message
    assert table.tobytes() == arguments["table"].tobytes()


@pytest.mark.parametrize("name", TRAINING)
def test_a_table_without_columns_is_refused(name: str) -> None:
    arguments = valid_call(name)
    arguments["table"] = arguments["table"][:, :0]
    error = run_call(name, arguments, adagrad=True)[2]
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert "table has 0 columns and no state" in error.message


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize("rate", [np.nan, np.inf, 1e37])
def test_no_row_and_no_state_moves_at_a_rate_that_is_not_finite_or_nearly_so(name: str, rate: float) -> None:
    arguments = with_states(valid_call(name)) | {"rate": np.float32(rate)}
    outputs, table, error = run_call(name, arguments, adagrad=True)
    assert error is None
    assert any(np.isnan(output).any() for output in outputs)
    np.testing.assert_array_equal(table, arguments["table"])


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e25])
def test_a_gradient_whose_square_is_not_finite_moves_no_row_and_no_state(name: str, bad: float) -> None:
    arguments = with_states(valid_call(name))
    gradients = arguments["gradients" if "gradients" in arguments else "hidden"]
    gradients[0, gradients.shape[1] // 2] = bad
    outputs, table, error = run_call(name, arguments, adagrad=True)
    assert error is None
    assert any(np.isnan(output).any() for output in outputs)
    assert np.isfinite(table).all()


@pytest.mark.parametrize("name", MOVING)
def test_a_state_near_the_largest_number_stays_finite(name: str) -> None:
    arguments = with_states(valid_call(name), state=float(np.finfo(np.float32).max))
    _, table, error = run_call(name, arguments, adagrad=True)
    assert error is None
    assert np.isfinite(table).all()


def test_adagrad_makes_no_copy_of_a_row_that_no_gradient_touches() -> None:
    before = np.concatenate([normal(ROWS, 5), np.ones((ROWS, 1), np.float32)], 1)
    table = Table(before)
    ids = np.full((1, 1, 2), 3, np.int32)
    operations().tfw2v_move_rows(
        table=table.memory,
        ids=ids,
        batch=0,
        gradients=normal(1, 2, 5, seed=1),
        rate=0.1,
        max_step=1.0,
        factors=[],
        adagrad=True,
    )
    others = np.arange(ROWS) != 3
    np.testing.assert_array_equal(table.values()[others], before[others])

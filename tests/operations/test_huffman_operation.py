"""The operation that trains Huffman paths does what plain loops over NumPy arrays do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from support.operation_huffman import LARGEST_SCORE, TOGETHER, check_huffman_paths, check_one_score, huffman_paths
from support.operation_inputs import ROWS, Table, normal, of_every_size, some_token_weights

EVERY_OR_OWN = pytest.mark.parametrize("every_context", [True, False], ids=["every context", "own word"])


@of_every_size
@EVERY_OR_OWN
def test_hidden_vectors_are_trained_with_words_whose_rows_move_at_once(size: int, every_context: bool) -> None:
    check_huffman_paths(huffman_paths(size, every_context))


@EVERY_OR_OWN
@pytest.mark.parametrize(("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (12, 4, 1), (20, 2, 50), (20, 2, 3)])
def test_windows_may_be_of_any_width(every_context: bool, window: int, runs: int, tokens: int) -> None:
    check_huffman_paths(huffman_paths(7, every_context, window, runs, tokens))


@pytest.mark.parametrize("size", [1, 17, 100])
def test_a_word_may_be_trained_with_more_tokens_than_move_its_rows_together(size: int) -> None:
    call = huffman_paths(size, True, window=20, runs=2, tokens=50)
    most = max(len(call.trained_tokens(*place)) for place in np.ndindex(call.words.shape[1:]))
    assert most > 2 * TOGETHER
    check_huffman_paths(call)


@EVERY_OR_OWN
@pytest.mark.parametrize("hot_nodes", [0, 1, 4, ROWS - 1, ROWS, ROWS + 1, 1000])
def test_rows_that_are_trained_apart_come_to_the_same(every_context: bool, hot_nodes: int) -> None:
    check_huffman_paths(huffman_paths(33, every_context, hot_nodes=hot_nodes))


@EVERY_OR_OWN
def test_training_that_is_not_measured_has_no_loss_and_trains_as_one_that_is(every_context: bool) -> None:
    before, rows = normal(ROWS, 17), []
    for measured in (True, False):
        table = Table(before)
        call = huffman_paths(17, every_context, measured=measured)
        assert (call.run(table)[1] > 0) == measured
        rows.append(table.read())
        check_huffman_paths(call)
    np.testing.assert_array_equal(*rows)


@of_every_size
@EVERY_OR_OWN
def test_scores_far_from_zero_move_nothing(size: int, every_context: bool) -> None:
    usual = huffman_paths(size, every_context, scale=3.0)
    before = normal(ROWS, size, seed=5)
    max_score = float(np.median(np.abs(usual.hidden @ before.T)))
    call = usual._replace(max_score=max_score)
    assert not np.allclose(call.in_loops(before)[2], usual.in_loops(before)[2])
    check_huffman_paths(call)


@EVERY_OR_OWN
@pytest.mark.parametrize("hot_nodes", [0, 4])
def test_a_rate_of_zero_moves_no_row(every_context: bool, hot_nodes: int) -> None:
    before = normal(ROWS, 17)
    table = Table(before)
    gradients, loss = huffman_paths(17, every_context, rate=0.0, hot_nodes=hot_nodes).run(table)
    assert gradients.any() and loss > 0
    np.testing.assert_array_equal(table.read(), before)


@EVERY_OR_OWN
@pytest.mark.parametrize("scale", [100.0, 1e4, 1e15])
def test_scores_too_large_for_an_exponential_have_finite_gradients_and_losses(
    every_context: bool, scale: float
) -> None:
    call = huffman_paths(16, every_context, scale=scale, rate=0.0)
    before = normal(ROWS, 16, seed=5)
    scores = np.abs(call.hidden.astype(np.float64) @ before.T)
    assert scores.max() > LARGEST_SCORE
    table = Table(before)
    gradients, loss = call.run(table)
    assert np.isfinite(gradients).all() and np.isfinite(loss)
    check_huffman_paths(call)
    trained = Table(before)
    call._replace(rate=1e-3).run(trained)
    assert np.isfinite(trained.read()).all()


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("score", [-1e30, -88.5, -80.5, -79.0, -20.0, 0.0, 20.0, 79.0, 80.5, 88.5, 1e30])
def test_one_score_has_the_loss_and_the_gradient_of_a_sigmoid(score: float, code: int) -> None:
    check_one_score(score, code)


def in_a_new_thread(check: Callable[[], None]) -> None:
    """Run a check in a thread in which no operation has run before, and so none has memory to work in."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            check()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


@EVERY_OR_OWN
@pytest.mark.parametrize("hot_nodes", [0, 4])
def test_the_first_call_in_a_thread_trains(every_context: bool, hot_nodes: int) -> None:
    in_a_new_thread(partial(check_huffman_paths, huffman_paths(9, every_context, hot_nodes=hot_nodes)))


@EVERY_OR_OWN
@pytest.mark.parametrize("hot_nodes", [0, 4])
@pytest.mark.parametrize("rows", [0, ROWS])
def test_words_without_paths_train_nothing(every_context: bool, hot_nodes: int, rows: int) -> None:
    """As in a vocabulary of one word, whose tree has no node."""
    usual = huffman_paths(9, every_context, hot_nodes=hot_nodes)
    none = np.zeros(0, np.int32)
    call = usual._replace(nodes=none, codes=none, offsets=np.zeros_like(usual.offsets))
    before = normal(rows, 9)

    def check() -> None:
        table = Table(before)
        for _ in range(20):  # as memory that nobody wrote to may well hold zeros
            gradients, loss = call.run(table)
            assert gradients.shape == call.hidden.shape
            assert not gradients.any() and loss == 0
        np.testing.assert_array_equal(table.read(), before)

    check()
    in_a_new_thread(check)


@of_every_size
@EVERY_OR_OWN
@pytest.mark.parametrize("hot_nodes", [0, 4])
def test_frozen_rows_give_gradients_and_a_loss_and_keep_every_bit(
    size: int, every_context: bool, hot_nodes: int
) -> None:
    call = huffman_paths(size, every_context, hot_nodes=hot_nodes, frozen=True)
    check_huffman_paths(call)
    before = normal(ROWS, size, seed=5)
    before[:, 0] = -0.0  # adding zero would make it 0.0
    table = Table(before)
    call.run(table)
    assert table.values().tobytes() == before.tobytes()


@EVERY_OR_OWN
@pytest.mark.parametrize("adagrad", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_tokens_count_as_many_times_as_their_weights_say(every_context: bool, adagrad: bool, frozen: bool) -> None:
    weights = some_token_weights(3, 6)
    check_huffman_paths(huffman_paths(17, every_context, adagrad=adagrad, frozen=frozen, token_weights=weights))


@EVERY_OR_OWN
def test_weights_of_one_change_no_bit(every_context: bool) -> None:
    before, found = normal(ROWS, 33, seed=5), []
    for own in ({}, {"token_weights": np.ones(18, np.float32)}):
        table = Table(before)
        gradients, loss = huffman_paths(33, every_context, **own).run(table)
        found.append((gradients.tobytes(), loss, table.read().tobytes()))
    assert found[0] == found[1]


def test_a_weight_so_large_that_nodes_would_overflow_moves_nothing() -> None:
    before = normal(ROWS, 17, seed=5)
    table = Table(before)
    _, loss = huffman_paths(17, False, token_weights=np.full(18, 3e38, np.float32)).run(table)
    assert np.isnan(loss)
    np.testing.assert_array_equal(table.read(), before)

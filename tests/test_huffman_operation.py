"""The operation that predicts words by way of rows does what plain loops over NumPy arrays do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from operation_inputs import (
    BATCH,
    BATCHES,
    ROWS,
    Table,
    Windows,
    contexts_of,
    normal,
    numbers_below,
    of_every_size,
    windows_of,
)

from gensim_tfw2v.operations import operations

TOGETHER = 16  # hidden vectors that predict a word before its rows move
LARGEST_SCORE = 80.0


class Prediction(NamedTuple):
    """The arguments of a prediction but for its table."""

    hidden: np.ndarray
    words: np.ndarray
    windows: Windows
    passed: np.ndarray
    codes: np.ndarray
    offsets: np.ndarray
    every_context: bool
    rate: float = 0.05
    busy: int = 0
    farthest: float = np.inf
    measured: bool = True

    def run(self, table: Table) -> tuple[np.ndarray, float]:
        """Return the gradients of the hidden vectors, and the loss."""
        gradients, loss = operations().tfw2v_predict_words(
            table=table.memory,
            hidden=self.hidden,
            words=self.words,
            left=self.windows.left,
            right=self.windows.right,
            batch=BATCH,
            passed=self.passed,
            codes=self.codes,
            offsets=self.offsets,
            busy=self.busy,
            every_context=self.every_context,
            rate=self.rate,
            farthest=self.farthest,
            measured=self.measured,
        )
        assert loss.shape == ()
        return gradients.numpy(), float(loss)

    def in_loops(self, before: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """Return the gradients, the loss and the rows that plain loops come to."""
        rows, hidden = before.astype(np.float64), self.hidden.astype(np.float64)
        gradients, loss = np.zeros(hidden.shape), 0.0
        for run, place in np.ndindex(self.words.shape[1:]):
            word = self.words[BATCH, run, place]
            predictors = self.predictors(run, place)
            for start in range(0, len(predictors), TOGETHER):
                together = predictors[start : start + TOGETHER]
                told: list[tuple[int, float, int]] = []
                for token in together:
                    for step in range(self.offsets[word], self.offsets[word + 1]):
                        row, code = self.passed[step], self.codes[step]
                        score = np.clip(hidden[run, token] @ rows[row], -LARGEST_SCORE, LARGEST_SCORE)
                        loss += np.logaddexp(0, score if code else -score)
                        if abs(score) < self.farthest:
                            told.append((token, 1 / (1 + np.exp(-score)) - (1 - code), row))
                for token, wrong, row in told:
                    gradients[run, token] += wrong * rows[row]
                for token, wrong, row in told:
                    rows[row] -= self.rate * wrong * hidden[run, token]
        return gradients, loss, rows

    def predictors(self, run: int, place: int) -> list[int]:
        """Return the tokens whose hidden vectors predict the word at a place of a widened run."""
        tokens = range(self.windows.left.shape[-1])
        if self.every_context:
            return [token for token in tokens if place in contexts_of(self.windows, run, token)]
        return [
            token for token in tokens if place == token + self.windows.window and contexts_of(self.windows, run, token)
        ]


def prediction(
    size: int, every_context: bool, window: int = 3, runs: int = 3, tokens: int = 6, scale: float = 1.0, **own: Any
) -> Prediction:
    """Return a prediction of words whose ways are of no step to as many as there are rows."""
    rng = np.random.default_rng(size + window)
    lengths = [0, ROWS, 1, *rng.integers(0, ROWS + 1, 4).tolist()]
    passed = np.concatenate([rng.permutation(ROWS)[:length] for length in lengths])
    return Prediction(
        hidden=normal(runs, tokens, size) * np.float32(scale / np.sqrt(size)),
        words=numbers_below(len(lengths), BATCHES, runs, tokens + 2 * window),
        windows=windows_of(runs, tokens, window),
        passed=passed.astype(np.int32),
        codes=rng.integers(0, 2, len(passed)).astype(np.int32),
        offsets=np.cumsum([0, *lengths]).astype(np.int32),
        every_context=every_context,
        **own,
    )


def check_prediction(asked: Prediction) -> None:
    """Check what is predicted, of one table, against plain loops."""
    before = normal(ROWS, asked.hidden.shape[-1], seed=5)
    table = Table(before)
    gradients, loss = asked.run(table)
    expected_gradients, expected_loss, expected_rows = asked.in_loops(before)
    np.testing.assert_allclose(gradients, expected_gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected_loss if asked.measured else 0.0, rtol=1e-5)
    np.testing.assert_allclose(table.read(), expected_rows, rtol=1e-5, atol=1e-5)


EVERY_OR_OWN = pytest.mark.parametrize("every_context", [True, False], ids=["every context", "own word"])


@of_every_size
@EVERY_OR_OWN
def test_hidden_vectors_predict_words_by_rows_that_move_at_once(size: int, every_context: bool) -> None:
    check_prediction(prediction(size, every_context))


@EVERY_OR_OWN
@pytest.mark.parametrize(("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (12, 4, 1), (20, 2, 50), (20, 2, 3)])
def test_words_are_predicted_in_windows_of_any_width(every_context: bool, window: int, runs: int, tokens: int) -> None:
    check_prediction(prediction(7, every_context, window, runs, tokens))


@pytest.mark.parametrize("size", [1, 17, 100])
def test_a_word_may_have_more_predictors_than_move_its_rows_together(size: int) -> None:
    asked = prediction(size, True, window=20, runs=2, tokens=50)
    most = max(len(asked.predictors(*place)) for place in np.ndindex(asked.words.shape[1:]))
    assert most > 2 * TOGETHER
    check_prediction(asked)


@EVERY_OR_OWN
@pytest.mark.parametrize("busy", [0, 1, 4, ROWS - 1, ROWS, ROWS + 1, 1000])
def test_rows_that_are_trained_apart_come_to_the_same(every_context: bool, busy: int) -> None:
    check_prediction(prediction(33, every_context, busy=busy))


@EVERY_OR_OWN
def test_a_prediction_that_is_not_measured_has_no_loss_and_trains_as_one_that_is(every_context: bool) -> None:
    before, rows = normal(ROWS, 17), []
    for measured in (True, False):
        table = Table(before)
        asked = prediction(17, every_context, measured=measured)
        assert (asked.run(table)[1] > 0) == measured
        rows.append(table.read())
        check_prediction(asked)
    np.testing.assert_array_equal(*rows)


@of_every_size
@EVERY_OR_OWN
def test_scores_far_from_zero_move_nothing(size: int, every_context: bool) -> None:
    usual = prediction(size, every_context, scale=3.0)
    before = normal(ROWS, size, seed=5)
    farthest = float(np.median(np.abs(usual.hidden @ before.T)))
    asked = usual._replace(farthest=farthest)
    assert not np.allclose(asked.in_loops(before)[2], usual.in_loops(before)[2])
    check_prediction(asked)


@EVERY_OR_OWN
@pytest.mark.parametrize("busy", [0, 4])
def test_a_rate_of_zero_moves_no_row(every_context: bool, busy: int) -> None:
    before = normal(ROWS, 17)
    table = Table(before)
    gradients, loss = prediction(17, every_context, rate=0.0, busy=busy).run(table)
    assert gradients.any() and loss > 0
    np.testing.assert_array_equal(table.read(), before)


@EVERY_OR_OWN
@pytest.mark.parametrize("scale", [100.0, 1e4, 1e15])
def test_scores_too_large_for_an_exponential_have_finite_gradients_and_losses(
    every_context: bool, scale: float
) -> None:
    asked = prediction(16, every_context, scale=scale, rate=0.0)
    before = normal(ROWS, 16, seed=5)
    scores = np.abs(asked.hidden.astype(np.float64) @ before.T)
    assert scores.max() > LARGEST_SCORE
    table = Table(before)
    gradients, loss = asked.run(table)
    assert np.isfinite(gradients).all() and np.isfinite(loss)
    check_prediction(asked)
    trained = Table(before)
    asked._replace(rate=1e-3).run(trained)
    assert np.isfinite(trained.read()).all()


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("score", [-1e30, -88.5, -80.5, -79.0, -20.0, 0.0, 20.0, 79.0, 80.5, 88.5, 1e30])
def test_one_score_has_the_loss_and_the_gradient_of_a_sigmoid(score: float, code: int) -> None:
    left, right = (np.array([[reach]] * BATCHES, np.int32) for reach in ([0, 1], [1, 0]))
    asked = Prediction(
        hidden=np.array([[[score], [score]]], np.float32),
        words=np.zeros((BATCHES, 1, 4), np.int32),
        windows=Windows(left, right, 1),
        passed=np.zeros(1, np.int32),
        codes=np.array([code], np.int32),
        offsets=np.array([0, 1], np.int32),
        every_context=False,
        rate=0.0,
    )
    gradients, loss = asked.run(Table(np.ones((1, 1), np.float32)))
    limited = np.clip(score, -LARGEST_SCORE, LARGEST_SCORE)
    wrong = limited if code else -limited
    np.testing.assert_allclose(loss, 2 * np.log1p(np.exp(wrong)), rtol=1e-6, atol=1e-30)
    expected = 1 / (1 + np.exp(-wrong)) * (1 if code else -1)
    np.testing.assert_allclose(gradients, np.full((1, 2, 1), expected), rtol=1e-6, atol=0)


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
@pytest.mark.parametrize("busy", [0, 4])
def test_the_first_prediction_of_a_thread_trains(every_context: bool, busy: int) -> None:
    in_a_new_thread(partial(check_prediction, prediction(9, every_context, busy=busy)))


@EVERY_OR_OWN
@pytest.mark.parametrize("busy", [0, 4])
@pytest.mark.parametrize("rows", [0, ROWS])
def test_words_that_all_have_no_way_ask_nothing(every_context: bool, busy: int, rows: int) -> None:
    """As in a vocabulary of one word, whose tree has no node."""
    usual = prediction(9, every_context, busy=busy)
    none = np.zeros(0, np.int32)
    asked = usual._replace(passed=none, codes=none, offsets=np.zeros_like(usual.offsets))
    before = normal(rows, 9)

    def check() -> None:
        table = Table(before)
        for _ in range(20):  # as memory that nobody wrote to may well hold zeros
            gradients, loss = asked.run(table)
            assert gradients.shape == asked.hidden.shape
            assert not gradients.any() and loss == 0
        np.testing.assert_array_equal(table.read(), before)

    check()
    in_a_new_thread(check)

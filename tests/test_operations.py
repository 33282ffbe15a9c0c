"""The operations compiled for TensorFlow do what plain loops over NumPy arrays do."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from child_process import run_script

import gensim_tfw2v.operations as package
from gensim_tfw2v.operations import operations
from gensim_tfw2v.processor import instruction_level
from gensim_tfw2v.tensorflow_runtime import load_tensorflow

tf = load_tensorflow()

# Less than a register, whole ones, some more than one, and as many as sums are kept in, and one more.
SIZES = [1, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 65, 100, 127, 129, 143, 144, 145, 300]
TOGETHER = 16  # hidden vectors that predict a word before its rows move
LARGEST_SCORE = 80.0
NO_FACTORS = np.zeros(0, np.float32)
ROWS, BATCHES, BATCH = 11, 3, 1
LEVELS = ["baseline", "v3", "v4"]

of_every_size = pytest.mark.parametrize("size", SIZES)


class Table:
    """A table whose rows operations may move."""

    def __init__(self, values: np.ndarray) -> None:
        with tf.device("/CPU:0"):
            self._variable = tf.Variable(tf.raw_ops.DeepCopy(x=values), trainable=False)

    @property
    def memory(self) -> Any:
        """The variable's memory, and not a copy of it."""
        return tf.raw_ops.ReadVariableOp(resource=self._variable.handle, dtype=tf.float32)

    def read(self) -> np.ndarray:
        """Return all its rows."""
        rows = np.arange(self._variable.shape[0], dtype=np.int32)
        values: np.ndarray = operations().tfw2v_read_rows(table=self.memory, rows=rows).numpy()
        return values


class Windows(NamedTuple):
    """Runs of sentences and how far tokens see within them."""

    left: np.ndarray  # [batches, runs, tokens]
    right: np.ndarray
    window: int


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Return normal random numbers of float32."""
    return np.random.default_rng((seed, *shape)).normal(size=shape).astype(np.float32)


def numbers_below(most: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Return random numbers, so few that many come more than once."""
    return np.random.default_rng((seed, *shape)).integers(0, most, shape).astype(np.int32)


def windows_of(runs: int, tokens: int, window: int, seed: int = 0) -> Windows:
    """Return windows of tokens in sentences of 1 to 3 times the window, as far as these reach, or less far."""
    rng = np.random.default_rng(seed)
    total, left, right = BATCHES * runs * tokens, [], []
    while len(left) < total:
        length = int(rng.integers(1, 3 * window + 1))
        reach = rng.integers(1, window + 1, length) if rng.random() < 0.5 else np.full(length, window)
        left += np.minimum(reach, np.arange(length)).tolist()
        right += np.minimum(reach, np.arange(length)[::-1]).tolist()
    return Windows(*(np.array(side[:total], np.int32).reshape(BATCHES, runs, tokens) for side in (left, right)), window)


def contexts_of(windows: Windows, run: int, token: int) -> list[int]:
    """Return the places of the widened run that are contexts of a token."""
    own = token + windows.window
    first, last = own - windows.left[BATCH, run, token], own + windows.right[BATCH, run, token]
    return [place for place in range(first, last + 1) if place != own]


def moved(
    table: np.ndarray, sums: dict[int, np.ndarray], rate: float, bound: float, factors: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """Return a table moved against sums of gradients, how many rows moved, and how many by less than they should."""
    after, shortened = table.astype(np.float64), 0
    for row, gradient in sums.items():
        step = rate * gradient
        length = np.sqrt((step * step).sum())
        if length > bound:
            step = step * bound / length
            shortened += 1
        after[row] -= step * (factors[row % len(factors)] if len(factors) else 1.0)
    return after, [len(sums), shortened]


def sums_by_row(ids: np.ndarray, gradients: np.ndarray) -> dict[int, np.ndarray]:
    """Return the sum of the gradients of each row."""
    sums: dict[int, np.ndarray] = {}
    for row, gradient in zip(ids.reshape(-1).tolist(), gradients.reshape(ids.size, -1), strict=True):
        sums[row] = sums.get(row, 0.0) + gradient.astype(np.float64)
    return sums


def median_step(sums: dict[int, np.ndarray], rate: float) -> float:
    """Return a bound that half of the steps are longer than."""
    return float(np.median([rate * np.linalg.norm(gradient) for gradient in sums.values()])) * 1.0001


@of_every_size
def test_rows_are_read_and_written_where_they_are(size: int) -> None:
    before, values = normal(ROWS, size), normal(4, size, seed=1)
    table, rows = Table(before), np.array([9, 0, 10, 4], np.int32)
    found = operations().tfw2v_read_rows(table=table.memory, rows=np.array([3, 10, 3, 0], np.int32))
    np.testing.assert_array_equal(found, before[[3, 10, 3, 0]])
    assert operations().tfw2v_write_rows(table=table.memory, rows=rows, values=values) == 4
    before[rows] = values
    np.testing.assert_array_equal(table.read(), before)


def test_no_rows_are_read_or_written() -> None:
    table, none = Table(normal(ROWS, 5)), np.zeros(0, np.int32)
    assert operations().tfw2v_read_rows(table=table.memory, rows=none).shape == (0, 5)
    assert operations().tfw2v_write_rows(table=table.memory, rows=none, values=np.zeros((0, 5), np.float32)) == 0
    np.testing.assert_array_equal(table.read(), normal(ROWS, 5))


@of_every_size
@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_rows_of_a_batch_are_gathered(size: int, batch: int, number_type: str) -> None:
    values, ids = normal(ROWS, size), numbers_below(ROWS, BATCHES, 4, 5)
    found = operations().tfw2v_gather_rows(table=Table(values).memory, ids=ids, batch=batch, T=tf.as_dtype(number_type))
    assert found.dtype == tf.as_dtype(number_type)
    rows = values[ids[batch]]
    np.testing.assert_array_equal(tf.cast(found, tf.float32), rows if number_type == "float32" else in_halves(rows))


def in_halves(values: np.ndarray) -> np.ndarray:
    """Return the nearest numbers with eight significant bits, even ones if two are as near."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.rint(fraction * 2**8) / 2**8, exponent).astype(np.float32)


def test_numbers_between_two_of_bfloat16_become_the_even_one_and_infinite_ones_stay() -> None:
    values = np.array([[1 + 1 / 256, 1 + 3 / 256, -1 - 1 / 256, 1 + 1 / 256 + 2**-20, np.inf, -np.inf, 0, -0.0]] * 3)
    table = Table(np.tile(values, 3).astype(np.float32))  # so that some of them fill registers, and others do not
    ids = np.zeros((1, 1, 1), np.int32)
    found = tf.cast(operations().tfw2v_gather_rows(table=table.memory, ids=ids, batch=0, T=tf.bfloat16), tf.float32)
    expected = np.array([1, 1 + 4 / 256, -1, 1 + 2 / 256, np.inf, -np.inf, 0, -0.0])
    np.testing.assert_array_equal(found[0, 0], np.tile(expected, 3))
    np.testing.assert_array_equal(np.signbit(found[0, 0]), np.tile(np.signbit(expected), 3))


def check_moved_rows(size: int, number_type: str = "float32", factors: np.ndarray = NO_FACTORS) -> None:
    """Check rows moved by gradients that half of them have too much of."""
    before, ids, rate = normal(ROWS, size), numbers_below(ROWS - 1, BATCHES, 4, 5), 0.05
    gradients = in_halves(normal(4, 5, size, seed=1))
    sums = sums_by_row(ids[BATCH], gradients)
    assert len(sums) < ids[BATCH].size
    bound = median_step(sums, rate)
    table = Table(before)
    figures = operations().tfw2v_move_rows(
        table=table.memory,
        ids=ids,
        batch=BATCH,
        gradients=tf.cast(gradients, number_type),
        rate=rate,
        bound=bound,
        factors=factors,
    )
    expected, counts = moved(before, sums, rate, bound, factors)
    assert figures.numpy().tolist() == counts
    assert 0 < counts[1] < counts[0]
    np.testing.assert_allclose(table.read(), expected, rtol=1e-6, atol=1e-6)
    others = np.setdiff1d(np.arange(ROWS), ids[BATCH])
    np.testing.assert_array_equal(table.read()[others], before[others])


@of_every_size
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_rows_move_by_one_bounded_step_against_the_sum_of_their_gradients(size: int, number_type: str) -> None:
    check_moved_rows(size, number_type)


@pytest.mark.parametrize("factors", [[0.0], [0.5], [0.0, 1.0, 0.25], np.linspace(0, 2, ROWS)])
@pytest.mark.parametrize("size", [3, 100])
def test_steps_are_scaled_by_the_factors_of_their_rows_however_few_there_are(
    size: int, factors: list[float]
) -> None:
    check_moved_rows(size, factors=np.array(factors, np.float32))


@pytest.mark.parametrize(("bound", "share"), [(1e-6, 1), (1e6, 0)])
def test_all_steps_are_shortened_or_none(bound: float, share: int) -> None:
    before, ids = normal(ROWS, 33), np.arange(ROWS, dtype=np.int32).reshape(1, 1, ROWS)
    table = Table(before)
    figures = operations().tfw2v_move_rows(
        table=table.memory, ids=ids, batch=0, gradients=normal(1, ROWS, 33, seed=1), rate=0.1, bound=bound, factors=[]
    )
    assert figures.numpy().tolist() == [ROWS, share * ROWS]
    if share:
        steps = np.linalg.norm(table.read().astype(np.float64) - before, axis=1)
        assert steps.max() < 2 * bound


@pytest.mark.parametrize("distinct", [1, 2, 40, 1000, 30_000])
def test_sums_find_their_rows_among_few_and_among_many(distinct: int) -> None:
    """Rows far apart and rows close to each other, more and fewer than the least that sums have room for."""
    before = normal(2**16, 2)
    rng = np.random.default_rng(distinct)
    for words in (rng.choice(2**16, distinct, replace=False), np.arange(distinct), np.arange(distinct) * 2 + 7):
        ids = rng.choice(words, (1, 8, 4000)).astype(np.int32)
        gradients, table = rng.normal(size=(8, 4000, 2)).astype(np.float32), Table(before)
        figures = operations().tfw2v_move_rows(
            table=table.memory, ids=ids, batch=0, gradients=gradients, rate=0.01, bound=1e9, factors=NO_FACTORS
        )
        sums = np.zeros(before.shape)
        np.add.at(sums, ids.reshape(-1), gradients.reshape(-1, 2).astype(np.float64))
        assert figures.numpy().tolist() == [len(np.unique(ids)), 0]
        times = np.bincount(ids.reshape(-1)).max()
        np.testing.assert_allclose(table.read(), before - 0.01 * sums, rtol=1e-6, atol=1e-8 * times)


def check_mixtures(size: int, window: int = 3, runs: int = 4, tokens: int = 6) -> None:
    """Check mixtures of the contexts that tokens have within their sentences."""
    before, places = normal(ROWS, size), tokens + 2 * window
    rows, windows = numbers_below(ROWS, BATCHES, runs, places), windows_of(runs, tokens, window)
    codes, weights = numbers_below(9, runs, tokens, seed=1), normal(3, 3, places)  # in any shape
    hidden = operations().tfw2v_mix_contexts(
        table=Table(before).memory,
        rows=rows,
        left=windows.left,
        right=windows.right,
        batch=BATCH,
        codes=codes,
        weights=weights,
    )
    expected = np.zeros((runs, tokens, size))
    for run, token in np.ndindex(runs, tokens):
        for place in contexts_of(windows, run, token):
            weight = float(weights.reshape(9, places)[codes[run, token], place])
            expected[run, token] += weight * before[rows[BATCH, run, place]].astype(np.float64)
    np.testing.assert_allclose(hidden, expected, rtol=1e-5, atol=1e-5)
    alone = windows.left[BATCH] + windows.right[BATCH] == 0
    assert not hidden.numpy()[alone].any()


@of_every_size
def test_contexts_are_mixed_by_their_weights(size: int) -> None:
    check_mixtures(size)


WIDTHS = pytest.mark.parametrize(
    ("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (20, 2, 3), (5, 1, 60), (12, 9, 1)]
)


@WIDTHS
def test_contexts_of_any_window_are_mixed(window: int, runs: int, tokens: int) -> None:
    check_mixtures(7, window, runs, tokens)


def check_moved_contexts(
    size: int, window: int = 3, runs: int = 4, tokens: int = 6, factors: np.ndarray = NO_FACTORS
) -> None:
    """Check rows moved by the gradients of mixtures, those of half of the rows being too long."""
    before, places, rate = normal(ROWS, size), tokens + 2 * window, 0.05
    rows, windows = numbers_below(ROWS, BATCHES, runs, places), windows_of(runs, tokens, window)
    codes, weights = numbers_below(9, runs, tokens, seed=1), normal(3, 3, places)
    gradients = normal(runs, tokens, size, seed=2)
    sums: dict[int, np.ndarray] = {}
    for run, token in np.ndindex(runs, tokens):
        for place in contexts_of(windows, run, token):
            row, weight = int(rows[BATCH, run, place]), float(weights.reshape(9, places)[codes[run, token], place])
            sums[row] = sums.get(row, 0.0) + weight * gradients[run, token].astype(np.float64)
    bound = median_step(sums, rate)
    table = Table(before)
    figures = operations().tfw2v_move_contexts(
        table=table.memory,
        rows=rows,
        left=windows.left,
        right=windows.right,
        batch=BATCH,
        codes=codes,
        weights=weights,
        gradients=gradients,
        rate=rate,
        bound=bound,
        factors=factors,
    )
    expected, counts = moved(before, sums, rate, bound, factors)
    assert figures.numpy().tolist() == counts
    np.testing.assert_allclose(table.read(), expected, rtol=1e-5, atol=1e-5)
    others = np.setdiff1d(np.arange(ROWS), list(sums))
    np.testing.assert_array_equal(table.read()[others], before[others])


@of_every_size
def test_contexts_move_against_the_gradients_of_what_is_mixed_of_them(size: int) -> None:
    check_moved_contexts(size)


@WIDTHS
def test_contexts_of_any_window_move(window: int, runs: int, tokens: int) -> None:
    windows = windows_of(runs, tokens, window)
    if (windows.left + windows.right)[BATCH].any():
        check_moved_contexts(7, window, runs, tokens)


@pytest.mark.parametrize("factors", [[0.0], [0.0, 1.0, 0.25], np.linspace(0, 2, ROWS)])
def test_steps_of_contexts_are_scaled_by_the_factors_of_their_rows(factors: list[float]) -> None:
    check_moved_contexts(33, factors=np.array(factors, np.float32))


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


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have one level")
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_that_the_processor_can_run_does_the_same(level: str) -> None:
    if LEVELS.index(level) > LEVELS.index(instruction_level()):
        pytest.skip(f"the processor does not have the instructions of {level}")
    done = run_script(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import gensim_tfw2v.operations as package\n"
        f"package.instruction_level = lambda: {level!r}\n"
        "from test_operations import check_every_operation\n"
        "check_every_operation()\n"
        "print(*(line for line in open('/proc/self/maps') if 'gensim_tfw2v/operations' in line))"
    )
    assert done.returncode == 0, done.stderr
    assert f"/{level}." in done.stdout
    assert not any(f"/{other}." in done.stdout for other in LEVELS if other != level)


def check_every_operation() -> None:
    """Check one case of each operation in vectors of each size."""
    for size in SIZES:
        test_rows_are_read_and_written_where_they_are(size)
        for number_type in ("float32", "bfloat16"):
            test_rows_of_a_batch_are_gathered(size, BATCH, number_type)
            check_moved_rows(size, number_type)
        check_mixtures(size)
        check_moved_contexts(size)
        for every_context in (True, False):
            check_prediction(prediction(size, every_context, busy=4))
    for code in (0, 1):
        for score in (-1e30, 0.0, 20.0, 79.0, 1e30):
            test_one_score_has_the_loss_and_the_gradient_of_a_sigmoid(score, code)


def test_operations_that_are_not_compiled_tell_how_to_compile_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "library_path", lambda: tmp_path / "none.so")
    with pytest.raises(ImportError, match=r"none\.so.*python setup\.py build_ext --inplace"):
        operations.__wrapped__()

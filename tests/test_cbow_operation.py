"""The operation that samples negatives for CBOW does what plain loops over NumPy arrays do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from operation_inputs import (
    BATCH,
    BATCHES,
    NO_FACTORS,
    ROWS,
    Table,
    Windows,
    contexts_of,
    moved,
    normal,
    numbers_below,
    of_every_size,
    windows_of,
)

from gensim_tfw2v.operations import operations

LARGEST_SCORE = 80.0


class Sampling(NamedTuple):
    """The arguments of the operation but for its table."""

    hidden: np.ndarray
    drawn: np.ndarray
    own: np.ndarray
    windows: Windows
    negative: float = 5.0
    spare: bool = True
    measured: bool = True
    rate: float = 0.05
    bound: float = 1e9

    def run(self, table: Table) -> tuple[list[int], np.ndarray, float]:
        """Return how many rows moved and were held back, the gradients of the hidden vectors, and the loss."""
        figures, gradients, loss = operations().tfw2v_sample_negatives(
            table=table.memory,
            hidden=self.hidden,
            drawn=self.drawn,
            own=self.own,
            left=self.windows.left,
            right=self.windows.right,
            batch=BATCH,
            negative=self.negative,
            spare=self.spare,
            measured=self.measured,
            rate=self.rate,
            bound=self.bound,
            factors=NO_FACTORS,
        )
        assert loss.shape == ()
        return figures.numpy().tolist(), gradients.numpy(), float(loss)

    def in_loops(self, before: np.ndarray) -> Expected:
        """Return what plain loops come to."""
        table, hidden = before.astype(np.float64), self.hidden.astype(np.float64)
        weight, loss = self.negative / self.drawn.shape[-1], 0.0
        gradients, figures, steps = np.zeros_like(hidden), [0, 0], []
        for run in range(hidden.shape[0]):
            trained = [token for token in range(hidden.shape[1]) if contexts_of(self.windows, run, token)]
            own = self.own[BATCH, run]
            for token in trained:
                row = table[own[token]]
                score = np.clip(hidden[run, token] @ row, -LARGEST_SCORE, LARGEST_SCORE)
                wrong = 1 / (1 + np.exp(score))
                loss += np.logaddexp(0, -score)
                gradients[run, token] -= wrong * row
                row += self.rate * wrong * hidden[run, token]
            sums = {int(row): np.zeros(before.shape[1]) for row in self.drawn[BATCH, run]}
            for token in trained:
                for row in self.drawn[BATCH, run].tolist():
                    if self.spare and row == own[token]:
                        continue
                    score = np.clip(hidden[run, token] @ table[row], -LARGEST_SCORE, LARGEST_SCORE)
                    wrong = weight / (1 + np.exp(-score))
                    loss += weight * np.logaddexp(0, score)
                    gradients[run, token] += wrong * table[row]
                    sums[row] += wrong * hidden[run, token]
            table, of_run = moved(table, sums, self.rate, self.bound, NO_FACTORS)
            figures = [total + figure for total, figure in zip(figures, of_run, strict=True)]
            steps += [self.rate * np.linalg.norm(gradient) for gradient in sums.values()]
        return Expected(table, figures, gradients, loss if self.measured else 0.0, steps)


class Expected(NamedTuple):
    """A table, figures, gradients and a loss as they should be, and how far negatives would move without a bound."""

    table: np.ndarray
    figures: list[int]
    gradients: np.ndarray
    loss: float
    steps: list[float]


def sampling(size: int, window: int = 3, runs: int = 3, tokens: int = 6, drawn: int = 5, **own: Any) -> Sampling:
    """Return runs, tokens of which are negatives of their own, and some of which have no contexts."""
    return Sampling(
        hidden=normal(runs, tokens, size) / np.float32(np.sqrt(size)),
        drawn=numbers_below(ROWS, BATCHES, runs, drawn),
        own=numbers_below(ROWS, BATCHES, runs, tokens, seed=1),
        windows=windows_of(runs, tokens, window),
        **own,
    )


def check(asked: Sampling) -> None:
    """Check what becomes of gradients and of one table, against plain loops."""
    before = normal(ROWS, asked.hidden.shape[-1], seed=5)
    table, expected = Table(before), asked.in_loops(before)
    figures, gradients, loss = asked.run(table)
    np.testing.assert_allclose(gradients, expected.gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected.loss, rtol=1e-5)
    np.testing.assert_allclose(table.read(), expected.table, rtol=1e-5, atol=1e-5)
    assert figures == expected.figures


@of_every_size
def test_hidden_vectors_tell_words_from_the_negatives_of_their_run(size: int) -> None:
    check(sampling(size))


@pytest.mark.parametrize("drawn", [1, 2, 7, 8, 9, 15, 16, 17, 33])
@pytest.mark.parametrize(("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (12, 4, 1), (20, 2, 50)])
def test_runs_and_their_negatives_are_of_any_number(drawn: int, window: int, runs: int, tokens: int) -> None:
    check(sampling(17, window, runs, tokens, drawn))


def test_a_negative_that_is_the_tokens_own_word_is_spared_if_asked() -> None:
    asked = sampling(17, drawn=16)
    all_met = asked._replace(spare=False)
    before = normal(ROWS, 17, seed=5)
    assert not np.allclose(asked.in_loops(before).gradients, all_met.in_loops(before).gradients)
    check(asked)
    check(all_met)


def test_a_word_that_comes_again_meets_its_row_as_it_has_moved() -> None:
    asked = sampling(17, rate=0.5)._replace(own=np.full((BATCHES, 3, 6), 4, np.int32))
    before = normal(ROWS, 17, seed=5)
    assert not np.allclose(asked.in_loops(before).gradients, asked._replace(rate=0.0).in_loops(before).gradients)
    check(asked)


def test_tokens_without_contexts_move_nothing() -> None:
    nothing = np.zeros((BATCHES, 3, 6), np.int32)
    asked = sampling(17)._replace(windows=Windows(nothing, nothing, 3))
    before = normal(ROWS, 17)
    table = Table(before)
    _, gradients, loss = asked.run(table)
    assert loss == 0
    np.testing.assert_array_equal(gradients, np.zeros_like(gradients))
    np.testing.assert_array_equal(table.read(), before)


def test_negatives_move_by_at_most_the_bound_in_a_run() -> None:
    asked = sampling(33)
    before = normal(ROWS, 33, seed=5)
    steps = asked.in_loops(before).steps
    asked = asked._replace(bound=float(np.median(steps)))
    assert 0 < asked.run(Table(before))[0][1] < len(steps)
    check(asked)


def test_sampling_that_is_not_measured_has_no_loss_and_trains_as_one_that_is() -> None:
    before, rows = normal(ROWS, 17), []
    for measured in (True, False):
        table = Table(before)
        asked = sampling(17, measured=measured)
        assert (asked.run(table)[2] > 0) == measured
        rows.append(table.read())
        check(asked)
    np.testing.assert_array_equal(*rows)


@pytest.mark.parametrize("scale", [100.0, 1e4, 1e15])
def test_scores_too_large_for_an_exponential_have_finite_gradients_and_losses(scale: float) -> None:
    asked = sampling(16, rate=0.0)
    asked = asked._replace(hidden=asked.hidden * np.float32(scale))
    before = normal(ROWS, 16, seed=5)
    assert np.abs(asked.hidden.astype(np.float64) @ before.T).max() > LARGEST_SCORE
    _, gradients, loss = asked.run(Table(before))
    expected = asked.in_loops(before)
    np.testing.assert_allclose(gradients, expected.gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected.loss, rtol=1e-5)

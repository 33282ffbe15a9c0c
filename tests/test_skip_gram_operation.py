"""The operation by which skip-gram meets its candidates does what plain loops over NumPy arrays do."""

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
    median_step,
    moved,
    normal,
    numbers_below,
    of_every_size,
    windows_of,
)

from gensim_tfw2v.operations import operations

LARGEST_SCORE = 80.0


class Meeting(NamedTuple):
    """The arguments of the operation but for its table."""

    hidden: np.ndarray
    ids: np.ndarray
    windows: Windows
    weights: np.ndarray  # [runs * tokens, places + shared], of each token
    shared: int
    negative: float = 5.0
    spare: bool = True
    measured: bool = True
    rate: float = 0.05
    bound: float = 1e9

    def run(self, table: Table) -> tuple[list[int], np.ndarray, float]:
        """Return how many rows moved and were held back, the gradients of the hidden vectors, and the loss."""
        runs, tokens = self.hidden.shape[:2]
        order = np.random.default_rng(0).permutation(runs * tokens)
        figures, gradients, loss = operations().tfw2v_meet_candidates(
            table=table.memory,
            hidden=self.hidden,
            ids=self.ids,
            left=self.windows.left,
            right=self.windows.right,
            batch=BATCH,
            codes=order.reshape(runs, tokens).astype(np.int32),
            weights=self.weights[np.argsort(order)],
            shared=self.shared,
            negative=self.negative,
            spare=self.spare,
            measured=self.measured,
            rate=self.rate,
            bound=self.bound,
            factors=NO_FACTORS,
        )
        assert loss.shape == ()
        return figures.numpy().tolist(), gradients.numpy(), float(loss)

    def in_loops(self, before: np.ndarray) -> tuple[np.ndarray, float, dict[int, np.ndarray]]:
        """Return the gradients of the hidden vectors, the loss, and the gradients of rows that plain loops come to."""
        table, hidden = before.astype(np.float64), self.hidden.astype(np.float64)
        gradients, loss = np.zeros_like(hidden), 0.0
        sums = {int(row): np.zeros(before.shape[1]) for row in self.ids[BATCH].reshape(-1)}
        places = self.ids.shape[-1] - self.shared
        for number, (run, token) in enumerate(np.ndindex(hidden.shape[:2])):
            weights, ids = self.weights[number], self.ids[BATCH, run]
            contexts = contexts_of(self.windows, run, token)
            told = [(place, 1.0, float(weights[place])) for place in contexts]
            for candidate in range(places, len(ids)):
                own = sum(weights[place] for place in contexts if ids[place] == ids[candidate])
                weight = weights[candidate] - self.spare * own * self.negative / self.shared
                told.append((candidate, 0.0, float(weight)))
            for candidate, label, weight in told:
                row = ids[candidate]
                score = np.clip(hidden[run, token] @ table[row], -LARGEST_SCORE, LARGEST_SCORE)
                wrong = weight * (1 / (1 + np.exp(-score)) - label)
                loss += weight * np.logaddexp(0, -score if label else score)
                gradients[run, token] += wrong * table[row]
                sums[row] += wrong * hidden[run, token]
        return gradients, loss, sums


def meeting(size: int, window: int = 3, runs: int = 3, tokens: int = 6, shared: int = 5, **own: Any) -> Meeting:
    """Return runs, contexts of which are negatives as well, and some tokens of which have no contexts."""
    windows = windows_of(runs, tokens, window)
    weights = np.zeros((runs * tokens, tokens + 2 * window + shared), np.float32)
    negative = own.get("negative", 5.0)
    for number, (run, token) in enumerate(np.ndindex(runs, tokens)):
        contexts = contexts_of(windows, run, token)
        weights[number, contexts] = np.random.default_rng(number).uniform(0.2, 1, len(contexts))
        weights[number, -shared:] = weights[number, contexts].sum() * negative / shared
    return Meeting(
        hidden=normal(runs, tokens, size) / np.float32(np.sqrt(size)),
        ids=numbers_below(ROWS, BATCHES, runs, weights.shape[1]),
        windows=windows,
        weights=weights,
        shared=shared,
        **own,
    )


def check_meeting(asked: Meeting) -> None:
    """Check what becomes of gradients and of one table, against plain loops."""
    before = normal(ROWS, asked.hidden.shape[-1], seed=5)
    table = Table(before)
    figures, gradients, loss = asked.run(table)
    expected_gradients, expected_loss, sums = asked.in_loops(before)
    expected_rows, expected_figures = moved(before, sums, asked.rate, asked.bound, NO_FACTORS)
    np.testing.assert_allclose(gradients, expected_gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected_loss if asked.measured else 0.0, rtol=1e-5)
    np.testing.assert_allclose(table.read(), expected_rows, rtol=2e-5, atol=2e-5)
    assert figures == expected_figures


@of_every_size
def test_hidden_vectors_meet_their_contexts_and_negatives(size: int) -> None:
    check_meeting(meeting(size))


@pytest.mark.parametrize("shared", [1, 2, 7, 8, 9, 15, 16, 17, 33])
@pytest.mark.parametrize(("window", "runs", "tokens"), [(1, 1, 1), (1, 3, 7), (12, 4, 1), (20, 2, 50), (5, 2, 32)])
def test_runs_and_their_candidates_are_of_any_number(shared: int, window: int, runs: int, tokens: int) -> None:
    check_meeting(meeting(17, window, runs, tokens, shared))


def test_a_negative_that_is_a_context_is_spared_if_asked() -> None:
    asked = meeting(17, shared=16)
    all_met = asked._replace(spare=False)
    before = normal(ROWS, 17, seed=5)
    assert not np.allclose(asked.in_loops(before)[0], all_met.in_loops(before)[0])
    check_meeting(asked)
    check_meeting(all_met)


def test_tokens_without_contexts_move_nothing() -> None:
    nothing = np.zeros((BATCHES, 3, 6), np.int32)
    asked = meeting(17)
    asked = asked._replace(windows=Windows(nothing, nothing, 3), weights=np.zeros_like(asked.weights))
    before = normal(ROWS, 17)
    table = Table(before)
    _, gradients, loss = asked.run(table)
    assert loss == 0
    np.testing.assert_array_equal(gradients, np.zeros_like(gradients))
    np.testing.assert_array_equal(table.read(), before)


def test_candidates_move_by_at_most_the_bound() -> None:
    asked = meeting(33)
    sums = asked.in_loops(normal(ROWS, 33, seed=5))[2]
    asked = asked._replace(bound=median_step(sums, asked.rate))
    assert 0 < asked.run(Table(normal(ROWS, 33, seed=5)))[0][1] < len(sums)
    check_meeting(asked)


def test_a_meeting_that_is_not_measured_has_no_loss_and_trains_as_one_that_is() -> None:
    before, rows = normal(ROWS, 17), []
    for measured in (True, False):
        table = Table(before)
        asked = meeting(17, measured=measured)
        assert (asked.run(table)[2] > 0) == measured
        rows.append(table.read())
        check_meeting(asked)
    np.testing.assert_array_equal(*rows)


@pytest.mark.parametrize("scale", [100.0, 1e4, 1e15])
def test_scores_too_large_for_an_exponential_have_finite_gradients_and_losses(scale: float) -> None:
    asked = meeting(16, rate=0.0)
    asked = asked._replace(hidden=asked.hidden * np.float32(scale))
    before = normal(ROWS, 16, seed=5)
    assert np.abs(asked.hidden.astype(np.float64) @ before.T).max() > LARGEST_SCORE
    _, gradients, loss = asked.run(Table(before))
    expected_gradients, expected_loss, _ = asked.in_loops(before)
    np.testing.assert_allclose(gradients, expected_gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)

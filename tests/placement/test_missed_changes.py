"""A block's changes are corrected for those that other blocks made after the block's rows were pulled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
from support.example_blocks import SIZE

from gensim_tfw2v import tuning
from gensim_tfw2v.steps.concurrent_updates import HotRows
from gensim_tfw2v.steps.missed_changes import corrected_changes
from gensim_tfw2v.steps.signature import Objective

INPUTS, OUTPUTS = slice(0, 7), slice(7, 12)
STRENGTHS = np.concatenate([0.5 ** np.arange(7), 0.5 ** np.arange(5)]).astype(np.float32)
SGD = Objective(True, True, False, True, True, False)
ADAGRAD = replace(SGD, adagrad=True)
OF_SKIP_GRAM = np.array([1, 0], np.float32)


@pytest.fixture
def nothing_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no block pushed between the moment when rows are read again and the push."""
    monkeypatch.setattr(tuning, "UNSEEN_SHARE", 0.0)


def rows_of(seed: int) -> np.ndarray:
    """Return rows that have a direction in common, as vectors of words do."""
    return (np.random.default_rng(seed).normal(size=(12, SIZE)) + 2.0).astype(np.float32)


def states_of(seed: int, most: float) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, most, (12, 1)).astype(np.float32)


def corrected(
    start: np.ndarray, end: np.ndarray, now: np.ndarray, objective: Objective = SGD, blocks: float = 4
) -> np.ndarray:
    counts = np.array([7, 5, 0], np.int32)
    hot = HotRows(np.arange(12, dtype=np.int32), STRENGTHS, counts, np.float32(blocks), OF_SKIP_GRAM)
    hot = tf.nest.map_structure(tf.convert_to_tensor, hot)
    return np.asarray(corrected_changes(hot, objective, start, end, lambda: tf.constant(now)))


def moved_shares(start: np.ndarray, end: np.ndarray, strengths: np.ndarray = STRENGTHS) -> np.ndarray:
    """Return for each row the matrix [D, D] that takes the way to where it settles to the part that a block moves it.

    Partners are weighted by the strengths that rows have without states.
    """
    found = np.empty((12, SIZE, SIZE))
    for own, partners in ((INPUTS, OUTPUTS), (OUTPUTS, INPUTS)):
        moment = np.zeros((SIZE, SIZE))
        for row in range(partners.start, partners.stop):
            for vector in (start[row].astype(float), end[row].astype(float)):
                moment += STRENGTHS[row] * np.outer(vector, vector) / (2 * STRENGTHS[partners].sum())
        squares, directions = np.linalg.eigh(moment)
        for row in range(own.start, own.stop):
            found[row] = sum(
                (1 - np.exp(-strengths[row] * square)) * np.outer(direction, direction)
                for square, direction in zip(squares, directions.T, strict=True)
            )
    return found


@pytest.mark.usefixtures("nothing_unseen")
def test_a_block_moves_rows_as_if_it_had_begun_after_the_other_blocks() -> None:
    start, end, others = rows_of(1), rows_of(2), rows_of(3) / 4
    shares = moved_shares(start, end)
    goal = start + np.linalg.solve(shares, (end - start)[..., None])[..., 0]  # where each row would settle
    now = start + others
    expected = np.einsum("rij,rj->ri", shares, goal - now)
    np.testing.assert_allclose(corrected(start, end, now), expected, atol=2e-3)
    assert np.abs(expected - (end - start)).max() > 0.5, "there was nothing to correct"


@pytest.mark.usefixtures("nothing_unseen")
def test_blocks_that_find_the_same_change_of_a_row_that_settles_make_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    start, end = rows_of(1), rows_of(2)
    monkeypatch.setattr(f"{__name__}.STRENGTHS", np.full(12, 1e4, np.float32))
    np.testing.assert_allclose(corrected(start, end, now=end), np.zeros_like(start), atol=1e-3)


@pytest.mark.usefixtures("nothing_unseen")
def test_a_row_that_no_other_block_changed_keeps_its_change() -> None:
    start, end = rows_of(1), rows_of(2)
    np.testing.assert_allclose(corrected(start, end, now=start), end - start, atol=1e-5)


def test_a_block_alone_keeps_every_bit_of_its_changes() -> None:
    start, end, now = rows_of(1), rows_of(2), rows_of(3)
    np.testing.assert_array_equal(corrected(start, end, now, blocks=1), end - start)


def test_blocks_pushed_unseen_are_taken_to_make_the_same_changes() -> None:
    start, end = rows_of(1), rows_of(2)
    blocks, unseen = 17, 2  # a sixteenth of sixteen others, and itself
    shares = moved_shares(start, end)
    eye = np.eye(SIZE)
    for row, change in enumerate(corrected(start, end, now=start, blocks=blocks)):
        in_turn = eye - np.linalg.matrix_power(eye - shares[row], unseen)  # what both would have moved
        expected = np.linalg.solve(shares[row], in_turn @ (end - start)[row]) / unseen
        np.testing.assert_allclose(change, expected, atol=2e-3)


@pytest.mark.usefixtures("nothing_unseen")
def test_states_that_grew_meanwhile_shorten_the_steps_of_adagrad() -> None:
    start, end, others = rows_of(1), rows_of(2), rows_of(3) / 4
    before, growth, missed = states_of(4, 300), states_of(5, 200), states_of(6, 900)
    steps = 1000
    # The rate of each of so many steps that share the growth of the state.
    passed = (np.arange(steps) + 0.5) / steps * growth
    of_block, after_others = (200 / np.sqrt(100 + first + passed) for first in (before, before + missed))
    slower = after_others.mean(1) / of_block.mean(1)
    shares = moved_shares(start, end, STRENGTHS * after_others.mean(1))
    expected = (end - start) * slower[:, None] - np.einsum("rij,rj->ri", shares, others)
    found = corrected(
        np.hstack([start, before]),
        np.hstack([end, before + growth]),
        np.hstack([start + others, before + missed]),
        ADAGRAD,
    )
    np.testing.assert_allclose(found[:, :-1], expected, atol=2e-3)
    np.testing.assert_allclose(found[:, -1:], growth, rtol=1e-4)
    assert slower.min() < 0.7, "states were hardly missed"


@pytest.mark.usefixtures("nothing_unseen")
def test_rows_that_are_no_longer_finite_end_no_training() -> None:
    start, end = rows_of(1), rows_of(2)
    end[3] = np.nan
    assert np.isfinite(corrected(start, end, now=start)[8:]).all()

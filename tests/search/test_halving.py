"""Successive halving trains what a plain reading of it says."""

from __future__ import annotations

import numpy as np
import pytest

from gensim_tfw2v.search.halving import Round, epochs_of, plan_rounds, successive_halving, survivors


@pytest.mark.parametrize(
    ("candidates", "epochs", "most", "expected"),
    [
        (27, 27, 3, [(27, 3), (9, 9), (3, 27)]),
        (27, 27, 9, [(27, 1), (9, 3), (3, 9), (1, 27)]),
        (20, 50, 3, [(20, 5), (6, 16), (2, 50)]),
        (27, 5, 3, [(27, 1), (9, 5)]),  # a third round would have no epoch
        (5, 50, 3, [(5, 16), (1, 50)]),  # or no candidate
        (2, 2, 3, [(2, 2)]),
        (27, 27, 1, [(27, 27)]),
    ],
)
def test_rounds_have_a_third_of_the_candidates_and_three_times_the_epochs(
    candidates: int, epochs: int, most: int, expected: list[tuple[int, int]]
) -> None:
    rounds = plan_rounds(candidates, epochs, most)
    assert rounds == expected
    assert epochs_of(rounds) == sum(count * length for count, length in expected)


def plain_halving(values: np.ndarray, rounds: list[Round]) -> list[tuple[int, int]]:
    """Return which candidate is trained for how many epochs, in turn; `values` has a row for each number of epochs."""
    trained, left = [], list(range(values.shape[1]))
    for number, round_ in enumerate(rounds):
        trained += [(candidate, round_.epochs) for candidate in left]
        if number + 1 < len(rounds):
            best_first = np.argsort(-values[number, left], kind="stable")[: rounds[number + 1].candidates]
            left = sorted(left[place] for place in best_first)
    return trained


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_each_round_are_trained_in_the_next_one(seed: int) -> None:
    rounds = plan_rounds(20, 18, 3)
    values = np.random.default_rng(seed).integers(0, 6, (3, 20)).astype(float)  # with many equal values
    row = {round_.epochs: number for number, round_ in enumerate(rounds)}
    trained = []

    def value_of(candidate: int, epochs: int) -> float:
        trained.append((candidate, epochs))
        return float(values[row[epochs], candidate])

    successive_halving(range(20), rounds, value_of)
    assert trained == plain_halving(values, rounds)


def test_a_training_without_a_value_is_the_first_to_go() -> None:
    assert survivors([1.0, -np.inf, 3.0, 1.0], 2) == [0, 2]
    assert survivors([-np.inf, -np.inf, -5.0], 1) == [2]

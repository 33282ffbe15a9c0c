"""Successive halving: rounds of ever fewer candidates that train ever longer. Nothing here knows what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

_Candidate = TypeVar("_Candidate")

FACTOR = 3  # the next round has one in so many candidates, and trains each for so many times as many epochs


class Round(NamedTuple):
    """How many candidates a round has, and how many epochs each of them is trained."""

    candidates: int
    epochs: int


def plan_rounds(candidates: int, epochs: int, most: int) -> list[Round]:
    """Return at most `most` rounds: the first has all candidates, and the last trains all epochs.

    There are fewer where a round would have no candidate, or no epoch.
    """
    rounds = [Round(candidates, epochs)]
    while len(rounds) < most and candidates >= FACTOR and epochs >= FACTOR:
        candidates //= FACTOR
        epochs //= FACTOR
        rounds.append(Round(candidates, epochs))
    numbers = [round_.candidates for round_ in rounds]
    lengths = [round_.epochs for round_ in reversed(rounds)]
    return [Round(*each) for each in zip(numbers, lengths, strict=True)]


def epochs_of(rounds: Sequence[Round]) -> int:
    """Return the epochs that all rounds train, over all candidates."""
    return sum(round_.candidates * round_.epochs for round_ in rounds)


def survivors(values: Sequence[float], count: int) -> list[int]:
    """Return the places of the highest values, in their order; among equal ones the first is higher."""
    ranked = sorted(range(len(values)), key=lambda place: (-values[place], place))
    return sorted(ranked[:count])


def successive_halving(
    candidates: Sequence[_Candidate], rounds: Sequence[Round], value_of: Callable[[_Candidate, int], float]
) -> None:
    """Train all candidates in the first round, and the best ones of each round again in the next one.

    Parameters
    ----------
    candidates : sequence
        Those of the first round.
    rounds : sequence of Round
        As `plan_rounds` returns them.
    value_of : callable
        Takes a candidate and a number of epochs, trains it, and returns its value: the higher the better.
    """
    left = list(candidates)
    for number, round_ in enumerate(rounds):
        values = [value_of(candidate, round_.epochs) for candidate in left]
        if number + 1 < len(rounds):
            left = [left[place] for place in survivors(values, rounds[number + 1].candidates)]

"""When training ends early, and which epoch is the best."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gensim_tfw2v import EarlyStopping
from gensim_tfw2v.training.early_stopping import EarlyStoppingRule

NAN, INFINITE = math.nan, math.inf


@pytest.mark.parametrize(
    ("losses", "best"),
    [
        ([], None),
        ([3.0], 0),
        ([3.0, 2.0, 2.5], 1),
        ([3.0, 2.0, 2.0], 1),
        ([NAN, INFINITE], None),
        ([NAN, 3.0, INFINITE, 2.0], 3),
    ],
)
def test_the_best_epoch_is_the_first_with_the_lowest_loss(losses: list[float], best: int | None) -> None:
    assert EarlyStopping(patience=3).best(losses) == best


def test_a_fall_by_less_than_the_smallest_improvement_is_none() -> None:
    stopping = EarlyStopping(patience=2, min_delta=0.5)
    losses = [3.0, 2.75, 2.4, 2.0, 1.9]
    assert stopping.best(losses) == 2
    assert [stopping.is_over(losses[:epochs]) for epochs in range(1, 6)] == [False, False, False, False, True]


@pytest.mark.parametrize(("patience", "epochs"), [(1, 3), (2, 6), (3, 7)])
def test_training_ends_after_so_many_epochs_without_improvement(patience: int, epochs: int) -> None:
    losses = [3.0, 2.0, 2.5, 1.9, 2.1, 2.0, 2.2, 1.0]
    stopping = EarlyStopping(patience)
    ends = [count for count in range(len(losses) + 1) if stopping.is_over(losses[:count])]
    assert ends[0] == epochs


def test_losses_that_are_no_numbers_use_up_the_patience() -> None:
    assert EarlyStopping(2).is_over([NAN, NAN])
    assert not EarlyStopping(3).is_over([NAN, NAN])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({"patience": 0}, "0"), ({"patience": 1.5}, "1.5"), ({"patience": True}, "True"), ({"min_delta": -1}, "-1")],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(arguments))} must be .*, got {name}"):
        EarlyStopping(**arguments)


def test_an_int_is_a_patience() -> None:
    assert EarlyStoppingRule().plain("early_stopping", 3) == EarlyStopping(3, 0.0)
    stopping = EarlyStopping(2, 0.1)
    assert EarlyStoppingRule().plain("early_stopping", stopping) is stopping
    assert EarlyStoppingRule().plain("early_stopping", None) is None

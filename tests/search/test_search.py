"""A search trains each candidate once, resumes, and ends with the best so far. Trainings are emulated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gensim_tfw2v.search.halving import plan_rounds
from gensim_tfw2v.search.metrics import metric_of
from gensim_tfw2v.search.results import ResultsFile, Trial
from gensim_tfw2v.search.search import Report, Search, SearchResult

CANDIDATES = [{"window": window} for window in (5, 1, 2, 3, 4, 6, 7, 8, 9)]
DEFAULT, DEFAULT_EPOCHS = CANDIDATES[0], 5
PLAN = plan_rounds(9, 9, 3)
IDENTITY = {"metric": "hits@10", "seed": 1}


class Trainings:
    """Emulates trainings: wider windows and more epochs are better. Calls `before_number` ahead of one of them."""

    def __init__(self, number: int = -1, before_number: Callable[[], Any] | None = None) -> None:
        self.done: list[tuple[int, int]] = []
        self._number, self._before_number = number, before_number

    def __call__(self, settings: dict[str, Any], epochs: int) -> float | None:
        if len(self.done) == self._number and self._before_number is not None:
            self._before_number()
        self.done.append((settings["window"], epochs))
        return None if settings["window"] == 8 else settings["window"] + epochs / 100


def interrupt() -> None:
    raise KeyboardInterrupt


def search(
    trainings: Trainings,
    results: Path | None = None,
    metric: str = "hits@10",
    budget: float | None = None,
    report: Report | None = None,
) -> SearchResult:
    known = ResultsFile(results, IDENTITY)
    reports = [] if report is None else [report]
    run = Search(trainings, metric_of(metric), known, budget, reports).run
    return run(DEFAULT, DEFAULT_EPOCHS, CANDIDATES, PLAN)


EVERY = [(5, 5), *((window, 1) for window in (5, 1, 2, 3, 4, 6, 7, 8, 9)), (6, 3), (7, 3), (9, 3), (9, 9)]


def test_the_defaults_and_then_the_rounds_are_trained() -> None:
    trainings = Trainings()
    found = search(trainings)
    assert trainings.done == EVERY
    assert (found.ended, found.default.arguments) == ("complete", {"window": 5, "epochs": 5})
    assert found.arguments == found.best.arguments == {"window": 9, "epochs": 9}
    values = [trial.value for trial in found.trials]
    assert values[:-1] == sorted(values[:-1], key=lambda value: -(value or 0))
    assert values[-1] is None  # a failed training is the last


def test_the_lowest_loss_is_the_best() -> None:
    found = search(Trainings(), metric="loss")
    assert found.best.value == min(trial.value for trial in found.trials if trial.value is not None)


def test_a_training_of_two_rounds_is_done_once() -> None:
    trainings = Trainings()
    known = ResultsFile(None, IDENTITY)
    Search(trainings, metric_of("hits@10"), known, None, []).run(DEFAULT, 1, CANDIDATES, PLAN)
    assert len(trainings.done) == len(set(trainings.done)) == len(EVERY) - 1


@pytest.mark.parametrize("number", [1, 4, 12])
def test_an_interrupt_ends_with_the_best_so_far_and_a_second_search_trains_the_rest(
    number: int, tmp_path: Path
) -> None:
    first, second = Trainings(number, interrupt), Trainings()
    found = search(first, tmp_path / "results")
    assert found.ended == "interrupted"
    assert len(found.trials) == number
    assert found.best.value == max(trial.value or 0 for trial in found.trials)
    resumed, whole = search(second, tmp_path / "results"), search(Trainings())
    assert first.done + second.done == EVERY
    assert [(trial.arguments, trial.value) for trial in resumed.trials] == [
        (trial.arguments, trial.value) for trial in whole.trials
    ]


def test_an_interrupt_before_the_first_result_is_one() -> None:
    with pytest.raises(KeyboardInterrupt):
        search(Trainings(0, interrupt))


def test_the_budget_ends_a_search_but_not_before_the_first_training() -> None:
    trainings = Trainings()
    found = search(trainings, budget=0.0)
    assert (found.ended, trainings.done) == ("out of budget", EVERY[:1])


def test_reports_have_the_best_so_far_and_end_at_the_whole() -> None:
    seen: list[tuple[Trial, Trial, float]] = []
    search(Trainings(), report=lambda *arguments: seen.append(arguments))
    parts = [part for _, _, part in seen]
    assert parts == sorted(parts)
    assert parts[-1] == pytest.approx(1.0)
    for number, (_, best, _) in enumerate(seen, start=1):
        assert best.value == max(trial.value or 0 for trial, _, _ in seen[:number])

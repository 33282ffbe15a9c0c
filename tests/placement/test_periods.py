"""Words a second for each number of workers that took part."""

from __future__ import annotations

import pytest
from support.clock import Clock

from gensim_tfw2v.placement.tasks import periods
from gensim_tfw2v.placement.tasks.periods import Periods


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock of periods."""
    made = Clock()
    monkeypatch.setattr(periods, "time", made)
    return made


def test_each_number_of_workers_has_its_seconds_and_speed(clock: Clock) -> None:
    found = Periods()
    for workers, tokens, seconds in [(2, 200, 10), (3, 300, 5), (2, 100, 5)]:
        found.set_workers(workers)
        found.add(tokens)
        clock.now += seconds
    # A token stands for two raw words.
    assert found.report(1200) == [
        {"workers": 2, "seconds": 10, "words_per_second": 40},
        {"workers": 3, "seconds": 5, "words_per_second": 120},
        {"workers": 2, "seconds": 5, "words_per_second": 40},
    ]


def test_a_number_of_workers_with_which_nothing_was_trained_has_no_period(clock: Clock) -> None:
    found = Periods()
    for workers in (0, 1, 2):
        found.set_workers(workers)
        clock.now += 1
    found.add(30)
    found.set_workers(2)
    assert found.report(30) == [{"workers": 2, "seconds": 3, "words_per_second": 10}]


def test_there_is_no_period_without_workers() -> None:
    found = Periods()
    found.add(30)
    assert found.report(30) == []

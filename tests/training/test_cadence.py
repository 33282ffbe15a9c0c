"""When the next checkpoint is due, and when a copy of vectors that may be lost is."""

from __future__ import annotations

import pytest
from support.clock import Clock

from gensim_tfw2v.training import cadence as module
from gensim_tfw2v.training.cadence import BackupCadence, Cadence


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


def words_until_due(cadence: Cadence) -> int:
    """Return how many hundreds of words it takes until a checkpoint is due, in words."""
    words = 0
    while not cadence.is_due():
        cadence.add(100)
        words += 100
    return words


def test_checkpoints_begin_early_so_that_an_interval_is_the_most_that_is_lost() -> None:
    cadence = Cadence("1000 words")
    assert words_until_due(cadence) == 500  # nobody knows how long the first one takes
    cadence.begin()
    for _ in range(2):
        cadence.add(100)
    cadence.end_writing()
    # 200 of the interval are over. Writing the next one takes 200 more, and the last chunk before it may take 100.
    assert words_until_due(cadence) == 500
    cadence.begin()
    cadence.end_writing()  # quicker, but the next one may take as long as the longest
    assert words_until_due(cadence) == 700
    cadence.begin()
    cadence.add(800)
    cadence.end_writing()
    assert words_until_due(cadence) == 0
    cadence.begin()
    assert words_until_due(cadence) == 500


def test_what_comes_before_the_first_chunk_is_no_chunk(clock: Clock) -> None:
    clock.now = 0.0
    cadence = Cadence(60.0)
    for moment in (25.0, 26.0, 27.0, 30.0):  # making graphs and connecting takes 25 seconds
        clock.now = moment
        cadence.add(1000)
    cadence.begin()
    clock.now = 32.0
    cadence.end_writing()
    clock.now = 84.0
    assert not cadence.is_due()
    clock.now = 85.0  # 60 seconds, less 2 for writing and 3 for the longest chunk
    assert cadence.is_due()


def test_the_first_copy_that_takes_long_is_due_after_half_a_minute(clock: Clock) -> None:
    cadence = BackupCadence()
    clock.now += 29
    assert not cadence.is_due()
    clock.now += 1
    assert cadence.is_due()
    cadence.record()
    assert not cadence.is_due()


def test_a_copy_is_due_when_training_has_taken_twenty_times_as_long_as_the_last_copy(clock: Clock) -> None:
    cadence = BackupCadence()
    clock.now += 4
    cadence.record(copy_began=clock.now - 4)
    clock.now += 79
    assert not cadence.is_due()
    clock.now += 1
    assert cadence.is_due()

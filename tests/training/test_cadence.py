"""When the next checkpoint is due."""

from __future__ import annotations

import pytest

from gensim_tfw2v.training.cadence import Cadence


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


def test_what_comes_before_the_first_chunk_is_no_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("gensim_tfw2v.training.cadence.time.monotonic", lambda: now)
    cadence = Cadence(60.0)
    for moment in (25.0, 26.0, 27.0, 30.0):  # making graphs and connecting takes 25 seconds
        now = moment
        cadence.add(1000)
    cadence.begin()
    now = 32.0
    cadence.end_writing()
    now = 84.0
    assert not cadence.is_due()
    now = 85.0  # 60 seconds, less 2 for writing and 3 for the longest chunk
    assert cadence.is_due()

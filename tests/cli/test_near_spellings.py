"""Words of a vocabulary that are spelt like an unknown one."""

from __future__ import annotations

import pytest

from gensim_tfw2v.cli import neighbours as module
from gensim_tfw2v.cli.neighbours import near_spellings

WORDS = ["the", "received", "Paris", "house", "receive", "horse", "naïve", "their", "recital"]


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("recieve", "receive"),
        ("paris", "Paris"),
        ("PARIS", "Paris"),
        ("teh", "the"),
        ("ouse", "house"),
        ("naive", "naïve"),
        ("thier", "their"),
    ],
)
def test_the_nearest_spelling_comes_first(word: str, nearest: str) -> None:
    assert near_spellings(word, WORDS)[0] == nearest


def test_the_more_frequent_of_two_equally_near_words_comes_first() -> None:
    assert near_spellings("hose", ["horse", "house"]) == ["horse", "house"]
    assert near_spellings("hose", ["house", "horse"]) == ["house", "horse"]


@pytest.mark.parametrize("word", ["", "q", "unicorn", "the house of their horse", "\udcff"])
def test_nothing_is_near_a_word_that_is_spelt_like_none(word: str) -> None:
    assert near_spellings(word, WORDS) == []


def test_no_more_words_are_returned_than_asked_for() -> None:
    words = [f"word{number}" for number in range(10)]
    assert near_spellings("word", words, most=4) == words[:4]


def test_a_rare_word_is_found_if_it_begins_with_the_same_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FREQUENT_WORDS", 2)
    assert near_spellings("Recieve", WORDS) == ["receive", "received"]
    assert near_spellings("ouse", WORDS) == []


def test_keys_that_are_no_words_are_left_out() -> None:
    assert near_spellings("cat", [3, "cats", None]) == ["cats"]

"""Sentences of whole numbers and NumPy arrays are counted and looked up as gensim counts and finds their words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from hypothesis import given, settings
from hypothesis import strategies as st

from gensim_tfw2v import TFWord2Vec, tuning
from gensim_tfw2v.corpus.cache import CacheBudget
from gensim_tfw2v.corpus.iterable_source import IterableSource
from gensim_tfw2v.corpus.number_sentences import NumberTable
from gensim_tfw2v.corpus.sources import Reading

SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "seed": 1, "epochs": 2}
TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i4", ">u8"]
WALKS = [[3, 1, 3], [], [0, 7, 2], [1] * 40, [7, 100, 3]]


def counts_of(sentences: Any, **own: Any) -> tuple[tuple[int, int], list[tuple[Any, int]]]:
    """Return the totals that a scan returns, and all words with their counts in the order in which they were found."""
    model = TFWord2Vec(**SMALL, **own)
    totals = model.scan_vocab(sentences)
    return totals, list(model.raw_vocab.items())


def gensims_counts_of(sentences: Any) -> tuple[tuple[int, int], list[tuple[Any, int]]]:
    """Return what gensim counts."""
    model = Word2Vec(**SMALL)
    return model.scan_vocab(sentences), list(model.raw_vocab.items())


def assert_plain_numbers(words: list[Any]) -> None:
    """Fail unless all words are Python's own ints."""
    assert {type(word) for word in words} <= {int}


@pytest.mark.parametrize("words_at_once", [1, 4, 50_000])
@pytest.mark.parametrize("kind", [list, tuple, *TYPES])
def test_whole_numbers_are_counted_as_gensim_counts_them(
    kind: Any, words_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "ITERABLE_WORDS", words_at_once)
    sentences = [kind(walk) if callable(kind) else np.array(walk, kind) for walk in WALKS]
    totals, found = counts_of(sentences)
    assert (totals, found) == gensims_counts_of(WALKS)
    assert_plain_numbers([word for word, _ in found])


def test_the_same_numbers_may_come_in_lists_and_in_arrays_of_several_types() -> None:
    kinds = [list, *TYPES]
    sentences = [
        kinds[number % len(kinds)](walk) if number % len(kinds) == 0 else np.array(walk, kinds[number % len(kinds)])
        for number, walk in enumerate(WALKS * 20)
    ]
    totals, found = counts_of(sentences)
    assert (totals, found) == gensims_counts_of(WALKS * 20)
    assert_plain_numbers([word for word, _ in found])


def test_numpys_own_numbers_in_a_list_become_ints() -> None:
    _, found = counts_of([[np.int64(5), 6, np.uint8(5)]])
    assert found == [(5, 2), (6, 1)]
    assert_plain_numbers([word for word, _ in found])


def test_rows_of_a_matrix_and_slices_are_sentences() -> None:
    matrix = np.arange(24).reshape(4, 6) % 5
    assert counts_of(matrix) == gensims_counts_of(matrix.tolist())
    assert counts_of(matrix.T) == gensims_counts_of(matrix.T.tolist())
    assert counts_of([row[::-2] for row in matrix]) == gensims_counts_of([row[::-2].tolist() for row in matrix])


@pytest.mark.parametrize("kind", ["U", "S", "O"])
def test_words_in_arrays_become_pythons_own(kind: str) -> None:
    sentences = [np.array(words, kind) for words in (["b", "a", "b"], ["c"], ["cd", "a"])]
    totals, found = counts_of([*sentences, np.array([])])
    expected = [sentence.tolist() for sentence in sentences]
    assert (totals, found) == gensims_counts_of([*expected, []])
    assert {type(word) for word, _ in found} == {bytes if kind == "S" else str}


@pytest.mark.parametrize("most", [1, 50, 2**24])
@given(
    walks=st.lists(st.lists(st.integers(0, 99), max_size=12), max_size=30),
    known=st.lists(st.integers(0, 99), unique=True),
)
@settings(max_examples=20)
def test_numbers_have_their_ids_however_large_the_table_may_be(
    most: int, walks: list[list[int]], known: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "MOST_TABLE_NUMBERS", most)
        patch.setattr(tuning, "ITERABLE_WORDS", 10)
        assert counts_of([np.array(walk, np.int32) for walk in walks]) == gensims_counts_of(walks)
        ids = {number: id_ for id_, number in enumerate(known)}
        source = IterableSource([np.array(walk, int) for walk in walks], Reading(ids, 7, CacheBudget(0, 0, None)))
        found = [id_ for chunk in source.epoch() for id_ in chunk.content.ids.tolist()]  # type: ignore[union-attr]
    assert found == [ids[number] for walk in walks for number in walk if number in ids]


def test_each_number_is_looked_up_once() -> None:
    asked: list[int] = []

    def look_up(numbers: list[int]) -> np.ndarray:
        asked.extend(numbers)
        return np.array(numbers, np.int32) * 10

    table = NumberTable(look_up)
    np.testing.assert_array_equal(table.ids(np.array([4, 2, 4])), [40, 20, 40])
    np.testing.assert_array_equal(table.ids(np.array([9, 2, 0, 9])), [90, 20, 0, 90])
    np.testing.assert_array_equal(table.ids(np.array([], np.int64)), [])
    assert asked == [4, 2, 9, 0]


def reused_array(walks: list[list[int]]) -> Iterator[np.ndarray]:
    """Yield all walks in the memory of one array."""
    memory = np.zeros(100, np.int64)
    for walk in walks:
        memory[: len(walk)] = walk
        yield memory[: len(walk)]


def test_an_iterator_may_yield_one_array_again_and_again() -> None:
    assert counts_of(reused_array(WALKS)) == gensims_counts_of(iter(WALKS))


@pytest.mark.parametrize("kind", [list, np.array])
def test_an_overlong_sentence_is_cut_and_counts_once(kind: Any) -> None:
    walk = (np.arange(25_001) % 7).tolist()
    totals, found = counts_of([kind(walk), kind([1, 2])])
    assert totals == (25_003, 2)
    assert found == gensims_counts_of([walk, [1, 2]])[1]


@pytest.mark.parametrize(
    ("sentence", "word", "error"),
    [
        (np.array([2.0, 3.5]), r"2\.0", TypeError),
        (np.array([True, False]), "True", TypeError),
        (np.array([2, -1]), "-1", ValueError),
        ([2, -1], "-1", ValueError),
        ([2, 3.5], r"3\.5", TypeError),
        ([2, True], "True", TypeError),
        ([2, None], "None", TypeError),
        ([2, "a"], "'a'", TypeError),
        (["a"], "'a'", TypeError),
        (np.array(["a"]), "'a'", TypeError),
        (np.array([2, 2**63], np.uint64), str(2**63), ValueError),
        ([2, 2**63], str(2**63), ValueError),
        ([2, -(2**70)], str(-(2**70)), ValueError),
        (np.array([[1, 2]]), "array", TypeError),
        (np.array(["2026-01-01"], "datetime64[D]"), "2026", TypeError),
    ],
    ids=str,
)
@pytest.mark.parametrize("second", [[0], np.array([0])], ids=["list", "array"])
def test_a_wrong_word_beside_arrays_of_numbers_is_named_with_its_sentence(
    second: Any, sentence: Any, word: str, error: type[Exception]
) -> None:
    sentences = [np.array([1, 2]), second, sentence, [3]]
    with pytest.raises(error, match=rf"sentence number 2 (holds|is) .*{word}"):
        counts_of(sentences)
    model = TFWord2Vec([[1, 2]] * 5, **SMALL)
    with pytest.raises(error, match=rf"sentence number 2 (holds|is) .*{word}"):
        model.train(sentences, total_examples=4, epochs=1)


@pytest.mark.parametrize("first", [["a"], [1, "a"], [2, -1], [True]], ids=str)
def test_an_array_of_numbers_after_other_words_is_named_with_its_sentence(first: list[Any]) -> None:
    with pytest.raises(TypeError, match=r"sentence number 1 holds the word 4 in an array of integers"):
        counts_of([first, np.array([4, 5])])


@pytest.mark.parametrize("words_at_once", [1, 50_000])
@pytest.mark.parametrize("word", [-1, 2.5, True, False, None, "a", ("a", 1), 2**63, -(2**70)], ids=str)
def test_lists_may_hold_any_words_as_in_gensim(word: Any, words_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "ITERABLE_WORDS", words_at_once)
    for sentences in ([[1, 2, 1], [0, word, 1], [3, 1]], [[word, 1], [0, 1, word]]):
        assert counts_of(sentences) == gensims_counts_of(sentences)


def test_a_vocabulary_that_is_pruned_while_it_is_counted_has_pythons_own_words() -> None:
    totals, found = counts_of([np.array([5, 6, 5]), np.array([6])], max_vocab_size=100)
    assert (totals, found) == ((4, 2), [(5, 2), (6, 2)])
    assert_plain_numbers([word for word, _ in found])

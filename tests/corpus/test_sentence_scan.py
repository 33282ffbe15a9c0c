"""Sentences are counted in one pass as gensim counts them, and the constructor trains what that pass has read."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec

from gensim_tfw2v import TFWord2Vec, tuning
from gensim_tfw2v.corpus.sentence_batches import sentence_batches

SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "seed": 1, "epochs": 2}
SENTENCES = [["b", "a", "b"], [], ["c", 7, ("d", 1)], ["a"] * 40, np.array(["e", "b"])]


class Counted:
    """Sentences that count how often they are iterated over."""

    def __init__(self, sentences: list[Any]) -> None:
        self.sentences, self.passes = sentences, 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        return iter(self.sentences)


@pytest.mark.parametrize("words_at_once", [1, 4, 50_000])
def test_words_are_counted_as_gensim_counts_them(words_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "ITERABLE_WORDS", words_at_once)
    ours, gensims = TFWord2Vec(**SMALL), Word2Vec(**SMALL)
    assert ours.scan_vocab(SENTENCES) == gensims.scan_vocab(SENTENCES) == (48, 5)
    assert list(ours.raw_vocab.items()) == list(gensims.raw_vocab.items())
    assert ours.raw_vocab["unseen"] == 0  # gensim's update of a vocabulary relies on it


def test_the_constructor_reads_sentences_once_and_trains_what_several_passes_would() -> None:
    once, again = Counted(SENTENCES), Counted(SENTENCES)
    model = TFWord2Vec(once, **SMALL)
    assert once.passes == 2  # the second one shows that sentences are the same
    later = TFWord2Vec(**SMALL)
    later.build_vocab(again)
    later.train(again, total_examples=later.corpus_count, epochs=later.epochs)
    assert again.passes == 3
    np.testing.assert_array_equal(model.wv.vectors, later.wv.vectors)


@pytest.mark.parametrize("settings", [{"cache_memory": 0}, {"max_vocab_size": 100}])
def test_sentences_that_are_not_kept_are_read_again(settings: dict[str, Any]) -> None:
    sentences = Counted(SENTENCES)
    model = TFWord2Vec(sentences, **SMALL, **settings)
    assert sentences.passes > 1
    np.testing.assert_array_equal(model.wv.vectors, TFWord2Vec(SENTENCES, **SMALL).wv.vectors)


def test_a_sentence_that_is_cut_counts_once() -> None:
    sentences = Counted([["a", "b"] * 10_000, ["a", "c"]])
    seen = TFWord2Vec(sentences, **SMALL)
    assert seen.corpus_count == 2
    assert sentences.passes == 3  # the last one shows that sentences are the same


def test_sentences_that_change_after_the_constructor_are_read_anew() -> None:
    sentences = [["a", "b"], ["b", "c"]] * 50
    changed = TFWord2Vec(sentences, **SMALL)
    sentences[:] = [["a", "c"], ["c", "b"]] * 50
    changed.train(sentences, total_examples=100, epochs=2)
    expected = TFWord2Vec([["a", "b"], ["b", "c"]] * 50, **SMALL)
    expected.train([["a", "c"], ["c", "b"]] * 50, total_examples=100, epochs=2)
    np.testing.assert_array_equal(changed.wv.vectors, expected.wv.vectors)


def test_a_word_without_a_hash_is_named_with_its_sentence() -> None:
    with pytest.raises(TypeError, match=r"sentence number 1 holds the word \['b'\]"):
        TFWord2Vec([["a"], ["a", ["b"]]], **SMALL)


def test_progress_is_logged_by_sentences_and_text_is_warned_of(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "ITERABLE_WORDS", 1)
    with caplog.at_level(logging.INFO):
        TFWord2Vec(**SMALL).scan_vocab(["ab", "cd", "ef", "gh", "ij"], progress_per=2)
    lines = [record.getMessage() for record in caplog.records]
    assert [line for line in lines if line.startswith("PROGRESS")] == [
        f"PROGRESS: at sentence #{number}, processed {2 * number} words, keeping {2 * number} word types"
        for number in (1, 3, 5)
    ]
    assert any("First item here is instead plain" in line for line in lines)
    assert "collected 10 word types from a corpus of 10 raw words and 5 sentences" in lines


def reused_list(sentences: list[list[str]]) -> Iterator[list[str]]:
    """Yield all sentences in one list, which is emptied for the next one."""
    words: list[str] = []
    for sentence in sentences:
        words[:] = sentence
        yield words


def test_an_iterator_may_yield_one_list_again_and_again() -> None:
    sentences = [["a", "b"], ["c"], ["a", "d", "e"]]
    ours, gensims = TFWord2Vec(**SMALL), Word2Vec(**SMALL)
    assert ours.scan_vocab(reused_list(sentences)) == gensims.scan_vocab(reused_list(sentences)) == (6, 3)
    assert list(ours.raw_vocab.items()) == list(gensims.raw_vocab.items())


def test_sentences_are_read_one_at_a_time() -> None:
    """Long sentences that wait for others would take memory."""
    taken = iter([["a", "b"], ["c"]])
    assert next(sentence_batches(taken, most_words=2, most_pieces=100)).words == ["a", "b"]
    assert next(taken) == ["c"]

"""What train() returns, counts, warns of and leaves behind."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import (
    PURE_MODES,
    SENTENCE_WORDS,
    SENTENCES,
    assert_finite,
    learnt_arrays,
    topic_gap,
    two_topics,
)


def untrained(word2vec_class: type[Any], **arguments: Any) -> Any:
    """Return a model with the vocabulary of SENTENCES that has not been trained."""
    model = word2vec_class(**{"vector_size": 8, "min_count": 1, "sample": 0, "workers": 1} | arguments)
    model.build_vocab(SENTENCES)
    return model


def train(model: Any, epochs: int = 2, **arguments: Any) -> Any:
    """Train a model on SENTENCES; return what train() returns."""
    return model.train(SENTENCES, total_examples=len(SENTENCES), epochs=epochs, **arguments)


def test_training_changes_every_table_and_keeps_it_finite(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = untrained(word2vec_class, **mode)
    before = {name: array.copy() for name, array in learnt_arrays(model).items()}
    train(model)
    assert_finite(model)
    for name, array in learnt_arrays(model).items():
        assert not np.array_equal(array, before[name]), name


def test_only_the_tables_of_the_chosen_method_exist(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = untrained(word2vec_class, **mode)
    train(model)
    assert hasattr(model, "syn1") == bool(mode["hs"])
    assert hasattr(model, "syn1neg") == bool(mode["negative"])


def test_learnt_tables_are_float32_and_in_this_process(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = untrained(word2vec_class, **mode)
    train(model)
    for name, array in learnt_arrays(model).items():
        assert type(array) is np.ndarray, name
        assert array.dtype == np.float32, name


def test_train_returns_trained_and_raw_words(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = untrained(word2vec_class, **mode)
    assert train(model, epochs=3) == (3 * SENTENCE_WORDS, 3 * SENTENCE_WORDS)


def test_unknown_words_count_as_raw_but_not_as_trained(word2vec_class: type[Any]) -> None:
    model = untrained(word2vec_class)
    sentences = [["human", "zebra", "computer"], ["zebra"], [], ["graph", "trees"]]
    assert model.train(sentences, total_examples=4, epochs=2) == (8, 12)


def test_a_corpus_of_unknown_words_trains_nothing(word2vec_class: type[Any]) -> None:
    model = untrained(word2vec_class)
    before = model.wv.vectors.copy()
    assert model.train([["zebra", "okapi"]], total_examples=1, epochs=2) == (0, 4)
    np.testing.assert_array_equal(model.wv.vectors, before)


def test_subsampling_drops_the_share_of_words_that_the_vocabulary_says(
    word2vec_class: type[Any], lee: list[list[str]]
) -> None:
    model = word2vec_class(vector_size=4, sample=1e-3, workers=1)
    model.build_vocab(lee)
    counts = model.wv.expandos["count"].astype(float)
    expected = 10 * (counts * model.wv.expandos["sample_int"] / 2**32).sum()
    trained, raw = model.train(lee, total_examples=len(lee), epochs=10)
    assert raw == 10 * model.corpus_total_words
    assert trained == pytest.approx(expected, rel=0.01)


def test_total_words_may_stand_for_total_examples(word2vec_class: type[Any]) -> None:
    model = untrained(word2vec_class)
    assert model.train(SENTENCES, total_words=SENTENCE_WORDS, epochs=1) == (SENTENCE_WORDS, SENTENCE_WORDS)


def test_train_keeps_count_of_calls_time_and_epochs(word2vec_class: type[Any]) -> None:
    model = word2vec_class(SENTENCES, vector_size=8, epochs=2)
    first_time = model.total_train_time
    train(model, epochs=4)
    assert (model.train_count, model.epochs) == (2, 4)
    assert 0 < first_time < model.total_train_time


def test_a_second_training_goes_on_from_the_first(word2vec_class: type[Any]) -> None:
    sentences = two_topics()
    model = word2vec_class(sentences, vector_size=16, sg=1, epochs=1, seed=3, workers=1)
    first = topic_gap(model.wv)
    model.train(sentences, total_examples=len(sentences), epochs=10)
    assert topic_gap(model.wv) > first + 0.5


def test_the_learning_rate_falls_towards_min_alpha(word2vec_class: type[Any]) -> None:
    model = untrained(word2vec_class, alpha=0.03, min_alpha=0.001)
    train(model, epochs=4)
    assert 0.001 <= model.min_alpha_yet_reached < 0.03
    assert (model.alpha, model.min_alpha) == (0.03, 0.001)


def test_start_alpha_and_end_alpha_replace_those_of_the_model(word2vec_class: type[Any]) -> None:
    model = untrained(word2vec_class)
    train(model, epochs=3, start_alpha=0.02, end_alpha=0.01)
    assert (model.alpha, model.min_alpha) == (0.02, 0.01)
    assert 0.01 <= model.min_alpha_yet_reached < 0.02


def test_a_smaller_learning_rate_moves_vectors_less(word2vec_class: type[Any], pure_mode: dict[str, int]) -> None:
    moved = []
    for alpha in (1e-5, 1e-2):
        model = untrained(word2vec_class, **pure_mode)
        before = model.wv.vectors.copy()
        train(model, start_alpha=alpha, end_alpha=alpha)
        moved.append(np.abs(model.wv.vectors - before).max())
    assert 0 < moved[0] < moved[1] / 20


class WarmUp(CallbackAny2Vec):
    """Raises the learning rate in front of each epoch."""

    def on_epoch_begin(self, model: Any) -> None:
        model.alpha = min(0.05, model.alpha + 0.02)


@pytest.mark.parametrize(
    ("before", "arguments"),
    [
        ({"alpha": 0.0, "min_alpha": 0.05}, {}),
        ({}, {"start_alpha": 1e-5, "end_alpha": 0.05}),
        ({"alpha": 0.0, "min_alpha": 0.0}, {"callbacks": [WarmUp()]}),
    ],
    ids=["alpha below min_alpha", "start_alpha below end_alpha", "raised by a callback"],
)
def test_a_rate_that_rises_trains_as_one_that_is_high_from_the_beginning(
    word2vec_class: type[Any], before: dict[str, float], arguments: dict[str, Any]
) -> None:
    moved = []
    for model, extra in (
        (untrained(word2vec_class, **before), arguments),
        (untrained(word2vec_class, alpha=0.05, min_alpha=0.05), {}),
    ):
        start = model.wv.vectors.copy()
        train(model, epochs=20, **extra)
        moved.append(np.abs(model.wv.vectors - start).mean())
    assert moved[0] > moved[1] / 2


def test_raising_alpha_again_warns(word2vec_class: type[Any], caplog: pytest.LogCaptureFixture) -> None:
    model = untrained(word2vec_class)
    train(model, epochs=4)
    caplog.clear()
    train(model, start_alpha=0.05)
    assert "Effective 'alpha' higher than previous training cycles" in caplog.text


def test_both_methods_at_once_warn_and_train(word2vec_class: type[Any], caplog: pytest.LogCaptureFixture) -> None:
    train(untrained(word2vec_class, hs=1, negative=5))
    assert "Both hierarchical softmax and negative sampling are activated" in caplog.text


def test_a_wrong_number_of_examples_warns(word2vec_class: type[Any], caplog: pytest.LogCaptureFixture) -> None:
    model = untrained(word2vec_class)
    model.train(SENTENCES, total_examples=7, epochs=1)
    assert f"supplied example count ({len(SENTENCES)}) did not equal expected count (7)" in caplog.text


def test_a_wrong_number_of_words_warns(word2vec_class: type[Any], caplog: pytest.LogCaptureFixture) -> None:
    model = untrained(word2vec_class)
    model.train(SENTENCES, total_words=7, epochs=1)
    assert f"supplied raw word count ({SENTENCE_WORDS}) did not equal expected count (7)" in caplog.text


def test_training_logs_each_epoch(word2vec_class: type[Any], caplog: pytest.LogCaptureFixture) -> None:
    model = untrained(word2vec_class)
    with caplog.at_level(logging.INFO):
        train(model, epochs=2)
    for epoch in range(2):
        assert f"EPOCH {epoch}: training on {SENTENCE_WORDS} raw words" in caplog.text


def test_training_records_the_same_lifecycle_events(word2vec_class: type[Any]) -> None:
    model = word2vec_class(SENTENCES, vector_size=8)
    names = [event["event"] for event in model.lifecycle_events]
    assert names == ["prepare_vocab"] * 3 + ["build_vocab", "train", "train", "created"]


@pytest.mark.parametrize("method", ["negative", "hierarchical"])
@pytest.mark.parametrize("model_name", ["skipgram", "cbow"])
def test_the_last_training_event_tells_the_word_counts(word2vec_class: type[Any], model_name: str, method: str) -> None:
    model = untrained(word2vec_class, **PURE_MODES[f"{model_name}-{method}"])
    train(model, epochs=2)
    message = model.lifecycle_events[-1]["msg"]
    total = 2 * SENTENCE_WORDS
    assert message.startswith(f"training on {total} raw words ({total} effective words) took ")


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_workers_learns_the_topics(word2vec_class: type[Any], workers: int) -> None:
    model = word2vec_class(two_topics(), vector_size=16, sg=1, epochs=10, workers=workers, alpha=0.05)
    assert_finite(model)
    assert topic_gap(model.wv) > 1

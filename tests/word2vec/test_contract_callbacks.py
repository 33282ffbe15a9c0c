"""Callbacks: when they are called, and that the model they are given is current."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import SENTENCE_WORDS, SENTENCES, assert_equal_models

ARGUMENTS: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "sample": 0}


class Recorder(CallbackAny2Vec):
    """Note each call in a list that several recorders may share."""

    def __init__(self, calls: list[str], name: str = "") -> None:
        self.calls = calls
        self.name = name

    def on_train_begin(self, model: Any) -> None:
        self.calls.append(f"{self.name}train_begin")

    def on_train_end(self, model: Any) -> None:
        self.calls.append(f"{self.name}train_end")

    def on_epoch_begin(self, model: Any) -> None:
        self.calls.append(f"{self.name}epoch_begin")

    def on_epoch_end(self, model: Any) -> None:
        self.calls.append(f"{self.name}epoch_end")


class AtEpochEnd(CallbackAny2Vec):
    """Keep what a function makes of the model at the end of each epoch."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.results: list[Any] = []

    def on_epoch_end(self, model: Any) -> None:
        self.results.append(self.function(model))


def test_callbacks_are_called_around_training_and_each_epoch(word2vec_class: type[Any]) -> None:
    calls: list[str] = []
    word2vec_class(SENTENCES, epochs=2, callbacks=[Recorder(calls)], **ARGUMENTS)
    assert calls == ["train_begin", *["epoch_begin", "epoch_end"] * 2, "train_end"]


def test_words_that_a_callback_adds_end_training_with_an_error_that_says_so(tfword2vec_class: type[Any]) -> None:
    model = tfword2vec_class(**ARGUMENTS)
    model.build_vocab(SENTENCES)
    words = len(model.wv)
    adding = AtEpochEnd(lambda model: model.build_vocab([["never", "met"]], update=True))
    with pytest.raises(RuntimeError, match=rf"had {words} words .* has {words + 2} now"):
        model.train(SENTENCES, total_examples=len(SENTENCES), epochs=2, callbacks=[adding])
    assert len(model.wv.vectors) == words + 2
    assert model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)[1] == SENTENCE_WORDS


def test_settings_that_a_callback_changes_wait_for_the_next_training_with_a_warning(
    tfword2vec_class: type[Any], caplog: pytest.LogCaptureFixture
) -> None:
    class Schedule(CallbackAny2Vec):
        def on_epoch_begin(self, model: Any) -> None:
            model.window -= 1
            model.alpha /= 2

        def on_epoch_end(self, model: Any) -> None:
            model.sample = 0

    model = tfword2vec_class(window=9, **ARGUMENTS | {"sample": 1e-3})
    model.build_vocab(SENTENCES)
    trained, _ = model.train(SENTENCES, total_examples=len(SENTENCES), epochs=3, callbacks=[Schedule()])
    assert trained < SENTENCE_WORDS
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [warning.split(";")[0] for warning in warnings] == [
        "window has been set to 8 during train(), which continues with 9",
        "sample has been set to 0 during train(), which continues with 0.001",
    ]
    assert model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)[0] == SENTENCE_WORDS


def test_several_callbacks_are_called_in_their_order(word2vec_class: type[Any]) -> None:
    calls: list[str] = []
    recorders = [Recorder(calls, "a "), Recorder(calls, "b ")]
    word2vec_class(SENTENCES, epochs=1, callbacks=recorders, **ARGUMENTS)
    stages = ["train_begin", "epoch_begin", "epoch_end", "train_end"]
    assert calls == [f"{name} {stage}" for stage in stages for name in "ab"]


def test_callbacks_of_the_constructor_are_not_kept(word2vec_class: type[Any]) -> None:
    calls: list[str] = []
    model = word2vec_class(SENTENCES, epochs=1, callbacks=[Recorder(calls)], **ARGUMENTS)
    calls.clear()
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
    assert calls == []


def test_callbacks_without_a_corpus_warn(word2vec_class: type[Any], caplog: pytest.LogCaptureFixture) -> None:
    word2vec_class(callbacks=[Recorder([])])
    assert "Callbacks are no longer retained by the model" in caplog.text


def test_training_from_a_file_calls_back_too(word2vec_class: type[Any], scratch: Path) -> None:
    calls: list[str] = []
    (scratch / "corpus").write_text("a b c d\n" * 50)
    word2vec_class(corpus_file="corpus", epochs=2, callbacks=[Recorder(calls)], **ARGUMENTS)
    assert calls == ["train_begin", *["epoch_begin", "epoch_end"] * 2, "train_end"]


def test_vectors_are_current_at_the_end_of_each_epoch(word2vec_class: type[Any], pure_mode: dict[str, int]) -> None:
    record = AtEpochEnd(lambda model: model.wv.vectors.copy())
    model = word2vec_class(SENTENCES, epochs=3, callbacks=[record], **ARGUMENTS, **pure_mode)
    for earlier, later in zip(record.results, record.results[1:], strict=False):
        assert not np.array_equal(earlier, later)
    np.testing.assert_array_equal(record.results[-1], model.wv.vectors)


@pytest.mark.parametrize(
    "copy_model", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["deepcopy", "pickle"]
)
def test_the_model_can_be_copied_inside_an_epoch_end(
    word2vec_class: type[Any], copy_model: Callable[[Any], Any]
) -> None:
    copies = AtEpochEnd(lambda model: (copy_model(model), model.wv.vectors.copy()))
    word2vec_class(SENTENCES, epochs=3, callbacks=[copies], **ARGUMENTS)
    for duplicate, vectors in copies.results:
        assert type(duplicate) is word2vec_class
        np.testing.assert_array_equal(duplicate.wv.vectors, vectors)


def test_a_model_saved_inside_an_epoch_end_loads_and_trains_on(
    word2vec_class: type[Any], scratch: Path, mode: dict[str, int]
) -> None:
    def save_and_load(model: Any) -> Any:
        model.save("checkpoint")
        loaded = word2vec_class.load("checkpoint")
        assert_equal_models(loaded, model)
        return loaded

    loaded = AtEpochEnd(save_and_load)
    word2vec_class(SENTENCES, epochs=2, callbacks=[loaded], **ARGUMENTS, **mode)
    for model in loaded.results:
        trained = model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
        assert trained == (SENTENCE_WORDS, SENTENCE_WORDS)


def test_what_a_callback_writes_into_the_vectors_is_trained_on(word2vec_class: type[Any]) -> None:
    def shift(model: Any) -> float:
        mean = float(model.wv.vectors.mean())
        model.wv.vectors[:] += 1
        return mean

    record = AtEpochEnd(shift)
    word2vec_class(SENTENCES, epochs=2, callbacks=[record], **ARGUMENTS)
    assert record.results[1] > record.results[0] + 0.5


def test_queries_work_inside_an_epoch_end(word2vec_class: type[Any]) -> None:
    record = AtEpochEnd(lambda model: model.wv.most_similar("human", topn=3))
    model = word2vec_class(SENTENCES, epochs=1, callbacks=[record], **ARGUMENTS)
    assert record.results == [model.wv.most_similar("human", topn=3)]


def test_queries_of_a_later_epoch_do_not_use_the_lengths_of_an_earlier(tfword2vec_class: type[Any]) -> None:
    """gensim keeps the vector lengths that the first query computed until training ends."""
    record = AtEpochEnd(lambda model: np.linalg.norm(model.wv.get_normed_vectors(), axis=1))
    tfword2vec_class(SENTENCES, epochs=3, callbacks=[record], **ARGUMENTS)
    np.testing.assert_allclose(record.results, 1, rtol=1e-5)


def test_an_error_in_a_callback_reaches_the_caller(word2vec_class: type[Any]) -> None:
    def fail(model: Any) -> None:
        raise LookupError("no such probe word")

    with pytest.raises(LookupError, match="no such probe word"):
        word2vec_class(SENTENCES, callbacks=[AtEpochEnd(fail)], **ARGUMENTS)

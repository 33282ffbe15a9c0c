"""`weights`: a sentence counts as many times as its weight says, in every mode."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import MODES, PURE_MODES, SENTENCES, SMALL, assert_equal_models, learnt_arrays, two_topics
from support.mode_cases import EVERY_MODE
from support.stopping import StopError, StopInSecondPass

from gensim_tfw2v import TFWord2Vec

SETTINGS: dict[str, Any] = {**SMALL, "workers": 1, "seed": 3, "compute_dtype": "float32"}
SOME = [0.5, 2, 1, 1.25, 0] * 30
TOPICS = two_topics(400)
NO_CATS = [float(sentence[0].startswith("dog")) for sentence in TOPICS]
EACH_MODE = pytest.mark.parametrize("mode", EVERY_MODE)
EACH_PURE_MODE = pytest.mark.parametrize("mode", [case for case in EVERY_MODE if case.id in PURE_MODES])
SKIP_GRAM, CBOW_TREE = MODES["skipgram-negative"], MODES["cbow-hierarchical"]
Mode = dict[str, int]


def untrained(mode: Mode, **settings: Any) -> TFWord2Vec:
    model = TFWord2Vec(**SETTINGS | mode | settings)
    model.build_vocab(SENTENCES)
    return model


def trained(mode: Mode, weights: Any, **settings: Any) -> TFWord2Vec:
    return TFWord2Vec(SENTENCES, weights=weights, **SETTINGS | mode | settings)


@EACH_PURE_MODE
def test_a_weight_of_two_is_twice_the_learning_rate(mode: Mode) -> None:
    unlimited = {"update_bound": 1e6, "optimizer": "sgd"}
    found = learnt_arrays(trained(mode, [2] * 150, alpha=0.01, min_alpha=0.002, **unlimited))
    expected = learnt_arrays(trained(mode, None, alpha=0.02, min_alpha=0.004, **unlimited))
    usual = learnt_arrays(trained(mode, None, alpha=0.01, min_alpha=0.002, **unlimited))
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-4 * np.abs(values).max(), err_msg=name)
        assert np.abs(values - usual[name]).max() > 0.01 * np.abs(values).max(), name


@EACH_MODE
def test_weights_of_one_change_no_bit(mode: Mode) -> None:
    assert_equal_models(trained(mode, np.ones(150)), trained(mode, None))


@EACH_MODE
def test_a_sentence_of_weight_zero_trains_nothing(mode: Mode) -> None:
    settings = SETTINGS | mode
    before = TFWord2Vec(**settings)
    before.build_vocab(TOPICS)
    model = TFWord2Vec(TOPICS, weights=NO_CATS, **settings)
    for word in model.wv.index_to_key:
        assert np.array_equal(model.wv[word], before.wv[word]) == word.startswith("cat"), word
    assert model.wv.get_vecattr("cat1", "count") == sum(sentence.count("cat1") for sentence in TOPICS)


def test_words_of_sentences_of_weight_zero_are_not_trained_words() -> None:
    model = TFWord2Vec(**SETTINGS)
    model.build_vocab(TOPICS)
    assert model.train(TOPICS, weights=NO_CATS, total_examples=400, epochs=2) == (2 * 200 * 12, 2 * 400 * 12)
    assert model.train(TOPICS, weights=[0] * 400, total_examples=400, epochs=1) == (0, 400 * 12)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_constructor_and_train_take_weights_of_any_kind(workers: int) -> None:
    settings: dict[str, Any] = {"workers": workers, "batch_words": 100}
    found = [trained(SKIP_GRAM, kind(SOME), **settings) for kind in (list, iter, np.array)]
    by_train = untrained(SKIP_GRAM, **settings)
    by_train.train(SENTENCES, weights=(weight for weight in SOME), total_examples=150, epochs=3)
    usual = trained(SKIP_GRAM, None, **settings)
    for model in (*found, by_train):
        assert not np.allclose(model.wv.vectors, usual.wv.vectors, rtol=0, atol=1e-4)
        if workers == 1:
            assert_equal_models(model, found[0])


def test_weights_hold_for_one_training_and_are_not_saved(tmp_path: Path) -> None:
    model = trained(SKIP_GRAM, SOME)
    assert model.weights is None
    other = copy.deepcopy(model)
    model.train(SENTENCES, total_examples=150, epochs=1)
    other.train(SENTENCES, weights=[1] * 150, total_examples=150, epochs=1)
    assert_equal_models(model, other)
    model.save(str(tmp_path / "model"))
    assert TFWord2Vec.load(str(tmp_path / "model")).weights is None


def test_losses_are_means_over_pairs_as_often_as_they_count() -> None:
    def loss(weights: Any) -> float:
        model = TFWord2Vec(TOPICS, weights=weights, compute_loss=True, alpha=0, min_alpha=0, **SETTINGS)
        return model.epoch_losses[0]

    usual = loss(None)
    assert loss([3] * 400) == pytest.approx(usual, rel=1e-6)
    assert loss(NO_CATS) == pytest.approx(usual, rel=1e-2)


def test_validation_sentences_count_once_each() -> None:
    losses = [
        TFWord2Vec(TOPICS, weights=weights, validation=0.2, alpha=0, min_alpha=0, **SETTINGS).validation_losses
        for weights in (None, np.linspace(0, 5, 400))
    ]
    assert losses[0] == losses[1]


@pytest.mark.parametrize("mode", [SKIP_GRAM, CBOW_TREE], ids=["skipgram-negative", "cbow-hierarchical"])
def test_a_training_that_is_resumed_with_its_weights_ends_equally(mode: Mode, tmp_path: Path) -> None:
    settings = {"cache_memory": 0, "batch_words": 100, "checkpoint_every": "200 words"}
    whole, stopped = untrained(mode, **settings), untrained(mode, **settings)
    whole.train(SENTENCES, weights=SOME, total_examples=150, epochs=3)
    stopped.checkpoint_dir = str(tmp_path)
    with pytest.raises(StopError):
        stopped.train(StopInSecondPass(SENTENCES), weights=SOME, total_examples=150, epochs=3)
    with pytest.raises(ValueError, match=r"weights are None, and the training .* began with weights"):
        TFWord2Vec.resume(tmp_path, SENTENCES)
    assert_equal_models(TFWord2Vec.resume(tmp_path, SENTENCES, weights=SOME), whole)


def test_a_training_without_weights_cannot_be_resumed_with_them(tmp_path: Path) -> None:
    model = untrained(SKIP_GRAM, cache_memory=0, checkpoint_dir=str(tmp_path))
    with pytest.raises(StopError):
        model.train(StopInSecondPass(SENTENCES), total_examples=150, epochs=3)
    with pytest.raises(ValueError, match=r"weights are given, and the training .* began without weights"):
        TFWord2Vec.resume(tmp_path, SENTENCES, weights=SOME)


def test_a_corpus_of_another_length_than_its_weights_leaves_the_model_usable() -> None:
    model = untrained(SKIP_GRAM)
    for weights in (SOME[1:], [*SOME, 1]):
        with pytest.raises(ValueError, match=f"weights has {len(weights)} numbers"):
            model.train(SENTENCES, weights=weights, total_words=model.corpus_total_words, epochs=1)
    model.train(SENTENCES, weights=SOME, total_examples=150, epochs=1)
    assert np.isfinite(model.wv.vectors).all()


def test_a_training_that_is_refused_leaves_the_models_weights_to_the_next_one() -> None:
    model = untrained(SKIP_GRAM)
    model.weights = SOME
    with pytest.raises(ValueError, match="epochs"):
        model.train(SENTENCES, total_examples=150)
    model.train(SENTENCES, total_examples=150, epochs=3)
    assert_equal_models(model, trained(SKIP_GRAM, SOME, epochs=3))

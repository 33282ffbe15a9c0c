"""`freeze` leaves input or output vectors as they are, in every mode, and says so where nothing can be learnt."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from support.contract import MODES, SENTENCES, SMALL, assert_equal_models, assert_finite, learnt_arrays
from support.stopping import StopError, StopInSecondPass

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.steps.settings import FREEZABLE

EVERY_MODE = pytest.mark.parametrize("mode", MODES)
EITHER = pytest.mark.parametrize("freeze", FREEZABLE)
OTHERS = [list(reversed(sentence)) for sentence in SENTENCES]


def trained(mode: str, **settings: Any) -> TFWord2Vec:
    """Return a small model after one training."""
    return TFWord2Vec(SENTENCES, **SMALL | MODES[mode] | {"workers": 1} | settings)


def train(model: TFWord2Vec, **arguments: Any) -> TFWord2Vec:
    """Train a model with the other sentences, and return it."""
    model.train(OTHERS, total_examples=len(OTHERS), epochs=model.epochs, **arguments)
    return model


def assert_froze(model: TFWord2Vec, before: dict[str, np.ndarray], freeze: str) -> None:
    """Fail unless the frozen arrays have the bits that they had, and all others differ."""
    assert_finite(model)
    for name, values in learnt_arrays(model).items():
        is_frozen = (name == "vectors") == (freeze == "inputs")
        assert (values.tobytes() == before[name].tobytes()) == is_frozen, name


def copies(model: TFWord2Vec) -> dict[str, np.ndarray]:
    """Return copies of the arrays that training changes."""
    return {name: values.copy() for name, values in learnt_arrays(model).items()}


@EVERY_MODE
@EITHER
def test_frozen_vectors_keep_every_bit_and_the_others_learn(mode: str, freeze: str) -> None:
    model = trained(mode)
    before = copies(model)
    assert_froze(train(model, freeze=freeze), before, freeze)
    assert model.freeze is None


@pytest.mark.parametrize("compute_dtype", ["float32", "bfloat16"])
@EITHER
def test_several_threads_freeze_with_products_of_either_format(compute_dtype: str, freeze: str) -> None:
    model = trained("skipgram-negative", compute_dtype=compute_dtype, workers=3, batch_words=100)
    before = copies(model)
    assert_froze(train(model, freeze=freeze), before, freeze)


def test_the_constructors_value_holds_until_train_gets_another_one() -> None:
    model = trained("cbow-negative", freeze="inputs")
    model.freeze = "outputs"
    before = copies(model)
    assert_froze(train(model), before, "outputs")
    before = copies(model)
    assert_froze(train(model, freeze="inputs"), before, "inputs")
    model.freeze = None
    before = copies(model)
    train(model)
    assert all((values != before[name]).any() for name, values in learnt_arrays(model).items())


def test_a_constructor_that_freezes_inputs_keeps_the_first_random_vectors() -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, freeze="inputs")
    untrained = TFWord2Vec(**SMALL)
    untrained.build_vocab(SENTENCES)
    np.testing.assert_array_equal(model.wv.vectors, untrained.wv.vectors)
    assert model.syn1neg.any()


@EVERY_MODE
def test_gensim_opens_the_model_and_trains_it(mode: str, tmp_path: Path) -> None:
    model = train(trained(mode, freeze=None), freeze="outputs")
    model.freeze = "outputs"
    model.save(str(tmp_path / "model"))
    opened = Word2Vec.load(str(tmp_path / "model"))
    for name, values in learnt_arrays(model).items():
        np.testing.assert_array_equal(learnt_arrays(opened)[name], values, err_msg=name)
    opened.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
    assert (opened.wv.vectors != model.wv.vectors).any()
    assert TFWord2Vec.load(str(tmp_path / "model")).freeze == "outputs"


@pytest.mark.parametrize("mode", ["skipgram-negative", "cbow-hierarchical"])
@pytest.mark.parametrize("given_to", ["constructor", "train"])
def test_a_training_that_is_resumed_freezes_the_same_vectors(mode: str, given_to: str, tmp_path: Path) -> None:
    settings = {"cache_memory": 0, "batch_words": 100, "checkpoint_every": "200 words"}
    whole = trained(mode, **settings)
    stopped = copy.deepcopy(whole)
    arguments: dict[str, Any] = {"freeze": "outputs"}
    if given_to == "constructor":
        whole.freeze = stopped.freeze = arguments.pop("freeze")
    before = copies(whole)
    train(whole, **arguments)
    stopped.checkpoint_dir = str(tmp_path)
    with pytest.raises(StopError):
        stopped.train(StopInSecondPass(OTHERS), total_examples=len(OTHERS), epochs=stopped.epochs, **arguments)
    resumed = TFWord2Vec.resume(tmp_path, OTHERS)
    assert_froze(resumed, before, "outputs")
    assert_equal_models(resumed, whole)


def test_a_training_cannot_be_resumed_with_other_frozen_vectors(tmp_path: Path) -> None:
    model = trained("cbow-negative", checkpoint_every="200 words", cache_memory=0, batch_words=100)
    model.checkpoint_dir = str(tmp_path)
    with pytest.raises(StopError):
        model.train(StopInSecondPass(OTHERS), total_examples=len(OTHERS), epochs=model.epochs, freeze="outputs")
    for freeze in (None, "inputs"):
        with pytest.raises(ValueError, match=f"freeze is {freeze!r}, and the training .* began with 'outputs'"):
            train(model, freeze=freeze, resume=True)


@pytest.mark.parametrize("mode", ["skipgram-negative", "cbow-hierarchical", "cbow-both"])
def test_outputs_that_are_all_zeros_cannot_be_frozen(mode: str) -> None:
    with pytest.raises(ValueError, match="freeze='outputs' leaves nothing to learn"):
        trained(mode, freeze="outputs")


@pytest.mark.parametrize("freeze", ["nodes", "", True, 1])
def test_another_value_is_refused(freeze: Any) -> None:
    with pytest.raises(ValueError, match=f"freeze must be 'inputs' or 'outputs', got {freeze!r}"):
        TFWord2Vec(freeze=freeze)
    with pytest.raises(ValueError, match=f"freeze must be 'inputs' or 'outputs', got {freeze!r}"):
        train(trained("cbow-negative"), freeze=freeze)

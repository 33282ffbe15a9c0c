"""Arguments, their defaults and their order: what gensim takes, our class takes."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest
from gensim.models import Word2Vec
from support.contract import SENTENCES

METHODS = [
    "__init__",
    "train",
    "build_vocab",
    "build_vocab_from_freq",
    "scan_vocab",
    "prepare_vocab",
    "score",
]


def own_parameters(subclass: type[Any], method: str) -> list[inspect.Parameter]:
    """Return the parameters that a subclass's method has beyond gensim's."""
    gensims = inspect.signature(getattr(Word2Vec, method)).parameters
    ours = inspect.signature(getattr(subclass, method)).parameters
    return [parameter for name, parameter in ours.items() if name not in gensims]


def test_our_class_is_a_subclass_of_gensims(tfword2vec_class: type[Any]) -> None:
    assert issubclass(tfword2vec_class, Word2Vec)


@pytest.mark.parametrize("method", METHODS)
def test_every_gensim_argument_keeps_its_name_place_and_default(tfword2vec_class: type[Any], method: str) -> None:
    gensims = inspect.signature(getattr(Word2Vec, method)).parameters
    ours = inspect.signature(getattr(tfword2vec_class, method)).parameters
    positional = [name for name, parameter in ours.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    expected = [name for name, parameter in gensims.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    assert positional == expected
    assert {name: ours[name].default for name in expected} == {name: gensims[name].default for name in expected}


@pytest.mark.parametrize("method", METHODS)
def test_own_arguments_are_keyword_only_and_optional(tfword2vec_class: type[Any], method: str) -> None:
    for parameter in own_parameters(tfword2vec_class, method):
        assert parameter.kind is parameter.KEYWORD_ONLY, parameter
        assert parameter.default is not parameter.empty, parameter


def test_the_documented_own_arguments_exist(tfword2vec_class: type[Any]) -> None:
    own = {parameter.name: parameter.default for parameter in own_parameters(tfword2vec_class, "__init__")}
    documented = {"progress": None, "cache_memory": 2**28, "cache_disk": 0, "cache_dir": None}
    assert {name: own[name] for name in documented} == documented


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vector_size", 100),
        ("window", 5),
        ("alpha", 0.025),
        ("min_alpha", 0.0001),
        ("workers", 3),
        ("epochs", 5),
        ("negative", 5),
        ("min_alpha_yet_reached", 0.025),
        ("train_count", 0),
        ("total_train_time", 0),
        ("running_training_loss", 0),
        ("corpus_count", 0),
        ("corpus_total_words", 0),
        ("seed", 1),
        ("comment", None),
    ],
)
def test_an_untrained_model_has_gensims_attributes(word2vec_class: type[Any], name: str, value: Any) -> None:
    assert getattr(word2vec_class(), name) == value


def test_positional_arguments_mean_the_same(word2vec_class: type[Any]) -> None:
    model = word2vec_class(SENTENCES, None, 7, 0.05, 3, 2)
    assert (model.vector_size, model.alpha, model.window, model.min_count) == (7, 0.05, 3, 2)
    assert model.wv.vectors.shape == (11, 7)


def test_an_unknown_argument_is_refused_by_name(word2vec_class: type[Any]) -> None:
    with pytest.raises(TypeError, match="size"):
        word2vec_class(size=100)


def test_the_comment_is_kept(word2vec_class: type[Any]) -> None:
    model = word2vec_class(SENTENCES, vector_size=4, comment="first try")
    assert pickle.loads(pickle.dumps(model)).comment == "first try"


def test_the_description_names_vocabulary_size_and_alpha(word2vec_class: type[Any]) -> None:
    model = word2vec_class(SENTENCES, vector_size=4)
    assert str(model) == f"{word2vec_class.__name__}<vocab=11, vector_size=4, alpha=0.025>"

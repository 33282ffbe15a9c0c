"""Groups of arguments: fields of the table's arguments, passed as one value to the constructor alone."""

from __future__ import annotations

import inspect
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.doc2vec import TaggedDocument

import gensim_tfw2v
from gensim_tfw2v import Cache, Checkpoints, Cluster, TFDoc2Vec, TFFastText, TFWord2Vec, Validation
from gensim_tfw2v.model.argument_groups import MEMBERS, field_of
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS

ROOT = Path(__file__).parents[2]
SENTENCES = [["a", "b", "c"], ["b", "c", "d"]] * 20
DOCUMENTS = [TaggedDocument(words, [number]) for number, words in enumerate(SENTENCES)]
GROUPS = {"checkpoints": Checkpoints, "validation": Validation, "cache": Cache, "cluster": Cluster}
SMALL = {"min_count": 1, "vector_size": 4, "workers": 1}


def values_of(model: Any) -> dict[str, Any]:
    """Return the model's values of all own arguments."""
    return {argument.name: getattr(model, argument.name) for argument in OWN_ARGUMENTS}


@pytest.mark.parametrize("taken_as", GROUPS)
def test_a_group_has_a_field_for_each_of_its_arguments_with_the_same_default(taken_as: str) -> None:
    fields = inspect.signature(GROUPS[taken_as]).parameters
    assert {name: field.default for name, field in fields.items()} == {
        field_of(argument.name): argument.default for argument in MEMBERS[taken_as]
    }
    first, *others = fields.values()
    assert first.kind is first.POSITIONAL_OR_KEYWORD
    assert {field.kind for field in others} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize(
    ("groups", "flat"),
    [
        (
            {"checkpoints": Checkpoints("folder", every="10min", keep=5)},
            {"checkpoint_dir": "folder", "checkpoint_every": "10min", "keep_checkpoints": 5},
        ),
        (
            {"validation": Validation(0.05, metric="ndcg@10", every="5e6 words", early_stopping=3)},
            {
                "validation": 0.05,
                "validation_metric": "ndcg@10",
                "validation_every": "5e6 words",
                "early_stopping": 3,
            },
        ),
        (
            {"cache": Cache(2**20, disk=2**30, dir="folder")},
            {"cache_memory": 2**20, "cache_disk": 2**30, "cache_dir": "folder"},
        ),
        (
            {"cluster": Cluster({"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}, timeout=9.0, dtype="float32")},
            {
                "cluster": {"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]},
                "cluster_timeout": 9.0,
                "cluster_dtype": "float32",
            },
        ),
    ],
    ids=lambda given: "-".join(given),
)
def test_a_model_keeps_the_fields_of_a_group_as_its_arguments(
    groups: dict[str, Any], flat: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for cls in (TFWord2Vec, TFFastText):
        assert values_of(cls(**groups)) == values_of(cls(**flat))


@pytest.mark.parametrize("cls", [TFWord2Vec, TFFastText, TFDoc2Vec])
def test_vectors_and_checkpoints_are_those_of_the_arguments_themselves(cls: type[Any], tmp_path: Path) -> None:
    corpus = DOCUMENTS if cls is TFDoc2Vec else SENTENCES
    grouped = cls(corpus, checkpoints=Checkpoints(tmp_path / "one", keep=1), cache=Cache(0), **SMALL)
    flat = cls(corpus, checkpoint_dir=tmp_path / "other", keep_checkpoints=1, cache_memory=0, **SMALL)
    np.testing.assert_array_equal(grouped.wv.vectors, flat.wv.vectors)
    assert len(list((tmp_path / "one").glob("checkpoint-*"))) == len(list((tmp_path / "other").glob("checkpoint-*")))
    np.testing.assert_array_equal(cls.resume(tmp_path / "one", corpus).wv.vectors, flat.wv.vectors)


@pytest.mark.parametrize("taken_as", GROUPS)
def test_a_group_and_one_of_its_arguments_are_an_error_that_names_both(taken_as: str) -> None:
    argument = MEMBERS[taken_as][-1]
    value = 7 if argument.default in (None, 3) else not argument.default
    with pytest.raises(TypeError) as error:
        TFWord2Vec(**{taken_as: GROUPS[taken_as](), argument.name: value})
    assert f"{argument.name}={value!r} and {taken_as}={taken_as.capitalize()}() are both given" in str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"checkpoints": "folder"}, "checkpoints must be a Checkpoints.*got 'folder'"),
        ({"cache": Checkpoints("folder")}, r"cache must be a Cache.*got Checkpoints\(dir='folder'\)"),
        ({"cluster": Validation(0.1)}, r"cluster must be .*got Validation\(validation=0.1\)"),
        ({"checkpoints": Checkpoints("folder", every=-1)}, "checkpoint_every must be .*got -1"),
    ],
)
def test_a_wrong_group_or_field_is_an_error_that_names_it(given: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        TFWord2Vec(**given)


def test_documents_are_checked_with_the_fields_of_groups() -> None:
    with pytest.raises(ValueError, match=r"validation_metric='hits@10' does not go with documents"):
        TFDoc2Vec(validation=Validation(0.1, metric="hits@10"))


def test_other_methods_and_attributes_refuse_groups_by_name(tmp_path: Path) -> None:
    model = TFWord2Vec(**SMALL)
    model.build_vocab(SENTENCES)
    with pytest.raises(TypeError, match=r"validation must be a share .*, got Validation\(validation=0.05\)"):
        model.train(SENTENCES, total_examples=40, epochs=1, validation=Validation(0.05))
    with pytest.raises(TypeError, match=r"resume\(\) takes no argument 'cache'.*may change: .*cache_memory"):
        TFWord2Vec.resume(tmp_path, SENTENCES, cache=Cache(0))
    model.checkpoints = Checkpoints(tmp_path)
    with pytest.raises(TypeError, match="checkpoints must be a Checkpoints, which only the constructor takes"):
        model.train(SENTENCES, total_examples=40, epochs=1)


def test_models_and_groups_are_pickled_and_a_models_arguments_make_another_one(tmp_path: Path) -> None:
    groups = [Checkpoints(tmp_path, every=60.0), Validation(0.1), Cache(5), Cluster({"ps": [], "worker": []})]
    assert pickle.loads(pickle.dumps(groups)) == groups
    model = TFWord2Vec(validation=Validation(0.1, every=5e6), cache=Cache(5), **SMALL)
    again = TFWord2Vec(**SMALL, **values_of(model))
    assert values_of(again) == values_of(model)
    assert (model.validation_every, model.cache_memory) == (5e6, 5)
    assert pickle.loads(pickle.dumps(model)).cache_memory == 5


def test_the_page_lists_the_groups_and_their_fields() -> None:
    page = (ROOT / "docs" / "reference" / "arguments.md").read_text(encoding="utf8")
    shown = re.findall(r"^\| `(\w+)=(\w+)\(...\)` \| (.*) \|$", page, re.MULTILINE)
    assert shown == [
        (taken_as, taken_as.capitalize(), ", ".join(f"`{field_of(argument.name)}`" for argument in members))
        for taken_as, members in MEMBERS.items()
    ]
    assert {name.capitalize() for name in MEMBERS} <= set(gensim_tfw2v.__all__)

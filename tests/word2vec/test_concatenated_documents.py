"""TFDoc2Vec concatenates the vectors of documents and words (`dm_concat`) as gensim's Doc2Vec does."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Doc2Vec
from gensim.models.doc2vec import TaggedDocument
from support.chosen_step import training_with
from support.documents import SMALL, TOPICS, arrays_of, found_again, lee, similarities

from gensim_tfw2v import TFDoc2Vec
from gensim_tfw2v.steps.kernel import PLAIN

CONCATENATED: dict[str, Any] = SMALL | {"dm_concat": 1, "window": 2}
TAGGED = [TaggedDocument(each.words, [number, f"topic{number % 3}"]) for number, each in enumerate(TOPICS)]


def untrained(cls: Any = TFDoc2Vec, documents: Any = TOPICS, **settings: Any) -> Any:
    model = cls(**CONCATENATED | settings)
    model.build_vocab(documents)
    return model


# -- beside gensim ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tags", [1, 2])
def test_tokens_one_by_one_move_every_vector_as_in_gensim(tags: int) -> None:
    """Up to gensim's sigmoid, which is from a table, too low by up to 0.003."""
    documents = [TaggedDocument(each.words, each.tags[:tags]) for each in TAGGED[:3]]
    settings = {"hs": 1, "negative": 0, "sample": 0, "dm_tag_count": tags, "alpha": 0.05, "optimizer": "sgd"}
    gensims = Doc2Vec(**CONCATENATED | {name: settings[name] for name in settings if name != "optimizer"})
    gensims.build_vocab(documents)
    rng = np.random.default_rng(1)
    for vectors in arrays_of(gensims).values():
        vectors[:] = rng.normal(0, 0.3, vectors.shape)
    before = copy.deepcopy(arrays_of(gensims))
    ours = untrained(documents=documents, **settings, run_tokens=1, schedule="linear")
    for name, vectors in arrays_of(ours).items():
        vectors[:] = before[name]
    for model in (gensims, ours):
        model.train(documents, total_examples=3, epochs=1, start_alpha=0.05, end_alpha=0.05)
    for name, vectors in arrays_of(ours).items():
        expected = arrays_of(gensims)[name] - before[name]
        largest = np.abs(expected).max()
        assert largest > 0.01
        np.testing.assert_allclose(vectors - before[name], expected, atol=0.04 * largest, err_msg=name)


def test_outputs_are_as_long_as_concatenations_and_the_null_word_is_gensims() -> None:
    for cls in (Doc2Vec, TFDoc2Vec):
        model = untrained(cls, hs=1, dm_tag_count=3)
        assert model.syn1neg.shape[1] == model.syn1.shape[1] == model.layer1_size == 7 * 20
        assert model.wv.index_to_key[-1] == "\0"


@pytest.mark.slow
@pytest.mark.parametrize("tree", [False, True])
def test_similarities_of_lee_documents_are_as_in_gensim(tree: bool) -> None:
    documents, of_tree = lee(), {"hs": 1, "negative": 0} if tree else {}
    settings = CONCATENATED | {"vector_size": 30, "min_count": 2, "epochs": 20, "workers": 2} | of_tree
    gensims = similarities(Doc2Vec(documents, **settings))
    others = similarities(Doc2Vec(documents, **settings | {"seed": 4}))
    model = TFDoc2Vec(documents, **settings)
    assert model.optimizer == "sgd"
    assert np.corrcoef(gensims, similarities(model))[0, 1] > np.corrcoef(gensims, others)[0, 1] - 0.05
    assert found_again(model, np.array([model.infer_vector(document.words) for document in documents])) > 0.9
    assert found_again(model, model.infer_corpus(documents)) > 0.9


def test_documents_with_another_number_of_tags_are_left_out() -> None:
    documents = [TaggedDocument(each.words, each.tags[: 1 + number % 2]) for number, each in enumerate(TAGGED)]
    for cls in (Doc2Vec, TFDoc2Vec):
        model = untrained(cls, documents)
        before = model.dv.vectors.copy()
        model.train(documents, total_examples=60, epochs=2)
        is_same = np.all(model.dv.vectors == before, axis=1)
        assert is_same[[model.dv.get_index(number) for number in range(60)]].tolist() == [
            number % 2 == 1 for number in range(60)
        ]


def test_a_distributed_bag_of_words_is_not_concatenated() -> None:
    model = TFDoc2Vec(TOPICS, **CONCATENATED, dm=0)
    assert model.syn1neg.shape[1] == 20
    assert found_again(model, model.dv.vectors) == 1


def test_a_document_of_one_word_is_trained_with_null_words() -> None:
    documents = [*TOPICS, TaggedDocument(["a1"], ["short"])]
    model = untrained(documents=documents, hs=1, negative=0, sample=0)
    model.train(documents, total_examples=61, epochs=1)
    before = copy.deepcopy(arrays_of(model))
    model.train([documents[-1]], total_examples=1, epochs=1)
    moved = {name: np.flatnonzero(np.any(values != before[name], axis=1)) for name, values in arrays_of(model).items()}
    assert moved["wv"].tolist() == [len(model.wv) - 1] == [model.wv.get_index("\0")]
    assert moved["dv"].tolist() == [model.dv.get_index("short")]


def test_words_stay_if_they_are_locked_or_frozen() -> None:
    model = TFDoc2Vec(TOPICS, **CONCATENATED)
    words, documents = model.wv.vectors.copy(), model.dv.vectors.copy()
    model.train(TOPICS, total_examples=60, epochs=1, freeze="inputs")
    np.testing.assert_array_equal(model.wv.vectors, words)
    assert not np.any(np.all(model.dv.vectors == documents, axis=1))
    model.wv.vectors_lockf = np.zeros(1, np.float32)
    model.train(TOPICS, total_examples=60, epochs=1)
    np.testing.assert_array_equal(model.wv.vectors, words)


# -- files ------------------------------------------------------------------------------------------------------------


def test_models_of_several_tags_go_to_gensim_and_back(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    TFDoc2Vec(TAGGED, **CONCATENATED, dm_tag_count=2).save(path)
    gensims = Doc2Vec.load(path)
    gensims.train(TAGGED, total_examples=60, epochs=1)
    gensims.save(path)
    ours = TFDoc2Vec.load(path)
    before = copy.deepcopy(arrays_of(ours))
    ours.train(TAGGED, total_examples=60, epochs=1)
    assert not any(np.array_equal(values, before[name]) for name, values in arrays_of(ours).items())


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
def test_a_checkpoint_is_resumed_with_the_same_parts_alone(optimizer: str, tmp_path: Path) -> None:
    settings = {"checkpoint_dir": tmp_path, "optimizer": optimizer, "documents": TAGGED, "dm_tag_count": 2}
    model = untrained(**settings)
    model.train(TAGGED, total_examples=60, epochs=2)
    longer = TFDoc2Vec.resume(tmp_path, TAGGED, epochs=3)
    assert longer.syn1neg.shape == model.syn1neg.shape
    assert not np.array_equal(longer.syn1neg, model.syn1neg)
    for name, value in (("dm_tag_count", 1), ("dm_concat", 0)):
        other = untrained(**settings | {name: value})
        with pytest.raises(ValueError, match=rf"^{name} is {value}, and the training in .* began with"):
            other.train(TAGGED, total_examples=60, epochs=3, resume=True)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cluster", "local"),
        ("vectors_on_servers", True),
        ("distribution", "averaging"),
        ("reproducible", True),
        ("validation", 0.1),
        ("early_stopping", 2),
    ],
)
def test_what_does_not_go_with_concatenated_contexts_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name}=.* does not go with dm_concat=1: "):
        TFDoc2Vec(TOPICS, **CONCATENATED, **{name: value})
    if name in ("cluster", "validation"):
        with pytest.raises(ValueError, match=rf"^{name}=.* does not go with dm_concat=1: "):
            untrained().train(TOPICS, total_examples=60, epochs=1, **{name: value})


def test_a_number_of_tags_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="dm_tag_count must be at least 1 with dm_concat=1, got 0"):
        TFDoc2Vec(TOPICS, **CONCATENATED, dm_tag_count=0)


def test_the_plain_step_refuses_concatenated_contexts() -> None:
    refused = "documents with dm_concat=1 are trained by the package's compiled operations"
    with training_with(PLAIN), pytest.raises(RuntimeError, match=refused):
        TFDoc2Vec(TOPICS, **CONCATENATED)


def test_documents_of_several_tags_are_not_inferred() -> None:
    model = TFDoc2Vec(TAGGED, **CONCATENATED, dm_tag_count=2)
    with pytest.raises(ValueError, match=r"infer_corpus\(\) infers one vector a document, and dm_tag_count=2"):
        model.infer_corpus([["a1"]])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("window", 3, r"syn1neg must have shape \(91, 140\) to train, got \(91, 100\)"),
        ("dm_concat", 0, r"syn1neg must have shape \(91, 20\) to train, got \(91, 100\)"),
    ],
)
def test_outputs_of_other_parts_are_refused(name: str, value: int, message: str) -> None:
    model = TFDoc2Vec(TOPICS, **CONCATENATED)
    setattr(model, name, value)
    with pytest.raises(RuntimeError, match=message):
        model.train(TOPICS, total_examples=60, epochs=1)


def test_a_vocabulary_without_the_null_word_is_refused() -> None:
    model = untrained()
    del model.wv.key_to_index["\0"]
    with pytest.raises(RuntimeError, match=r"the vocabulary has no null word '\\x00' to train with dm_concat=1"):
        model.train(TOPICS, total_examples=60, epochs=1)

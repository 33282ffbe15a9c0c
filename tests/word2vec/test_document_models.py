"""Models of TFDoc2Vec: files, checkpoints, vectors of new documents, and arguments in gensim's order."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Doc2Vec
from gensim.models.doc2vec import TaggedDocument
from support.documents import EACH_MODE, SMALL, TOPICS, arrays_of, topics, unit
from support.stopping import StopError

from gensim_tfw2v import TFDoc2Vec, TFFastText, TFWord2Vec

# -- files ------------------------------------------------------------------------------------------------------------


@EACH_MODE
def test_models_go_to_gensim_and_come_from_there(mode: dict[str, Any], tmp_path: Path) -> None:
    settings = SMALL | mode
    path = str(tmp_path / "model")
    TFDoc2Vec(TOPICS, **settings).save(path)
    gensims = Doc2Vec.load(path)
    assert type(gensims) is Doc2Vec
    assert gensims.infer_vector(TOPICS[0].words).shape == (20,)
    gensims.train(TOPICS, total_examples=60, epochs=1)
    gensims.save(path)
    ours = TFDoc2Vec.load(path)
    assert type(ours) is TFDoc2Vec
    np.testing.assert_array_equal(ours.dv.vectors, gensims.dv.vectors)
    ours.train(TOPICS, total_examples=60, epochs=1)
    assert not np.array_equal(ours.dv.vectors, gensims.dv.vectors)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.dv.vectors, ours.dv.vectors)


def test_a_model_of_another_class_is_not_loaded(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    TFWord2Vec([each.words for each in TOPICS], **SMALL).save(path)
    with pytest.raises(AttributeError, match=r"has a Word2Vec.* can't be loaded by TFDoc2Vec; open it with TFWord2Vec"):
        TFDoc2Vec.load(path)


class StopsInThirdEpoch:
    """Documents that stop a training in its third epoch; the pass before the first one counts words."""

    def __init__(self) -> None:
        self._passes = 0

    def __iter__(self) -> Iterator[TaggedDocument]:
        self._passes += 1
        for number, each in enumerate(TAGGED):
            if self._passes == 4 and number == 20:
                raise StopError
            yield each


TAGGED = [TaggedDocument(each.words, [number, f"topic{number % 3}"]) for number, each in enumerate(TOPICS)]


@EACH_MODE
@pytest.mark.parametrize("has_model", [False, True])
def test_an_interrupted_training_is_resumed(mode: dict[str, Any], has_model: bool, tmp_path: Path) -> None:
    settings: dict[str, Any] = SMALL | mode | {"batch_words": 200, "cache_memory": 0, "dm_tag_count": 2}
    kept = {**settings, "checkpoint_dir": tmp_path, "checkpoint_every": "300 words"}
    with pytest.raises(StopError):
        TFDoc2Vec(StopsInThirdEpoch(), **kept)
    if has_model:
        model = TFDoc2Vec(**kept)
        model.build_vocab(TAGGED)
        model.train(TAGGED, total_examples=60, epochs=5, resume=True)
    else:
        model = TFDoc2Vec.resume(tmp_path, TAGGED)
    whole = TFDoc2Vec(TAGGED, **settings)
    assert model.dv.key_to_index == whole.dv.key_to_index and model.dv.index_to_key == whole.dv.index_to_key
    assert model.dv.get_vecattr("topic1", "doc_count") == 20
    for name, values in arrays_of(whole).items():
        np.testing.assert_array_equal(values, arrays_of(model)[name], err_msg=name)


def test_a_training_is_not_resumed_with_other_tags(tmp_path: Path) -> None:
    settings: dict[str, Any] = SMALL | {"checkpoint_dir": tmp_path}
    TFDoc2Vec(TAGGED, **settings)
    model = TFDoc2Vec(**settings | {"epochs": 7})
    model.build_vocab([TaggedDocument(each.words, [f"n{each.tags[0]}"]) for each in TAGGED])
    with pytest.raises(ValueError, match="their counts or the tags of documents"):
        model.train(TAGGED, total_examples=60, epochs=7, resume=True)


# -- inference --------------------------------------------------------------------------------------------------------


@EACH_MODE
def test_inferred_vectors_are_close_to_gensims_and_the_same_again(mode: dict[str, Any], tmp_path: Path) -> None:
    model = TFDoc2Vec(TOPICS, **SMALL | mode | {"epochs": 40, "workers": 2})
    before = copy.deepcopy(arrays_of(model))
    words = [each.words for each in topics(90)[60:]] + [["a1", "unknown"], []]
    found = model.infer_corpus(words)
    gensims = np.array([model.infer_vector(each) for each in words])
    assert found.shape == (32, 20) and found.dtype == np.float32
    assert np.mean(np.sum(unit(found) * unit(gensims), axis=1)) > 0.9
    path = tmp_path / "documents"
    path.write_text("".join(" ".join(each) + "\n" for each in words), encoding="utf8")
    for again in (
        model.infer_corpus([TaggedDocument(each, ["any"]) for each in words]),
        model.infer_corpus(iter(words)),
        model.infer_corpus(corpus_file=str(path)),
    ):
        np.testing.assert_array_equal(again, found)
    assert not np.array_equal(model.infer_corpus(words, epochs=3), found)
    assert not np.array_equal(model.infer_corpus(words, alpha=0.01, min_alpha=0.005), found)
    assert all(np.array_equal(values, before[array]) for array, values in arrays_of(model).items())


def test_no_documents_have_no_vectors() -> None:
    assert TFDoc2Vec(TOPICS, **SMALL).infer_corpus([]).shape == (0, 20)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, r"infer_corpus\(\) needs either documents or a corpus_file"),
        ({"documents": [], "corpus_file": "x"}, TypeError, r"infer_corpus\(\) needs either documents or a corpus_file"),
        (
            {"documents": "some words"},
            TypeError,
            "documents must be an iterable of lists of words or of TaggedDocument",
        ),
        ({"documents": [["a1"], "a2 a3"]}, TypeError, "document number 1 has the words 'a2 a3' of type str"),
        ({"documents": [["a1"]], "epochs": -1}, ValueError, "epochs must be"),
        ({"documents": [["a1"]], "alpha": -1}, ValueError, "alpha must be"),
    ],
)
def test_wrong_documents_to_infer_are_named(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    model = TFDoc2Vec(TOPICS, **SMALL)
    with pytest.raises(error, match=message):
        model.infer_corpus(**arguments)


def test_an_untrained_model_infers_nothing() -> None:
    with pytest.raises(RuntimeError, match=r"syn1neg must have shape .* build the vocabulary"):
        TFDoc2Vec(**SMALL).infer_corpus([["a1"]])


# -- signatures -------------------------------------------------------------------------------------------------------


def test_the_constructor_has_gensims_arguments_in_gensims_order() -> None:
    ours = list(inspect.signature(TFDoc2Vec.__init__).parameters.values())
    gensims = [each for each in inspect.signature(Doc2Vec.__init__).parameters.values() if each.name != "kwargs"]
    assert [(each.name, each.default) for each in ours[: len(gensims)]] == [
        (each.name, each.default) for each in gensims
    ]
    others = {each.name for each in ours[len(gensims) :]}
    assert {"alpha", "hs", "negative", "sample", "weights", "optimizer", "logdir"} < others
    assert not {"sg", "null_word", "sentences"} & others
    for wrong in ("sg", "nonsense"):
        with pytest.raises(TypeError, match=wrong):
            TFDoc2Vec(**{wrong: 1})


def test_methods_have_gensims_arguments() -> None:
    for name in ("train", "build_vocab", "scan_vocab", "infer_vector"):
        ours = list(inspect.signature(getattr(TFDoc2Vec, name)).parameters)
        gensims = [each for each in inspect.signature(getattr(Doc2Vec, name)).parameters if each != "kwargs"]
        assert [each for each in ours if each in gensims] == gensims, name


def test_a_training_of_documents_is_resumed_by_their_class_alone(tmp_path: Path) -> None:
    TFDoc2Vec(TAGGED, **SMALL, checkpoint_dir=tmp_path)
    for cls in (TFWord2Vec, TFFastText):
        with pytest.raises(
            ValueError, match=f"is of a TFDoc2Vec, and cannot be resumed by a {cls.__name__}; use TFDoc"
        ):
            cls.resume(tmp_path, TAGGED)

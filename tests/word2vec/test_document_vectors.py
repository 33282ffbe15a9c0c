"""TFDoc2Vec trains vectors of documents that are as useful as gensim's, stay with their tags, and obey the settings."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim import utils
from gensim.models import Doc2Vec
from gensim.models.callbacks import CallbackAny2Vec
from gensim.models.doc2vec import TaggedDocument
from support.documents import EACH_MODE, MODES, SMALL, SUMMED, TOPICS, arrays_of, found_again, lee, similarities, unit

import gensim_tfw2v
from gensim_tfw2v import TFDoc2Vec


@EACH_MODE
def test_documents_of_one_topic_are_alike(mode: dict[str, Any]) -> None:
    model = TFDoc2Vec(TOPICS, **SMALL | mode | {"epochs": 40, "workers": 2})
    near = unit(model.dv.vectors) @ unit(model.dv.vectors).T
    same = np.arange(60)[:, None] % 3 == np.arange(60) % 3
    np.fill_diagonal(same, False)
    assert near[same].mean() > near[~same & ~np.eye(60, dtype=bool)].mean() + 0.1


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(MODES["dm-hierarchical"], marks=pytest.mark.slow),
        MODES["dbow"],
        pytest.param(MODES["dbow-hierarchical"], marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_similarities_of_lee_documents_are_as_in_gensim(mode: dict[str, Any]) -> None:
    documents = lee()
    settings = {**SMALL, "vector_size": 50, "min_count": 2, "epochs": 20, "workers": 2} | mode
    gensims = similarities(Doc2Vec(documents, **settings))
    others = similarities(Doc2Vec(documents, **settings | {"seed": 4}))
    ours = similarities(TFDoc2Vec(documents, **settings, optimizer="sgd"))
    among_gensims = np.corrcoef(gensims, others)[0, 1]
    assert np.corrcoef(gensims, ours)[0, 1] > among_gensims - 0.05


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(mode, id=name, marks=[] if name in ("dm", "dbow", "dm-concatenated") else pytest.mark.slow)
        for name, mode in MODES.items()
    ],
)
def test_lee_documents_are_found_again_from_their_words(mode: dict[str, Any]) -> None:
    documents = lee()
    settings = {**SMALL, "vector_size": 50, "min_count": 2, "epochs": 20, "workers": 2} | mode
    model = TFDoc2Vec(documents, **settings)
    assert found_again(model, np.array([model.infer_vector(document.words) for document in documents[:100]])) > 0.9
    assert found_again(model, model.infer_corpus(documents)) > 0.9


@EACH_MODE
def test_one_worker_and_one_seed_give_equal_vectors(mode: dict[str, Any]) -> None:
    one, other, third = (TFDoc2Vec(TOPICS, **SMALL | mode | {"seed": seed}) for seed in (3, 3, 4))
    for name, values in arrays_of(one).items():
        np.testing.assert_array_equal(values, arrays_of(other)[name], err_msg=name)
    assert not np.array_equal(one.dv.vectors, third.dv.vectors)


@pytest.mark.slow
@pytest.mark.parametrize("mode", SUMMED.values(), ids=SUMMED)
def test_a_reproducible_training_gives_equal_vectors_with_any_number_of_workers(
    mode: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gensim_tfw2v.placement.local.calls.usable_cores", lambda: 8)
    settings: dict[str, Any] = SMALL | mode | {"reproducible": True, "batch_words": 50}
    one, other = (TFDoc2Vec(TOPICS, **settings | {"workers": workers}) for workers in (1, 3))
    for name, values in arrays_of(one).items():
        np.testing.assert_array_equal(values, arrays_of(other)[name], err_msg=name)
    before = TFDoc2Vec(**settings)
    before.build_vocab(TOPICS)
    assert np.all(np.any(one.dv.vectors != before.dv.vectors, axis=1))


def test_the_mean_of_contexts_may_be_their_sum_by_either_name() -> None:
    by_dm, by_cbow, usual = (TFDoc2Vec(TOPICS, **SMALL, **each) for each in ({"dm_mean": 0}, {"cbow_mean": 0}, {}))
    np.testing.assert_array_equal(by_dm.dv.vectors, by_cbow.dv.vectors)
    assert not np.allclose(by_dm.dv.vectors, usual.dv.vectors, atol=1e-3)


def test_a_distributed_bag_of_words_leaves_words_as_they_are_unless_they_are_trained_beside() -> None:
    for dbow_words in (0, 1):
        before = TFDoc2Vec(**SMALL, dm=0, dbow_words=dbow_words)
        before.build_vocab(TOPICS)
        model = TFDoc2Vec(TOPICS, **SMALL, dm=0, dbow_words=dbow_words)
        assert np.array_equal(model.wv.vectors, before.wv.vectors) == (not dbow_words)


# -- tags -------------------------------------------------------------------------------------------------------------


# Concatenated tags have parts of their own, so that vectors of the first and the second one are not alike.
@pytest.mark.parametrize("mode", SUMMED.values(), ids=SUMMED)
def test_tags_may_be_of_both_types_and_several(mode: dict[str, Any]) -> None:
    documents = [TaggedDocument(each.words, [tag, "ABC"[tag % 3]]) for tag, each in enumerate(TOPICS)]
    model = TFDoc2Vec(documents, **SMALL | mode | {"epochs": 40})
    assert len(model.dv) == 63
    for topic in range(3):
        of_topic = np.array([model.dv[tag] for tag in range(60) if tag % 3 == topic]).mean(0)
        nearest = model.dv.similar_by_vector(of_topic, topn=63)
        assert next(tag for tag, _ in nearest if isinstance(tag, str)) == "ABC"[topic]


def test_tags_without_a_document_and_documents_without_a_tag_stay_as_they_are() -> None:
    documents = [TaggedDocument(each.words, [] if tag < 5 else [tag + 10]) for tag, each in enumerate(TOPICS)]
    before = TFDoc2Vec(**SMALL)
    before.build_vocab(documents)
    model = TFDoc2Vec(documents, **SMALL)
    is_same = np.all(model.dv.vectors == before.dv.vectors, axis=1)
    assert is_same.tolist() == [tag < 15 for tag in range(70)]


def test_tags_that_the_vocabulary_lacks_train_nothing() -> None:
    model = TFDoc2Vec(**SMALL, dm=0)
    model.build_vocab(TOPICS)
    before = model.dv.vectors.copy()
    model.train([TaggedDocument(each.words, ["other"]) for each in TOPICS], total_examples=60, epochs=1)
    np.testing.assert_array_equal(model.dv.vectors, before)


class Shuffled:
    """Documents in another order in every pass."""

    def __init__(self, documents: list[TaggedDocument]) -> None:
        self._documents = documents
        self._passes = 0

    def __iter__(self) -> Iterator[TaggedDocument]:
        self._passes += 1
        order = np.random.default_rng(self._passes).permutation(len(self._documents))
        return (self._documents[number] for number in order)


def test_documents_in_another_order_in_each_epoch_keep_their_vectors() -> None:
    documents = lee()
    model = TFDoc2Vec(Shuffled(documents), dm=0, **SMALL | {"epochs": 20, "min_count": 2})
    assert found_again(model, model.infer_corpus(documents)) > 0.9


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_line_of_a_file_is_a_document_with_its_number_as_tag(tmp_path: Path, ending: str) -> None:
    path = str(tmp_path / f"topics.txt{ending}")
    with utils.open(path, "wb") as file:
        for number, each in enumerate(TOPICS):
            file.write((" ".join(each.words) + "\n").encode() if number != 7 else b"\n")
    settings = SMALL | {"schedule": "linear"}
    from_file = TFDoc2Vec(corpus_file=path, **settings)
    documents = [TaggedDocument(each.words if number != 7 else [], [number]) for number, each in enumerate(TOPICS)]
    np.testing.assert_array_equal(from_file.dv.vectors, TFDoc2Vec(documents, **settings).dv.vectors)


def test_documents_that_can_be_read_once_are_trained_for_one_epoch() -> None:
    once, again = TFDoc2Vec(**SMALL), TFDoc2Vec(**SMALL)
    for model, documents in ((once, (each for each in TOPICS)), (again, TOPICS)):
        model.build_vocab(TOPICS)
        model.train(documents, total_examples=60, epochs=1)
    np.testing.assert_array_equal(once.dv.vectors, again.dv.vectors)
    with pytest.raises(TypeError, match="Using a generator"):
        once.train((each for each in TOPICS), total_examples=60, epochs=2)


def test_what_is_no_document_is_refused_by_its_number() -> None:
    model = TFDoc2Vec(**SMALL)
    model.build_vocab(TOPICS)
    with pytest.raises(TypeError, match=r"document number 60 is \['a1'\] of type list; each document must have words"):
        model.train([*TOPICS, ["a1"]], total_examples=61, epochs=1)


# -- settings of training ---------------------------------------------------------------------------------------------


def test_frozen_words_stay_and_documents_are_trained() -> None:
    model = TFDoc2Vec(TOPICS, **SMALL)
    for freeze, stays in (("inputs", "wv"), ("outputs", "syn1neg")):
        before = copy.deepcopy(arrays_of(model))
        model.train(TOPICS, total_examples=60, epochs=1, freeze=freeze)
        after = arrays_of(model)
        assert {name for name in after if np.array_equal(after[name], before[name])} == {stays}


def test_words_beside_a_distributed_bag_stay_if_they_are_frozen() -> None:
    model = TFDoc2Vec(TOPICS, **SMALL, dm=0, dbow_words=1)
    before = copy.deepcopy(arrays_of(model))
    model.train(TOPICS, total_examples=60, epochs=1, freeze="inputs")
    after = arrays_of(model)
    assert [name for name in after if np.array_equal(after[name], before[name])] == ["wv"]


@EACH_MODE
def test_locked_documents_stay(mode: dict[str, Any]) -> None:
    model = TFDoc2Vec(**SMALL | mode)
    model.build_vocab(TOPICS)
    before = model.dv.vectors.copy()
    model.dv.vectors_lockf = np.resize(np.array([0, 1], np.float32), 60)
    model.train(TOPICS, total_examples=60, epochs=2)
    assert np.all(model.dv.vectors == before, axis=1).tolist() == [tag % 2 == 0 for tag in range(60)]


@EACH_MODE
def test_documents_of_weight_zero_stay(mode: dict[str, Any]) -> None:
    before = TFDoc2Vec(**SMALL | mode)
    before.build_vocab(TOPICS)
    model = TFDoc2Vec(TOPICS, **SMALL | mode, weights=[float(tag % 2) for tag in range(60)])
    assert np.all(model.dv.vectors == before.dv.vectors, axis=1).tolist() == [tag % 2 == 0 for tag in range(60)]


@EACH_MODE
def test_the_loss_of_each_epoch_is_that_of_its_pairs_and_falls(mode: dict[str, Any]) -> None:
    model = TFDoc2Vec(TOPICS, **SMALL | mode, compute_loss=True, optimizer="adagrad")
    assert len(model.epoch_losses) == 5
    assert all(before > after for before, after in zip(model.epoch_losses, model.epoch_losses[1:], strict=False))
    assert 0 < model.epoch_losses[-1] < model.epoch_losses[0] < 10


def test_the_numbers_of_trained_words_are_those_of_the_corpus() -> None:
    for mode in MODES.values():
        model = TFDoc2Vec(**SMALL | mode, sample=0)
        model.build_vocab(TOPICS)
        assert model.train(TOPICS, total_examples=60, epochs=2) == (2 * 60 * 40, 2 * 60 * 40)


class SeesVectors(CallbackAny2Vec):
    """Keeps the documents' vectors after each epoch."""

    def __init__(self) -> None:
        self.seen: list[np.ndarray] = []

    def on_epoch_end(self, model: Any) -> None:
        self.seen.append(model.dv.vectors.copy())


def test_callbacks_see_the_vectors_of_documents_after_each_epoch(tmp_path: Path) -> None:
    sees = SeesVectors()
    model = TFDoc2Vec(TOPICS, **SMALL, callbacks=[sees], logdir=tmp_path)
    assert len(sees.seen) == 5
    assert not np.array_equal(sees.seen[0], sees.seen[1])
    np.testing.assert_array_equal(sees.seen[-1], model.dv.vectors)


REFUSED: list[tuple[str, Any]] = [
    ("vectors_on_servers", True),
    ("distribution", "partition"),
    ("validation_metric", "hits@10"),
    ("column", "text"),
    ("tables_dir", "."),
]


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_what_does_not_go_with_documents_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name}=.* does not go with documents \(TFDoc2Vec\): "):
        TFDoc2Vec(TOPICS, **SMALL, **{name: value})


OF_TRAINING = ("distribution", "validation_metric")


@pytest.mark.parametrize(("name", "value"), [each for each in REFUSED if each[0] in OF_TRAINING])
def test_training_refuses_by_name_what_does_not_go_with_documents(name: str, value: Any) -> None:
    model = TFDoc2Vec(TOPICS, **SMALL)
    before = copy.deepcopy(arrays_of(model))
    with pytest.raises(ValueError, match=rf"^{name}=.* does not go with documents \(TFDoc2Vec\): "):
        model.train(TOPICS, total_examples=60, epochs=1, **{name: value})
    assert all(np.array_equal(values, before[array]) for array, values in arrays_of(model).items())


def test_an_encoded_corpus_has_no_documents(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("".join(" ".join(each.words) + "\n" for each in TOPICS), encoding="utf8")
    gensim_tfw2v.encode_corpus(text, tmp_path / "encoded")
    with pytest.raises(ValueError, match=r"encoded' is an encoded corpus or a table; documents come from a text"):
        TFDoc2Vec(corpus_file=str(tmp_path / "encoded"), **SMALL)


def test_blocks_are_made_here_even_if_a_device_draws_others(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = TFDoc2Vec(TOPICS, **SMALL)
    monkeypatch.setenv("TFW2V_DRAWS", "device")
    np.testing.assert_array_equal(TFDoc2Vec(TOPICS, **SMALL).dv.vectors, usual.dv.vectors)


def test_vectors_that_do_not_fit_the_tags_are_refused() -> None:
    model = TFDoc2Vec(TOPICS, **SMALL)
    vectors = model.dv.vectors
    model.dv.vectors = vectors[:-1]
    with pytest.raises(RuntimeError, match=r"dv\.vectors must have shape \(60, 20\) to train, got \(59, 20\)"):
        model.train(TOPICS, total_examples=60, epochs=1)
    model.dv.vectors = vectors.copy()
    model.dv.vectors[4, 2] = np.nan
    with pytest.raises(RuntimeError, match=r"dv\.vectors holds NaN or infinity in row 4, of the tag 4; "):
        model.train(TOPICS, total_examples=60, epochs=1)

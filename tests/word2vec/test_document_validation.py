"""`validation=` and `early_stopping=` of TFDoc2Vec measure held-out words, given their documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from gensim.models.doc2vec import TaggedDocument
from support.documents import MODES, SMALL, SUMMED, TOPICS, arrays_of, topics
from support.placements import shared_cluster
from support.reference_blocks import gensim_paths
from support.reference_validation import loss_of
from support.stopping import StopError

from gensim_tfw2v import TFDoc2Vec

# Documents are so short that their vectors soon have them by heart.
SHORT = [TaggedDocument(each.words[:12], each.tags) for each in TOPICS]
FURTHER = [TaggedDocument(each.words[12:], each.tags) for each in TOPICS]
OVERFITTING: dict[str, Any] = {**SMALL, "sample": 0, "alpha": 0.1, "min_alpha": 0.1, "optimizer": "sgd", "epochs": 40}


def expected_loss(model: TFDoc2Vec, documents: list[TaggedDocument]) -> float:
    """Return the mean loss of all words of documents with one tag each, without that of negatives."""
    inputs = np.concatenate([model.dv.vectors, model.wv.vectors])
    losses = []
    for document in documents:
        ids = [model.wv.key_to_index[word] for word in document.words if word in model.wv.key_to_index]
        tag = int(model.dv.get_index(document.tags[0]))
        for place, target in enumerate(ids):
            near = [*ids[max(0, place - model.window) : place], *ids[place + 1 : place + 1 + model.window]]
            contexts = [tag, *(len(model.dv) + word for word in near)] if model.dm else [tag]
            losses.append(
                loss_of(
                    (contexts, target),
                    [],
                    gensim_paths(model) if model.hs else None,
                    inputs,
                    getattr(model, "syn1neg", None),
                    getattr(model, "syn1", None),
                    mean=bool(model.cbow_mean),
                )
            )
    return float(np.mean(losses))


@pytest.mark.parametrize("mode", [MODES[name] for name in ("dm-hierarchical", "dbow-hierarchical")], ids=str)
def test_the_loss_is_that_of_words_given_their_documents(mode: dict[str, Any]) -> None:
    model = TFDoc2Vec(SHORT, **SMALL | mode, validation=FURTHER)
    assert model.validation_losses[-1] == pytest.approx(expected_loss(model, FURTHER), rel=1e-5)
    found = model.training_report["validation"]
    assert (found["sentences"], found["words"]) == (60, 60 * 28)


@pytest.mark.parametrize("mode", SUMMED.values(), ids=SUMMED)
def test_the_loss_of_other_words_of_documents_falls(mode: dict[str, Any]) -> None:
    losses = TFDoc2Vec(TOPICS, **SMALL | mode | {"epochs": 20}, validation=topics(60)).validation_losses
    assert len(losses) == 20
    assert losses[-1] < losses[0]


class Vectors(CallbackAny2Vec):
    """Keeps what a model has learnt after each epoch."""

    def __init__(self) -> None:
        self.seen: list[dict[str, np.ndarray]] = []

    def on_epoch_end(self, model: Any) -> None:
        self.seen.append({name: values.copy() for name, values in arrays_of(model).items()})


@pytest.mark.parametrize("mode", [MODES[name] for name in ("dm", "dbow")], ids=str)
@pytest.mark.parametrize("validation", [0.2, FURTHER], ids=["share", "documents"])
def test_early_stopping_leaves_the_vectors_of_the_best_epoch(mode: dict[str, Any], validation: Any) -> None:
    vectors = Vectors()
    model = TFDoc2Vec(SHORT, **OVERFITTING | mode, validation=validation, early_stopping=3, callbacks=[vectors])
    losses = model.validation_losses
    assert len(losses) < 40 and losses[0] > min(losses)
    best = vectors.seen[int(np.argmin(losses))]
    for name, values in arrays_of(model).items():
        np.testing.assert_array_equal(values, best[name], err_msg=name)


def test_words_that_are_held_out_are_not_trained_and_every_document_is() -> None:
    before = TFDoc2Vec(**SMALL | {"sample": 0})
    before.build_vocab(TOPICS)
    model = TFDoc2Vec(**SMALL | {"sample": 0})
    model.build_vocab(TOPICS)
    raw = model.train(TOPICS, total_examples=60, epochs=2, validation=0.1)[1]
    words = model.training_report["validation"]["words"]
    assert words == pytest.approx(0.1 * 60 * 40, rel=0.2)
    assert raw == 2 * (60 * 40 - words)
    assert np.all(np.any(model.dv.vectors != before.dv.vectors, axis=1))


def test_a_file_has_further_words_of_the_documents_with_its_lines_numbers(tmp_path: Path) -> None:
    path = tmp_path / "further"
    path.write_text("".join(" ".join(each.words) + "\n" for each in FURTHER), encoding="utf8")
    from_file, from_list = (TFDoc2Vec(SHORT, **SMALL, validation=each).validation_losses for each in (path, FURTHER))
    assert from_file == from_list


def test_documents_whose_tags_have_no_vectors_cannot_be_measured() -> None:
    others = [TaggedDocument(each.words, ["other"]) for each in FURTHER]
    with pytest.raises(ValueError, match="validation is a list, and no word of the vocabulary is in it, in a document"):
        TFDoc2Vec(SHORT, **SMALL, validation=others)
    one = [*others, FURTHER[3]]
    assert TFDoc2Vec(SHORT, **SMALL, validation=one).training_report["validation"]["pairs"] == 28


class StopsInThirdEpoch:
    """Documents that stop a training in its third epoch, after passes that count words and hold words out."""

    def __init__(self) -> None:
        self._passes = 0

    def __iter__(self) -> Any:
        self._passes += 1
        for number, each in enumerate(TOPICS):
            if self._passes == 5 and number == 20:
                raise StopError
            yield each


def test_a_training_resumes_with_the_same_words_held_out(tmp_path: Path) -> None:
    settings: dict[str, Any] = SMALL | {"batch_words": 200, "cache_memory": 0, "validation": 0.1}
    with pytest.raises(StopError):
        TFDoc2Vec(StopsInThirdEpoch(), **settings, checkpoint_dir=tmp_path, checkpoint_every="300 words")
    resumed, whole = TFDoc2Vec.resume(tmp_path, TOPICS), TFDoc2Vec(TOPICS, **settings)
    assert resumed.validation_losses == whole.validation_losses
    for name, values in arrays_of(whole).items():
        np.testing.assert_array_equal(values, arrays_of(resumed)[name], err_msg=name)


@pytest.mark.slow
def test_a_cluster_measures_what_one_process_does() -> None:
    settings: dict[str, Any] = SMALL | {"distribution": "synchronous", "reproducible": True, "batch_words": 50}
    here = TFDoc2Vec(TOPICS, **SMALL | {"reproducible": True, "batch_words": 50}, validation=0.1)
    there = TFDoc2Vec(TOPICS, **settings, validation=0.1, cluster=shared_cluster())
    assert here.validation_losses == there.validation_losses
    for name, values in arrays_of(here).items():
        np.testing.assert_array_equal(values, arrays_of(there)[name], err_msg=name)

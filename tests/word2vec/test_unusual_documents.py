"""Documents that are long, empty or unknown, and tags that come twice, in TFDoc2Vec and in gensim's class."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from gensim.models import Doc2Vec
from gensim.models.doc2vec import TaggedDocument
from support.documents import SMALL, TOPICS

from gensim_tfw2v import TFDoc2Vec

EACH_CLASS = pytest.mark.parametrize("cls", [Doc2Vec, TFDoc2Vec])
EACH_KIND = pytest.mark.parametrize("dm", [1, 0], ids=["dm", "dbow"])
UNUSUAL = [
    TaggedDocument([], ["empty"]),
    TaggedDocument(["once"], ["unknown"]),  # a word that the vocabulary drops
    TaggedDocument(TOPICS[0].words, ["twice", "twice"]),
    TaggedDocument(TOPICS[1].words, ["two documents"]),
    TaggedDocument([], []),
    TaggedDocument(TOPICS[2].words, ["two documents"]),
]
DOCUMENTS = [*TOPICS[:30], *UNUSUAL, *TOPICS[30:]]
SETTINGS: dict[str, Any] = SMALL | {"min_count": 2, "sample": 0}


@EACH_CLASS
@EACH_KIND
def test_empty_and_unknown_documents_keep_their_vectors_and_others_are_trained(cls: type[Doc2Vec], dm: int) -> None:
    model = cls(**SETTINGS, dm=dm)
    model.build_vocab(DOCUMENTS)
    assert model.corpus_count == 66
    assert model.corpus_total_words == 60 * 40 + 1 + 3 * 40
    assert model.dv.index_to_key == [*range(60), "empty", "unknown", "twice", "two documents"]
    counts = {tag: model.dv.get_vecattr(tag, "doc_count") for tag in ("empty", "unknown", "twice", "two documents")}
    assert counts == {"empty": 1, "unknown": 1, "twice": 2, "two documents": 2}
    before = model.dv.vectors.copy()
    model.train(DOCUMENTS, total_examples=model.corpus_count, epochs=2)
    stays = np.all(model.dv.vectors == before, axis=1)
    assert [tag for tag, is_same in zip(model.dv.index_to_key, stays, strict=True) if is_same] == ["empty", "unknown"]


@EACH_KIND
def test_documents_without_a_known_tag_train_no_vectors_of_documents_and_one_warning_says_so(
    dm: int, caplog: pytest.LogCaptureFixture
) -> None:
    model = TFDoc2Vec(TOPICS, **SETTINGS, dm=dm)
    before = model.dv.vectors.copy()
    others = [
        TOPICS[5],
        *(TaggedDocument(each.words, ["new", f"n{number}"]) for number, each in enumerate(TOPICS[:20])),
    ]
    with caplog.at_level(logging.WARNING, logger="gensim_tfw2v"):
        model.train(others, total_examples=21, epochs=3)
    found = [record.getMessage() for record in caplog.records if "tag" in record.getMessage()]
    assert found == [
        "20 of 21 documents have no tag with a vector (first: number 1, with the tags ['new', 'n0']); call "
        "build_vocab(..., update=True) to train vectors of them"
    ]
    assert np.flatnonzero((model.dv.vectors != before).any(axis=1)).tolist() == [5]


@EACH_CLASS
@EACH_KIND
def test_a_document_longer_than_gensims_limit_is_trained_whole_and_cut_by_gensim(cls: type[Doc2Vec], dm: int) -> None:
    words = [f"w{number % 50}" for number in range(25_000)]
    of_whole, of_cut = cls(**SETTINGS, dm=dm), cls(**SETTINGS, dm=dm)
    for model, length in ((of_whole, 25_000), (of_cut, 10_000)):
        model.build_vocab([TaggedDocument(words, ["long"])])
        found = model.train([TaggedDocument(words[:length], ["long"])], total_examples=1, epochs=1)
        assert found is None or found == (length, length)  # gensim's class returns nothing
    assert np.array_equal(of_whole.dv.vectors, of_cut.dv.vectors) == (cls is Doc2Vec)


def test_the_end_of_a_long_document_is_trained() -> None:
    """Only there does the vector of its document predict a word that no other document has."""
    words = [f"w{number % 50}" for number in range(12_000)] + ["end"] * 1000
    model = TFDoc2Vec(
        [TaggedDocument(words, ["long"]), TaggedDocument(words[:12_000], ["cut"])], dm=0, **SETTINGS | {"epochs": 20}
    )
    of_end = model.syn1neg[model.wv.key_to_index["end"]]
    assert of_end @ model.dv["long"] > of_end @ model.dv["cut"] + 0.5


@pytest.mark.parametrize("document", [["cat", "say", "meow"], "cat say meow"], ids=["list", "text"])
def test_a_document_without_words_and_tags_is_named(document: Any) -> None:
    with pytest.raises(TypeError, match=r"document number 60 is .*meow.* must have words and tags"):
        TFDoc2Vec([*TOPICS, document], **SMALL)

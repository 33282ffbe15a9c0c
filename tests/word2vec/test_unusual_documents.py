"""Documents that are long, empty or unknown, and tags that come twice, in TFDoc2Vec and in gensim's class."""

from __future__ import annotations

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
    counts = {tag: model.dv.get_vecattr(tag, "doc_count") for tag in (0, "empty", "unknown", "twice", "two documents")}
    assert counts == {0: 1, "empty": 1, "unknown": 1, "twice": 2, "two documents": 2}
    before = model.dv.vectors.copy()
    model.train(DOCUMENTS, total_examples=model.corpus_count, epochs=2)
    stays = np.all(model.dv.vectors == before, axis=1)
    assert [tag for tag, is_same in zip(model.dv.index_to_key, stays, strict=True) if is_same] == ["empty", "unknown"]


@EACH_KIND
def test_a_document_longer_than_gensims_limit_is_trained_whole(dm: int) -> None:
    words = [f"w{number % 50}" for number in range(25_000)]
    documents = [TaggedDocument(words, ["long"]), TaggedDocument(words[:50], ["short"])]
    trained = {}
    for cls in (Doc2Vec, TFDoc2Vec):
        model = cls(**SETTINGS, dm=dm)
        model.build_vocab(documents)
        trained[cls], _ = model.train(documents, total_examples=2, epochs=1)
    assert trained[TFDoc2Vec] == 25_050
    assert trained[Doc2Vec] < 11_000


def test_the_end_of_a_long_document_is_trained() -> None:
    """Only there does the vector of its document predict a word that no other document has."""
    words = [f"w{number % 50}" for number in range(12_000)] + ["end"] * 1000
    model = TFDoc2Vec(
        [TaggedDocument(words, ["long"]), TaggedDocument(words[:12_000], ["cut"])], dm=0, **SETTINGS | {"epochs": 20}
    )
    of_end = model.syn1neg[model.wv.key_to_index["end"]]
    assert of_end @ model.dv["long"] > of_end @ model.dv["cut"] + 0.5

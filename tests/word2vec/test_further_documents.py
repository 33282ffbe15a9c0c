"""Models of TFDoc2Vec whose vocabulary is updated by further documents: tags keep their vectors, new ones get some."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Doc2Vec
from gensim.models.doc2vec import TaggedDocument
from support.documents import EACH_MODE, SMALL, TOPICS

from gensim_tfw2v import TFDoc2Vec

NAMED = [TaggedDocument(each.words, [f"t{number}"]) for number, each in enumerate(TOPICS)]
NEW = [TaggedDocument(each.words, [f"new{number}"]) for number, each in enumerate(TOPICS[:10])]


def trained(documents: list[TaggedDocument], **settings: Any) -> TFDoc2Vec:
    return TFDoc2Vec(documents, **SMALL | settings)


def vectors_by_tag(model: Doc2Vec) -> dict[Any, list[float]]:
    return {tag: model.dv.vectors[place].tolist() for place, tag in enumerate(model.dv.index_to_key)}


def test_known_tags_keep_their_vectors_in_any_order_and_those_that_are_not_there_stay() -> None:
    model = trained(NAMED)
    before = vectors_by_tag(model)
    model.build_vocab(NAMED[40:20:-1], update=True)
    assert vectors_by_tag(model) == before
    assert model.corpus_count == 20
    counts = [model.dv.get_vecattr(tag, "doc_count") for tag in ("t0", "t30")]
    assert counts == [1, 2]
    model.train(NAMED[40:20:-1], total_examples=20, epochs=1)
    stays = [tag for tag, vector in vectors_by_tag(model).items() if vector == before[tag]]
    assert stays == [f"t{number}" for number in range(60) if not 20 < number <= 40]


@EACH_MODE
def test_new_tags_get_vectors_and_are_trained(mode: dict[str, Any], tmp_path: Path) -> None:
    model = trained(NAMED, optimizer="adagrad", **mode)
    before = vectors_by_tag(model)
    words = model.wv.vectors.copy()
    further = [*NEW, NAMED[3], TaggedDocument(["unheard", "of"] * 5, ["other"])]
    model.build_vocab(further, update=True)
    new = [*(f"new{number}" for number in range(10)), "other"]
    assert model.dv.index_to_key == [*before, *new]
    assert [model.dv.key_to_index[tag] for tag in new] == list(range(60, 71))
    after = vectors_by_tag(model)
    assert {tag: after[tag] for tag in before} == before
    np.testing.assert_array_equal(model.wv.vectors[: len(words)], words)
    drawn = model.dv.vectors[60:].copy()
    assert len(np.unique(drawn, axis=0)) == 11
    assert np.abs(drawn).max() <= 1 / model.vector_size
    model.train(further, total_examples=12, epochs=2)
    assert (model.dv.vectors[60:] != drawn).any(axis=1).all()
    model.save(str(tmp_path / "model"))
    assert vectors_by_tag(Doc2Vec.load(str(tmp_path / "model"))) == vectors_by_tag(model)


def test_new_tags_may_be_the_next_whole_numbers() -> None:
    model = trained(TOPICS)
    before = model.dv.vectors.copy()
    model.build_vocab([TaggedDocument(TOPICS[0].words, [number]) for number in (61, 5, 60)], update=True)
    assert model.dv.index_to_key == list(range(62))
    np.testing.assert_array_equal(model.dv.vectors[:60], before)


def test_lines_of_a_further_file_have_the_tags_of_its_first_lines(tmp_path: Path) -> None:
    model = trained(TOPICS)
    before = vectors_by_tag(model)
    path = tmp_path / "further.txt"
    path.write_text("".join(" ".join(each.words) + "\n" for each in TOPICS[:5]), encoding="utf-8")
    model.build_vocab(corpus_file=str(path), update=True)
    assert vectors_by_tag(model) == before
    assert model.corpus_count == 5


@pytest.mark.parametrize("documents", [NAMED, [*TOPICS, TaggedDocument(TOPICS[0].words, ["text"])]])
def test_a_whole_number_that_would_be_another_tags_position_is_named_and_changes_nothing(documents: Any) -> None:
    model = trained(documents)
    before, words = vectors_by_tag(model), list(model.wv.index_to_key)
    further = [TaggedDocument(["unheard"] * 9, ["text"]), TaggedDocument(TOPICS[0].words, [60])]
    with pytest.raises(ValueError, match=r"document number 1 has the tag 60.* such as '60'"):
        model.build_vocab(further, update=True)
    assert vectors_by_tag(model) == before
    assert model.wv.index_to_key == words
    model.train(documents, total_examples=len(documents), epochs=1)

"""Attributes of words come to be as gensim's own loop makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.model.vocabulary import set_quickly

SENTENCES = [["a", "b", "a", "c"], ["b", "a", 7, "d", "d"]]


def words_of(*keys: Any) -> KeyedVectors:
    vectors = KeyedVectors(2)
    vectors.index_to_key = list(keys)
    vectors.key_to_index = {key: index for index, key in enumerate(keys)}
    return vectors


@pytest.mark.parametrize("settings", [{}, {"sample": 0}, {"max_final_vocab": 3}], ids=str)
def test_a_vocabulary_has_the_attributes_that_gensim_gives_it(settings: dict[str, Any]) -> None:
    ours, gensims = (cls(min_count=1, **settings) for cls in (TFWord2Vec, Word2Vec))
    for model in (ours, gensims):
        model.build_vocab(SENTENCES)
        model.build_vocab([["e", "a", "e"]], update=True)
    assert ours.wv.index_to_key == gensims.wv.index_to_key
    assert ours.wv.expandos.keys() == gensims.wv.expandos.keys()
    for name, values in gensims.wv.expandos.items():
        assert ours.wv.expandos[name].dtype == values.dtype
        np.testing.assert_array_equal(ours.wv.expandos[name], values)


def test_room_is_made_where_there_is_none() -> None:
    vectors = words_of("a", "b")
    with set_quickly(vectors):
        vectors.set_vecattr("a", "count", 3)
        vectors.index_to_key.append("c")
        vectors.key_to_index["c"] = 2
        vectors.set_vecattr("c", "count", 5)
    assert vectors.expandos["count"].tolist() == [3, 0, 5]


def test_a_number_that_is_no_word_is_an_index_as_ever_and_an_unknown_word_an_error() -> None:
    vectors = words_of("a", "b")
    with set_quickly(vectors):
        vectors.set_vecattr("a", "count", 3)
        vectors.set_vecattr(1, "count", 4)
        with pytest.raises(KeyError, match="Key 'c' not present"):
            vectors.set_vecattr("c", "count", 5)
    assert vectors.expandos["count"].tolist() == [3, 4]


@pytest.mark.parametrize("counts", [{"a": 2, "b": 1.5}, {"a": 1.5, "b": 2}], ids=str)
@pytest.mark.parametrize("model_class", [TFWord2Vec, Word2Vec])
def test_counts_of_more_than_one_type_are_refused(model_class: type[Word2Vec], counts: dict[str, float]) -> None:
    with pytest.raises(TypeError, match="Can't allocate type"):
        model_class(min_count=1).build_vocab_from_freq(counts)


def test_afterwards_all_is_as_before_also_after_an_error() -> None:
    vectors = words_of("a")
    with pytest.raises(ZeroDivisionError), set_quickly(vectors):
        raise ZeroDivisionError
    assert "set_vecattr" not in vars(vectors)


def test_what_a_subclass_does_it_still_does() -> None:
    class Loud(KeyedVectors):
        def __init__(self) -> None:
            super().__init__(2)
            self.said: list[Any] = []

        def set_vecattr(self, key: Any, attr: str, val: Any) -> None:
            self.said.append(key)
            super().set_vecattr(key, attr, val)

    vectors = Loud()
    vectors.index_to_key, vectors.key_to_index = ["a"], {"a": 0}
    with set_quickly(vectors):
        vectors.set_vecattr("a", "count", 1)
        vectors.set_vecattr("a", "count", 2)
    assert vectors.said == ["a", "a"]

"""HuffmanPaths lead to words by the rows that predict them."""

from __future__ import annotations

import numpy as np
import pytest
from example_trees import EVEN, MIXED, STEEP, model_of
from gensim.models.word2vec import Word2Vec
from hypothesis import given
from hypothesis import strategies as st

from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths, huffman_paths
from gensim_tfw2v.blocks.huffman_tree import HuffmanTree


def way(ways: HuffmanPaths, number: int) -> tuple[list[int], list[int]]:
    """Return the rows and codes on the way to the word of this number."""
    own = slice(*ways.offsets[number : number + 2].tolist())
    return ways.rows[own].tolist(), ways.codes[own].tolist()


def gensims_way(model: Word2Vec, word: int) -> tuple[list[int], list[int]]:
    """Return the points and codes that gensim stored for a word."""
    return model.wv.expandos["point"][word].tolist(), model.wv.expandos["code"][word].tolist()


@pytest.mark.parametrize("frequencies", [EVEN, STEEP, MIXED, [3, 1]], ids=["even", "steep", "mixed", "two"])
def test_ways_down_the_tree_are_gensims_points_and_codes_from_the_root_on(frequencies: list[int]) -> None:
    model = model_of(frequencies)
    words = np.random.default_rng(0).integers(0, len(frequencies), (3, 4, 5)).astype(np.int32)
    words.reshape(-1)[: min(60, len(frequencies))] = np.arange(min(60, len(frequencies)))
    ways = huffman_paths(words, HuffmanTree.of(model.wv))
    assert ways.words.shape == words.shape
    for place, word in np.ndenumerate(words):
        assert way(ways, int(ways.words[place])) == gensims_way(model, word)


@given(st.lists(st.integers(0, 11), max_size=8))
def test_ways_down_the_tree_hold_those_of_the_words_asked_for_and_no_others(asked: list[int]) -> None:
    model = model_of(MIXED)
    ways = huffman_paths(np.array(asked, np.int32), HuffmanTree.of(model.wv))
    found = [way(ways, number) for number in range(len(ways.offsets) - 1)]
    assert found == [gensims_way(model, word) for word in sorted(set(asked))]
    assert ways.offsets[-1] == len(ways.rows) == len(ways.codes)


@given(asked=st.lists(st.integers(0, 11), min_size=12, max_size=12))
def test_the_same_word_has_the_same_number_everywhere_and_numbers_have_no_gaps(asked: list[int]) -> None:
    words = np.array(asked, np.int32).reshape(2, 3, 2)
    ways = huffman_paths(words, HuffmanTree.of(model_of(MIXED).wv))
    assert ways.words.shape == words.shape
    pairs = set(zip(asked, ways.words.reshape(-1).tolist(), strict=True))
    distinct = len(set(asked))
    assert len(pairs) == distinct, "a word has two numbers"
    assert sorted(number for _, number in pairs) == list(range(distinct))
    assert len(ways.offsets) == distinct + 1


@pytest.mark.parametrize("shape", [(0,), (0, 3, 4), (2, 0, 5)])
def test_no_words_have_no_ways(shape: tuple[int, ...]) -> None:
    ways = huffman_paths(np.zeros(shape, np.int32), HuffmanTree.of(model_of(MIXED).wv))
    assert ways.words.shape == shape
    assert (len(ways.rows), len(ways.codes), ways.offsets.tolist()) == (0, 0, [0])


def test_all_of_a_way_is_of_the_integers_that_operations_take() -> None:
    for words in ([[[3, 1], [3, 0]]], np.zeros((1, 1, 0))):
        ways = huffman_paths(np.array(words, np.int32), HuffmanTree.of(model_of(MIXED).wv))
        assert {array.dtype for array in vars(ways).values()} == {np.dtype(np.int32)}


def test_the_only_word_of_a_vocabulary_has_an_empty_way() -> None:
    ways = huffman_paths(np.zeros((1, 2, 3), np.int32), HuffmanTree.of(model_of([7]).wv))
    assert not ways.words.any() and ways.words.shape == (1, 2, 3)
    assert (len(ways.rows), ways.offsets.tolist()) == (0, [0, 0])


@pytest.mark.parametrize("asked", [[3], [3, 0], [1, 2, 3, 1, 0, 3]])
def test_words_added_without_a_new_tree_have_empty_ways_among_those_of_others(asked: list[int]) -> None:
    model = Word2Vec([["a", "b", "b"]], hs=1, min_count=1, epochs=1)
    model.hs = 0
    model.build_vocab([["c", "d", "c"]], update=True)
    ways = huffman_paths(np.array(asked, np.int32), HuffmanTree.of(model.wv))
    expected = [gensims_way(model, word) if word < 2 else ([], []) for word in asked]
    assert [way(ways, number) for number in ways.words.tolist()] == expected


def test_a_tree_that_was_never_built_has_empty_ways() -> None:
    model = Word2Vec(hs=0, min_count=1)
    model.build_vocab_from_freq({"a": 2, "b": 1})
    ways = huffman_paths(np.array([1, 0, 1], np.int32), HuffmanTree.of(model.wv))
    assert [way(ways, number) for number in ways.words.tolist()] == [([], [])] * 3


def test_words_that_vectors_were_added_for_have_no_way() -> None:
    model = model_of(MIXED)
    model.wv.add_vectors(["another"], np.zeros((1, model.vector_size), np.float32))
    word = np.array([len(MIXED)], np.int32)
    assert way(huffman_paths(word, HuffmanTree.of(model.wv)), 0) == ([], [])

"""Huffman paths hold the rows and codes that gensim stores for each word."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models.word2vec import Word2Vec
from hypothesis import given
from hypothesis import strategies as st
from support.example_trees import EVEN, MIXED, STEEP, model_of

from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths, huffman_paths


def path_of(paths: HuffmanPaths, number: int) -> tuple[list[int], list[int]]:
    """Return the rows and codes on the path of the word with this number."""
    own = slice(*paths.offsets[number : number + 2].tolist())
    return paths.nodes[own].tolist(), paths.codes[own].tolist()


def gensim_path_of(model: Word2Vec, word: int) -> tuple[list[int], list[int]]:
    """Return the points and codes that gensim stored for a word."""
    return model.wv.expandos["point"][word].tolist(), model.wv.expandos["code"][word].tolist()


@pytest.mark.parametrize("frequencies", [EVEN, STEEP, MIXED, [3, 1]], ids=["even", "steep", "mixed", "two"])
def test_huffman_paths_are_gensims_points_and_codes_from_the_root_on(frequencies: list[int]) -> None:
    model = model_of(frequencies)
    words = np.random.default_rng(0).integers(0, len(frequencies), (3, 4, 5)).astype(np.int32)
    words.reshape(-1)[: min(60, len(frequencies))] = np.arange(min(60, len(frequencies)))
    paths = huffman_paths(words, HuffmanTree.of(model.wv))
    assert paths.words.shape == words.shape
    for place, word in np.ndenumerate(words):
        assert path_of(paths, int(paths.words[place])) == gensim_path_of(model, word)


@given(st.lists(st.integers(0, 11), max_size=8))
def test_huffman_paths_are_those_of_the_words_asked_for_and_no_others(asked: list[int]) -> None:
    model = model_of(MIXED)
    paths = huffman_paths(np.array(asked, np.int32), HuffmanTree.of(model.wv))
    found = [path_of(paths, number) for number in range(len(paths.offsets) - 1)]
    assert found == [gensim_path_of(model, word) for word in sorted(set(asked))]
    assert paths.offsets[-1] == len(paths.nodes) == len(paths.codes)


@given(asked=st.lists(st.integers(0, 11), min_size=12, max_size=12))
def test_the_same_word_has_the_same_number_everywhere_and_numbers_have_no_gaps(asked: list[int]) -> None:
    words = np.array(asked, np.int32).reshape(2, 3, 2)
    paths = huffman_paths(words, HuffmanTree.of(model_of(MIXED).wv))
    assert paths.words.shape == words.shape
    pairs = set(zip(asked, paths.words.reshape(-1).tolist(), strict=True))
    distinct = len(set(asked))
    assert len(pairs) == distinct, "a word has two numbers"
    assert sorted(number for _, number in pairs) == list(range(distinct))
    assert len(paths.offsets) == distinct + 1


@pytest.mark.parametrize("shape", [(0,), (0, 3, 4), (2, 0, 5)])
def test_no_words_have_no_paths(shape: tuple[int, ...]) -> None:
    paths = huffman_paths(np.zeros(shape, np.int32), HuffmanTree.of(model_of(MIXED).wv))
    assert paths.words.shape == shape
    assert (len(paths.nodes), len(paths.codes), paths.offsets.tolist()) == (0, 0, [0])


def test_huffman_paths_consist_of_the_integers_that_operations_take() -> None:
    for words in ([[[3, 1], [3, 0]]], np.zeros((1, 1, 0))):
        paths = huffman_paths(np.array(words, np.int32), HuffmanTree.of(model_of(MIXED).wv))
        assert {array.dtype for array in vars(paths).values()} == {np.dtype(np.int32)}


def test_the_only_word_of_a_vocabulary_has_an_empty_path() -> None:
    paths = huffman_paths(np.zeros((1, 2, 3), np.int32), HuffmanTree.of(model_of([7]).wv))
    assert not paths.words.any() and paths.words.shape == (1, 2, 3)
    assert (len(paths.nodes), paths.offsets.tolist()) == (0, [0, 0])


@pytest.mark.parametrize("asked", [[3], [3, 0], [1, 2, 3, 1, 0, 3]])
def test_words_added_without_a_new_tree_have_empty_paths_among_those_of_others(asked: list[int]) -> None:
    model = Word2Vec([["a", "b", "b"]], hs=1, min_count=1, epochs=1)
    model.hs = 0
    model.build_vocab([["c", "d", "c"]], update=True)
    paths = huffman_paths(np.array(asked, np.int32), HuffmanTree.of(model.wv))
    expected = [gensim_path_of(model, word) if word < 2 else ([], []) for word in asked]
    assert [path_of(paths, number) for number in paths.words.tolist()] == expected


def test_a_tree_that_was_never_built_has_empty_paths() -> None:
    model = Word2Vec(hs=0, min_count=1)
    model.build_vocab_from_freq({"a": 2, "b": 1})
    paths = huffman_paths(np.array([1, 0, 1], np.int32), HuffmanTree.of(model.wv))
    assert [path_of(paths, number) for number in paths.words.tolist()] == [([], [])] * 3


def test_words_that_vectors_were_added_for_have_no_path() -> None:
    model = model_of(MIXED)
    model.wv.add_vectors(["another"], np.zeros((1, model.vector_size), np.float32))
    word = np.array([len(MIXED)], np.int32)
    assert path_of(huffman_paths(word, HuffmanTree.of(model.wv)), 0) == ([], [])

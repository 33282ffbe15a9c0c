"""The tree is one of gensim's."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from gensim.models.word2vec import Word2Vec
from hypothesis import given
from hypothesis import strategies as st
from support.example_trees import EVEN, MIXED, STEEP, Path, gensim_path, model_of

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.blocks.huffman import HuffmanTree, build_huffman_tree, tree_offsets


def path_in(tree: HuffmanTree, word: int) -> Path:
    """Return the nodes and codes that the tree has for a word."""
    own = slice(*tree.offsets[word : word + 2].tolist())
    return list(zip(tree.nodes[own].tolist(), tree.codes[own].tolist(), strict=True))


@pytest.mark.parametrize("frequencies", [EVEN, STEEP, MIXED, [3, 1]], ids=["even", "steep", "mixed", "two"])
def test_paths_are_those_that_gensim_stored(frequencies: list[int]) -> None:
    model = model_of(frequencies)
    tree = HuffmanTree.of(model.wv)
    assert len(tree.offsets) == len(frequencies) + 1
    for word in range(len(frequencies)):
        assert path_in(tree, word) == gensim_path(model, word)


FREQUENCIES = st.lists(st.integers(1, 12) | st.integers(1, 10**9), max_size=60)


@given(FREQUENCIES)
def test_codes_are_those_that_gensim_makes_also_where_counts_are_equal(frequencies: list[int]) -> None:
    words = {f"w{i}": frequency for i, frequency in enumerate(frequencies)}
    ours, theirs = TFWord2Vec(hs=1, negative=0, min_count=1), Word2Vec(hs=1, negative=0, min_count=1)
    for model in (ours, theirs):
        model.build_vocab_from_freq(dict(words))
    for name in ("code", "point"):
        for word in words:
            mine, gensims = ours.wv.get_vecattr(word, name), theirs.wv.get_vecattr(word, name)
            np.testing.assert_array_equal(mine, gensims)
            assert len(words) == 1 or mine.dtype == gensims.dtype


@given(FREQUENCIES)
def test_codes_are_those_that_gensim_makes_of_words_in_another_order(frequencies: list[int]) -> None:
    counts = np.array(frequencies, np.int64)
    order = np.random.default_rng(5).permutation(len(counts))
    tree = build_huffman_tree(counts, order)
    theirs = Word2Vec(hs=1, negative=0, min_count=1, sorted_vocab=0)
    theirs.build_vocab_from_freq({f"w{word}": frequencies[word] for word in order.tolist()})
    for place, word in enumerate(order.tolist()):
        assert path_in(tree, word) == (gensim_path(theirs, place) if len(counts) > 1 else [])


def test_words_with_equal_counts_enter_a_large_tree_in_an_order_that_the_seed_alone_sets() -> None:
    def codes(word2vec_class: type[Word2Vec], words: int, seed: int) -> list[list[int]]:
        model = word2vec_class(hs=1, negative=0, min_count=1, vector_size=1, seed=seed)
        model.build_vocab_from_freq({f"w{i}": 3 for i in range(words)})
        return [code.tolist() for code in model.wv.expandos["code"]]

    large, small = 25_000, 24_999
    assert codes(TFWord2Vec, large, 1) == codes(TFWord2Vec, large, 1) != codes(TFWord2Vec, large, 2)
    assert sorted(map(len, codes(TFWord2Vec, large, 1))) == sorted(map(len, codes(Word2Vec, large, 1)))
    assert codes(TFWord2Vec, small, 1) == codes(Word2Vec, small, 2)


def test_a_larger_vocabulary_gets_a_tree_of_all_its_words() -> None:
    model = TFWord2Vec([["a", "b", "b"]], hs=1, negative=0, min_count=1, epochs=1)
    model.build_vocab([["c", "c", "c", "d", "a"]], update=True)
    assert len({tuple(model.wv.get_vecattr(word, "code").tolist()) for word in "abcd"}) == 4


def test_a_vocabulary_of_one_word_and_a_tree_never_built_have_no_paths() -> None:
    assert HuffmanTree.of(model_of([3]).wv).path_lengths().tolist() == [0]
    never_built = Word2Vec(hs=0, min_count=1)
    never_built.build_vocab_from_freq({"a": 2, "b": 1})
    assert HuffmanTree.of(never_built.wv).path_lengths().tolist() == [0, 0]


def test_words_added_without_a_new_tree_have_no_path_and_others_keep_theirs() -> None:
    model = model_of(MIXED)
    paths = [gensim_path(model, word) for word in range(len(MIXED))]
    for name, nothing in (("point", None), ("code", 0)):
        model.wv.expandos[name][3] = nothing
    tree = HuffmanTree.of(model.wv)
    assert [path_in(tree, word) for word in range(len(MIXED))] == [*paths[:3], [], *paths[4:]]


@pytest.mark.parametrize("points", [list, tuple, np.float64, np.uint64, np.int8])
def test_paths_are_read_from_sequences_and_numbers_of_any_type(points: Any) -> None:
    model = model_of(MIXED)
    paths = [gensim_path(model, word) for word in range(len(MIXED))]
    model.wv.expandos["point"][2] = points(model.wv.expandos["point"][2])
    assert [path_in(HuffmanTree.of(model.wv), word) for word in range(len(MIXED))] == paths


@pytest.mark.parametrize(
    ("name", "damage", "found"),
    [
        ("point", [0], r"1 nodes and \d codes"),
        ("point", [[0, 1]], r"\[\[0, 1\]\] as its point"),
        ("point", ["root"], r"\['root'\] as its point"),
        ("code", {1: 2}, r"\{1: 2\} as its code"),
        ("point", "as many nodes, the last of them 11", "the node 11 with the code"),
        ("point", "as many nodes, the last of them -1", "the node -1 with the code"),
        ("code", "as many codes, the last of them 2", "with the code 2"),
    ],
)
def test_a_damaged_path_is_refused_with_its_word(name: str, damage: Any, found: str) -> None:
    model = model_of(MIXED)
    if isinstance(damage, str) and damage.startswith("as many"):
        damage = [*model.wv.expandos[name][5].tolist()[:-1], int(damage.split()[-1])]
    model.wv.expandos[name][5] = damage
    with pytest.raises(RuntimeError, match=f"{found}.* for the word '{model.wv.index_to_key[5]}'"):
        HuffmanTree.of(model.wv)


def test_a_stored_tree_is_read_without_a_call_for_each_word() -> None:
    model, calls = model_of(list(range(1, 501))), 0

    def count(*_: Any) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        HuffmanTree.of(model.wv)
    finally:
        sys.setprofile(None)
    assert calls < 500


def test_more_steps_than_numbers_of_32_bits_count_are_refused_with_their_number() -> None:
    most = 2**31 - 1
    assert tree_offsets(np.array([2**30, 0, 2**30 - 1])).tolist() == [0, 2**30, 2**30, most]
    with pytest.raises(ValueError, match=r"2,147,483,648.*3 words.*2,147,483,647"):
        tree_offsets(np.array([2**30, 0, 2**30]))

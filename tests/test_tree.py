"""The tree is gensim's, and pairs arranged in runs meet exactly the nodes on their paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from gensim.models.word2vec import Word2Vec
from gensim_tfw2v.tree_paths import Passing, every_passing
from gensim_tfw2v.tree_runs import RunShape, TreeRuns, _sort, arrange_pairs
from hypothesis import given, settings
from hypothesis import strategies as st

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.tree import HuffmanTree

Path = set[tuple[int, int]]  # of (node, code)


def model_of(frequencies: list[int]) -> Word2Vec:
    """Return an untrained gensim model with a word for each frequency and a tree over them."""
    model = Word2Vec(hs=1, negative=0, min_count=1)
    model.build_vocab_from_freq({f"w{i}": frequency for i, frequency in enumerate(frequencies)})
    return model


def gensim_path(model: Word2Vec, word: int) -> Path:
    """Return the nodes and codes that gensim stored for a word."""
    points, codes = model.wv.expandos["point"][word], model.wv.expandos["code"][word]
    return set(zip(points.tolist(), codes.tolist(), strict=True))


def path_in(tree: HuffmanTree, word: int) -> Path:
    """Return the nodes and codes that the tree has for a word."""
    own = slice(*tree.offsets[word : word + 2].tolist())
    return set(zip(tree.nodes[own].tolist(), tree.codes[own].tolist(), strict=True))


def passed(place: int, nodes: np.ndarray, passing: Passing) -> Path:
    """Return which nodes of a run one of its places passes, and on which side."""
    first, middle, end = passing
    on_path = np.flatnonzero((first <= place) & (place < end))
    assert len(set(nodes[on_path].tolist())) == len(on_path), "a node stands twice"
    return {(int(nodes[column]), int(place >= middle[column])) for column in on_path}


EVEN, STEEP, MIXED = [5] * 9, [2**i for i in range(60)], [1, 1, 2, 40, 40, 7, 3, 3, 3, 900, 1, 12]


@pytest.mark.parametrize("frequencies", [EVEN, STEEP, MIXED, [3, 1]], ids=["even", "steep", "mixed", "two"])
def test_paths_are_those_that_gensim_stored_and_leaves_are_numbered_from_left_to_right(frequencies: list[int]) -> None:
    model = model_of(frequencies)
    tree = HuffmanTree.of(model.wv)
    assert sorted(tree.leaf.tolist()) == list(range(len(frequencies)))
    below: dict[int, tuple[list[int], list[int]]] = {}
    for word, leaf in enumerate(tree.leaf.tolist()):
        path = gensim_path(model, word)
        assert path_in(tree, word) == path
        for node, code in path:
            below.setdefault(node, ([], []))[code].append(leaf)
    for left, right in below.values():
        in_order = sorted(left) + sorted(right)
        assert in_order == list(range(in_order[0], in_order[0] + len(in_order)))


@given(st.lists(st.integers(1, 12) | st.integers(1, 10**9), max_size=60))
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


def test_a_larger_vocabulary_gets_a_tree_of_all_its_words() -> None:
    model = TFWord2Vec([["a", "b", "b"]], hs=1, negative=0, min_count=1, epochs=1)
    model.build_vocab([["c", "c", "c", "d", "a"]], update=True)
    assert len({tuple(model.wv.get_vecattr(word, "code").tolist()) for word in "abcd"}) == 4


def test_a_word_without_a_path_has_no_leaf() -> None:
    alone = HuffmanTree.of(model_of([3]).wv)
    assert alone.leaf.tolist() == [-1] and alone.path_lengths().tolist() == [0]
    never_built = Word2Vec(hs=0, min_count=1)
    never_built.build_vocab_from_freq({"a": 2, "b": 1})
    assert HuffmanTree.of(never_built.wv).leaf.tolist() == [-1, -1]


@pytest.mark.parametrize("frequencies", [EVEN, STEEP, MIXED], ids=["even", "steep", "mixed"])
def test_shared_nodes_are_those_of_both_paths(frequencies: list[int]) -> None:
    model = model_of(frequencies)
    words, others = np.array(list(itertools.product(range(len(frequencies)), repeat=2)), np.int32).T
    nodes = [{node for node, _ in gensim_path(model, word)} for word in range(len(frequencies))]
    shared = HuffmanTree.of(model.wv).count_shared(words, others)
    assert shared.tolist() == [len(nodes[word] & nodes[other]) for word, other in zip(words, others, strict=True)]


PAIRS = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 11)), max_size=60).map(sorted)
SHAPES = st.builds(RunShape, places=st.integers(1, 9), mean_paths=st.sampled_from([0.1, 1.0, 3.0]))


def arranged(
    pairs: list[tuple[int, int]], shape: RunShape, batch_tokens: int = 5, one_each: bool = False
) -> tuple[Word2Vec, TreeRuns]:
    """Return a model and these pairs of (position of a token, word) in batches of `batch_tokens`."""
    model = model_of(MIXED)
    hidden, words = np.array(pairs, np.int64).reshape(-1, 2).T
    tree = HuffmanTree.of(model.wv)
    batches = 20 // batch_tokens
    return model, arrange_pairs(hidden, words.astype(np.int32), batches, batch_tokens, tree, shape, one_each)


@given(pairs=PAIRS, shape=SHAPES)
@settings(max_examples=60, deadline=None)
def test_every_pair_stands_in_its_batch_once_and_meets_the_nodes_of_its_path(
    pairs: list[tuple[int, int]], shape: RunShape
) -> None:
    model, runs = arranged(pairs, shape)
    words = {frozenset(gensim_path(model, word)): word for word in range(len(model.wv))}
    found = []
    for run, place in np.argwhere(used_places(runs)).tolist():
        path = passed(place, runs.nodes[run], Passing(*(edges[run] for edges in passing_of(runs))))
        batch = int(np.searchsorted(runs.run_splits, run, side="right")) - 1
        found.append((batch * 5 + int(runs.hidden[run, place]), words[frozenset(path)]))
    assert sorted(found) == pairs


@given(pairs=PAIRS, shape=SHAPES)
@settings(max_examples=60, deadline=None)
def test_nodes_are_numbered_within_their_batch_and_no_batch_is_without_one(
    pairs: list[tuple[int, int]], shape: RunShape
) -> None:
    _, runs = arranged(pairs, shape)
    distinct = np.split(runs.node_segments.unique, runs.node_segments.unique_splits[1:-1])
    for batch, nodes in enumerate(distinct):
        own = slice(*runs.run_splits[batch : batch + 2].tolist())
        used = runs.passed[own] > 0
        np.testing.assert_array_equal(nodes[runs.node_numbers[own]][used], runs.nodes[own][used])
        assert used.any() or nodes.tolist() == [0]


@given(pairs=PAIRS, shape=SHAPES)
@settings(max_examples=60, deadline=None)
def test_hidden_vectors_find_the_places_of_their_pairs(pairs: list[tuple[int, int]], shape: RunShape) -> None:
    _, runs = arranged(pairs, shape)
    back = runs.back
    for batch, (start, stop) in enumerate(zip(back.splits[:-1], back.splits[1:], strict=True)):
        places, owners = back.places[start:stop], back.owners[start:stop]
        hidden, used = of_batch(runs, batch)
        assert owners.tolist() == [token - 5 * batch for token, _ in pairs if token // 5 == batch]
        assert hidden[places].tolist() == owners.tolist()
        assert sorted(places.tolist()) == np.flatnonzero(used).tolist()
        assert back.unowned[batch] == 4 - max(owners.tolist(), default=-1)


def passing_of(runs: TreeRuns) -> Passing:
    """Return which places of each run pass its nodes."""
    return Passing.of(runs.passed, runs.hidden.shape[1])


def used_places(runs: TreeRuns) -> np.ndarray:
    """Return which places [runs, H] have a pair, and so pass nodes."""
    first, _, end = (edges[:, :, None] for edges in passing_of(runs))
    places = np.arange(runs.hidden.shape[1])
    used: np.ndarray = ((first <= places) & (places < end)).any(axis=1)
    return used


def of_batch(runs: TreeRuns, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the hidden vectors of a batch's places, and which of these have a pair."""
    own = slice(*runs.run_splits[batch : batch + 2].tolist())
    return runs.hidden[own].reshape(-1), used_places(runs)[own].reshape(-1)


@given(pairs=PAIRS.map(lambda pairs: sorted(dict(pairs).items())), shape=SHAPES)
@settings(max_examples=60, deadline=None)
def test_hidden_vectors_of_one_pair_each_find_its_place_or_an_unused_one(
    pairs: list[tuple[int, int]], shape: RunShape
) -> None:
    _, runs = arranged(pairs, shape, one_each=True)
    assert runs.back.splits.tolist() == [0, 5, 10, 15, 20]
    wanted = dict(pairs)
    for token, place in enumerate(runs.back.places.tolist()):
        hidden, used = of_batch(runs, token // 5)
        assert used[place] == (token in wanted)
        if token in wanted:
            assert hidden[place] == token % 5


@pytest.mark.parametrize("places", [1, 2, 16, 32])
def test_all_ways_to_pass_a_node_are_numbered_one_after_the_other(places: int) -> None:
    every = every_passing(places)
    ways = {edges for edges in itertools.product(range(places + 1), repeat=3) if sorted(edges) == list(edges)}
    assert set(zip(*(edges.tolist() for edges in every), strict=True)) == ways
    assert every.numbers().tolist() == list(range(len(ways)))


@given(pairs=PAIRS, shape=SHAPES)
@settings(max_examples=60, deadline=None)
def test_runs_keep_to_their_shape(pairs: list[tuple[int, int]], shape: RunShape) -> None:
    _, runs = arranged(pairs, shape)
    lengths = HuffmanTree.of(model_of(MIXED).wv).path_lengths()[[word for _, word in pairs]]
    assert runs.hidden.shape[1] == shape.places
    assert runs.nodes.shape[1] <= max(8, shape.most_nodes(lengths))  # without pairs there are no lengths


def test_numbers_of_runs_and_nodes_come_again() -> None:
    rounded = set()
    for pairs in range(1000, 1400, 4):
        _, runs = arranged([(0, 0)] * pairs, RunShape(4, 1.0), batch_tokens=20)
        assert pairs / 4 <= len(runs.nodes) <= pairs / 4 * 17 / 16
        rounded.add(len(runs.nodes))
        assert runs.nodes.shape[1] % 8 == 0
    assert len(rounded) < 10
    _, few = arranged([(0, 0)] * 36, RunShape(4, 1.0), batch_tokens=20)
    assert len(few.nodes) == 9


@pytest.mark.parametrize("most", [50, 2**31 - 1], ids=["packed in 32 bits", "packed in 64 bits"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_pairs_are_sorted_by_leaf_within_their_batch(most: int, data: st.DataObject) -> None:
    batches = data.draw(st.lists(st.lists(st.integers(0, most), max_size=20), min_size=1, max_size=4))
    leaves = np.array([leaf for batch in batches for leaf in batch], dtype=np.int32)
    batch = np.repeat(np.arange(len(batches)), [len(batch) for batch in batches])
    splits = np.cumsum([0] + [len(batch) for batch in batches]).astype(np.int32)
    assert _sort(splits, leaves).tolist() == np.lexsort((leaves, batch)).tolist()

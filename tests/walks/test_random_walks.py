"""Walks take steps with the chances that node2vec defines, and are the same in every pass."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from support.contract import assert_equal_models
from support.native_functions import WAYS, functions_run
from support.plain_walks import WeightedEdges, least_p_value, plain_graph

from gensim_tfw2v import RandomWalks, TFWord2Vec
from gensim_tfw2v.walks import random_walks

# Triangles and a square, so that nodes have neighbours that are near, far and where a walk came from; 6 has a loop.
PAIRS = [(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 6), (6, 3), (6, 6), (2, 5)]
WEIGHTS = [1.0, 2.0, 0.5, 1.0, 4.0, 1.0, 3.0, 1.5, 1.0]
EQUAL: WeightedEdges = [(first, second, 1.0) for first, second in PAIRS]
WEIGHTED: WeightedEdges = [(first, second, weight) for (first, second), weight in zip(PAIRS, WEIGHTS, strict=True)]
# A walk from a leaf to the middle is refused nearly every leaf if p and q are large: few are neighbours of each other.
STAR: WeightedEdges = [(0, leaf, leaf) for leaf in range(1, 6)] + [(1, 2, 1.0)]
SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "sample": 0, "workers": 1, "seed": 1, "epochs": 2}


def walks_on(edges: WeightedEdges, **settings: Any) -> RandomWalks:
    return RandomWalks([edge[:2] for edge in edges], weights=[edge[2] for edge in edges], **settings)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("edges", [EQUAL, WEIGHTED], ids=["equal", "weighted"])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (4, 0.25), (3, 3), (0.5, 0.5), (1e-3, 1e3)])
def test_steps_have_the_chances_of_node2vec(edges: WeightedEdges, p: float, q: float, directed: bool) -> None:
    walks = walks_on(edges, p=p, q=q, directed=directed, walks_per_node=400, walk_length=30)
    least, tests = least_p_value(walks, plain_graph(edges, directed), p, q)
    assert tests >= 5
    assert least > 0.001 / tests


def test_steps_that_are_nearly_always_refused_have_the_right_chances_too() -> None:
    p, q = 1e7, 1e6
    walks = walks_on(STAR, p=p, q=q, walks_per_node=3000, walk_length=3)
    least, tests = least_p_value(walks, plain_graph(STAR, False), p, q)
    assert tests >= 3
    assert least > 0.001 / tests


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("edges", [EQUAL, WEIGHTED, STAR], ids=["equal", "weighted", "star"])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (1e7, 1e6)])
def test_walks_drawn_in_numpy_are_those_drawn_in_c(edges: WeightedEdges, p: float, q: float, directed: bool) -> None:
    drawn = []
    for way in WAYS:
        with functions_run(way):
            drawn.append(list(walks_on(edges, p=p, q=q, directed=directed, walks_per_node=20, walk_length=30)))
    assert drawn[0] == drawn[1]
    assert len({tuple(walk) for walk in drawn[0]}) >= 10


def test_other_chances_are_told_apart() -> None:
    walks = walks_on(WEIGHTED, p=0.5, q=2, walks_per_node=400, walk_length=30)
    assert least_p_value(walks, plain_graph(WEIGHTED, False), 0.5, 1)[0] < 1e-9
    assert least_p_value(walks, plain_graph(EQUAL, False), 0.5, 2)[0] < 1e-9


def test_an_edge_that_is_given_twice_counts_twice() -> None:
    walks = RandomWalks([(1, 2), (1, 2), (1, 3)], walks_per_node=2000, walk_length=2)
    doubled: WeightedEdges = [(1, 2, 2.0), (1, 3, 1.0)]
    assert least_p_value(walks, plain_graph(doubled, False), 1, 1)[0] > 0.001


def test_each_node_begins_as_many_walks_in_an_order_that_changes() -> None:
    walks = list(RandomWalks([(node, node + 1) for node in range(50)], walks_per_node=3, walk_length=4))
    begins = [walk[0] for walk in walks]
    assert Counter(begins) == dict.fromkeys(range(51), 3)
    rounds = [begins[start : start + 51] for start in (0, 51, 102)]
    assert rounds[0] != rounds[1] != sorted(rounds[1])
    assert {len(walk) for walk in walks} == {4}


def test_walks_end_where_no_edge_leads_on() -> None:
    walks = RandomWalks([("a", "b"), ("b", "c")], directed=True, walks_per_node=1, walk_length=5)
    assert sorted(walks) == [["a", "b", "c"], ["b", "c"], ["c"]]


@pytest.mark.parametrize("settings", [{}, {"p": 0.5, "q": 2}])
def test_all_passes_and_any_number_of_threads_yield_the_same_walks(
    settings: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random_walks, "_NODES_AT_ONCE", 100)
    walks = RandomWalks(PAIRS, walk_length=9, workers=1, **settings)
    first = list(walks)
    assert len(first) == len(walks) == 60
    assert list(walks) == first
    assert list(RandomWalks(PAIRS, walk_length=9, workers=3, **settings)) == first
    assert list(RandomWalks(PAIRS, walk_length=9, seed=2, **settings)) != first


def threads_that_draw() -> list[str]:
    """Return the names of the threads that draw walks."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("random-walks")]


def test_a_pass_that_is_not_finished_ends_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_walks, "_NODES_AT_ONCE", 10)
    walks = iter(RandomWalks(PAIRS, walks_per_node=1000, walk_length=9, workers=2))
    assert len(next(walks)) == 9
    assert threads_that_draw()
    walks.close()  # type: ignore[attr-defined]
    assert threads_that_draw() == []


@pytest.mark.parametrize("pairs", [PAIRS, [(f"n{first}", f"n{second}") for first, second in PAIRS]])
def test_a_model_of_walks_is_that_of_the_same_sentences(pairs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_walks, "_NODES_AT_ONCE", 50)
    walks = RandomWalks(pairs, walk_length=9)
    model = TFWord2Vec(walks, **SMALL)
    assert_equal_models(model, TFWord2Vec(list(walks), **SMALL))
    assert sorted(model.wv.index_to_key) == sorted(walks.nodes)
    gensims = Word2Vec(walks, **SMALL)
    assert gensims.wv.index_to_key == model.wv.index_to_key


def test_steps_of_a_large_graph_follow_its_edges() -> None:
    random = np.random.default_rng(1)
    pairs = random.integers(0, 2000, (20_000, 2))
    edges = {(int(first), int(second)) for first, second in pairs}
    walks = RandomWalks(pairs, walks_per_node=1, walk_length=20, p=0.5, q=2, directed=True)
    assert {step for walk in walks for step in pairwise(walk)} <= edges

"""Walks take steps with the chances that node2vec defines, and are the same in every pass unless drawn anew."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from support.contract import assert_equal_models
from support.native_functions import WAYS, functions_run
from support.plain_walks import WeightedEdges, least_p_value, plain_graph
from support.stopping import StopError, stop

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


# -- other walks in each pass ------------------------------------------------------------------------------------------

RESAMPLED: dict[str, Any] = {"walk_length": 9, "resample": True}


@pytest.fixture
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have walks drawn some nodes at a time, by several calls."""
    monkeypatch.setattr(random_walks, "_NODES_AT_ONCE", 100)


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize("settings", [{}, {"p": 0.5, "q": 2}])
def test_each_pass_draws_other_walks_and_the_first_one_the_usual_ones(settings: dict[str, float]) -> None:
    walks = RandomWalks(PAIRS, **RESAMPLED, **settings)
    assert (walks.repeats, walks.passes) == (False, 0)
    passes = [list(walks) for _ in range(4)]
    assert walks.passes == 4
    assert passes[0] == list(RandomWalks(PAIRS, walk_length=9, **settings))
    for number, drawn in enumerate(passes):
        assert Counter(walk[0] for walk in drawn) == dict.fromkeys(range(1, 7), 10)
        for other in passes[:number]:
            # Not even the order of their beginnings is that of another pass.
            assert [walk[0] for walk in drawn] != [walk[0] for walk in other]
            assert sorted(drawn) != sorted(other)
    again = RandomWalks(PAIRS, workers=3, **RESAMPLED, **settings)
    assert [list(again) for _ in range(4)] == passes
    assert [list(again.of_pass(number)) for number in (2, 2, 0)] == [passes[2], passes[2], passes[0]]
    again.passes = 1
    assert list(again) == passes[1]


def test_walks_of_later_passes_have_the_chances_of_node2vec() -> None:
    walks = walks_on(WEIGHTED, p=0.25, q=4, walks_per_node=400, walk_length=30, resample=True)
    for number in (1, 7):
        least, tests = least_p_value(walks.of_pass(number), plain_graph(WEIGHTED, False), 0.25, 4)
        assert least > 0.001 / tests


def listed(numbers: list[int]) -> Any:
    """Return an iterable of the walks of one pass after the other."""
    passes = iter([list(RandomWalks(PAIRS, **RESAMPLED).of_pass(number)) for number in numbers])
    return type("Listed", (), {"__iter__": lambda _: iter(next(passes))})()


@pytest.mark.parametrize(
    ("settings", "first", "second"),
    [
        pytest.param({}, [0, 1, 2], [3, 4, 5], id="plain"),
        # Sentences are held out from the pass that the first epoch trains.
        pytest.param({"validation": 0.2}, [0, 1, 1, 2], [3, 3, 4, 5], id="validated"),
    ],
)
def test_each_epoch_trains_other_walks(settings: dict[str, Any], first: list[int], second: list[int]) -> None:
    walks = RandomWalks(PAIRS, **RESAMPLED)
    model = TFWord2Vec(walks, **SMALL, **settings)
    model.train(walks, total_examples=60, epochs=3)
    expected = TFWord2Vec(listed(first), cache_memory=0, **SMALL, **settings)
    expected.train(listed(second), total_examples=60, epochs=3)
    assert_equal_models(model, expected)
    assert walks.passes == 6


def test_gensims_class_sees_other_walks_in_each_pass() -> None:
    model, expected = Word2Vec(RandomWalks(PAIRS, **RESAMPLED), **SMALL), Word2Vec(listed([0, 1, 2]), **SMALL)
    np.testing.assert_array_equal(model.wv.vectors, expected.wv.vectors)


class Stopping(RandomWalks):
    """Walks that end a training in the midst of a pass."""

    def _draw(self, number: int, begins: Any) -> Any:
        if (self.passes, number) == (2, 3):
            stop()
        return super()._draw(number, begins)


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize("settings", [{}, {"validation": 0.2}], ids=str)
@pytest.mark.parametrize("begun", [lambda walks: walks, lambda _: RandomWalks(PAIRS, **RESAMPLED)], ids=["same", "new"])
def test_a_training_on_other_walks_resumes_in_the_midst_of_a_pass(
    begun: Callable[[RandomWalks], RandomWalks], settings: dict[str, Any], tmp_path: Path
) -> None:
    arguments = SMALL | settings | {"epochs": 4, "batch_words": 50}
    walks = Stopping(PAIRS, **RESAMPLED)
    model = TFWord2Vec(**arguments, checkpoint_dir=tmp_path, checkpoint_every="50 words")
    model.build_vocab(walks)
    with pytest.raises(StopError):
        model.train(walks, total_examples=60, epochs=4)
    walks.__class__ = RandomWalks  # which does not stop
    resumed = TFWord2Vec.resume(tmp_path, begun(walks))
    assert_equal_models(resumed, TFWord2Vec(RandomWalks(PAIRS, **RESAMPLED), **arguments))

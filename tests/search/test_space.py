"""Candidates: the defaults and others, each choice about as often as the others, and only what can be compared."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import pytest

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.search.metrics import NAMES, metric_of
from gensim_tfw2v.search.space import SETTABLE, default_candidate, dimensions_for, draw_candidates, first_candidate

DEFAULTS = {name: parameter.default for name, parameter in inspect.signature(TFWord2Vec).parameters.items()}


def test_a_search_for_items_begins_from_settings_of_items() -> None:
    dimensions = dimensions_for(metric_of("hits@10"), {"window": [7]}, items=True)
    first = first_candidate(dimensions)
    expected = {"sg": 1, "window": 7, "shrink_windows": False, "hs": 0, "negative": 15, "ns_exponent": 0.25}
    assert first == expected | {"sample": 0, "alpha": 0.025, "optimizer": "adagrad", "min_count": 1}
    candidates = draw_candidates(dimensions, first, 27, seed=1)
    assert candidates[0] == first
    assert {candidate["optimizer"] for candidate in candidates} == {"adagrad", "sgd"}


def candidates_of(metric: str, count: int, seed: int = 1, **own: list[Any]) -> list[dict[str, Any]]:
    dimensions = dimensions_for(metric_of(metric), own)
    return draw_candidates(dimensions, default_candidate(dimensions, DEFAULTS), count, seed)


@pytest.mark.parametrize("metric", NAMES)
def test_the_first_candidate_has_the_defaults(metric: str) -> None:
    first = candidates_of(metric, 27)[0]
    assert first == {name: DEFAULTS[name] for name in first}


def test_one_candidate_is_the_first() -> None:
    assert len(candidates_of("halves", 1)) == 1


@pytest.mark.parametrize("metric", NAMES)
def test_candidates_differ_and_follow_from_the_seed(metric: str) -> None:
    found = candidates_of(metric, 27)
    assert len({str(candidate) for candidate in found}) == 27
    assert found == candidates_of(metric, 27)
    assert found != candidates_of(metric, 27, seed=2)


def test_each_value_is_tried_about_as_often_as_the_others() -> None:
    found = candidates_of("halves", 28)[1:]
    for name in ("sg", "window", "ns_exponent", "sample", "alpha", "optimizer", "shrink_windows"):
        counts = Counter(candidate[name] for candidate in found)
        assert max(counts.values()) - min(counts.values()) <= 1, (name, counts)


def test_a_small_space_is_tried_completely() -> None:
    own = {name: [DEFAULTS[name]] for name in ("ns_exponent", "sample", "alpha", "optimizer", "shrink_windows", "sg")}
    found = candidates_of("hits@10", 27, **own, negative=[5, 10], window=[5, 10, 20])
    assert sorted((candidate["negative"], candidate["window"]) for candidate in found) == [
        (negative, window) for negative in (5, 10) for window in (5, 10, 20)
    ]


def test_a_value_that_is_named_twice_is_tried_once() -> None:
    own = {name: [DEFAULTS[name]] for name in ("ns_exponent", "sample", "alpha", "optimizer", "shrink_windows", "sg")}
    found = candidates_of("hits@10", 5, **own, negative=[5], window=[5, 10, 5, 10, 5, 10])
    assert [candidate["window"] for candidate in found] == [5, 10]


def test_own_values_replace_the_usual_ones() -> None:
    found = candidates_of("halves", 27, window=[3, 4], hs=[1], vector_size=[50])
    assert {candidate["window"] for candidate in found} == {3, 4}
    assert {candidate["hs"] for candidate in found} == {1}
    assert {candidate["vector_size"] for candidate in found} == {50}
    assert not any("negative" in candidate for candidate in found)  # it belongs to hs


def test_only_negative_sampling_is_tried_where_output_vectors_are_measured() -> None:
    assert {candidate["hs"] for candidate in candidates_of("ndcg@10", 27)} == {0}
    with_tree = [candidate for candidate in candidates_of("score", 27) if candidate["hs"]]
    assert with_tree
    assert {candidate["negative"] for candidate in with_tree} == {0}


def test_the_loss_is_compared_only_where_it_measures_the_same() -> None:
    names = {"shrink_windows", "sample", "alpha", "optimizer"}
    assert [set(candidate) for candidate in candidates_of("loss", 5)] == [names] * 5
    assert {candidate["window"] for candidate in candidates_of("loss", 5, window=[9])} == {9}


def test_a_function_that_is_called_loss_compares_everything() -> None:
    def loss(model: Any) -> float:
        return 0.0

    dimensions = dimensions_for(metric_of(loss), {"negative": [5, 10]})
    assert {"sg", "window", "ns_exponent"} <= default_candidate(dimensions, DEFAULTS).keys()


def test_every_setting_is_an_argument() -> None:
    assert set(SETTABLE) <= DEFAULTS.keys()

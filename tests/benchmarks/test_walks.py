"""The comparison on random walks: its graphs, walks and scores, its table, and a small run of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import walks
from gensim.models import KeyedVectors
from measuring import graphs
from measuring.gensim_systems import corpus_of
from measuring.jobs import Job
from support.benchmark_commands import run_command

NODES = 300


@pytest.fixture(scope="module")
def graph() -> graphs.Graph:
    return graphs.make_graph(NODES, np.random.default_rng(1))


@pytest.fixture(scope="module")
def hubs() -> graphs.Graph:
    return graphs.make_graph(NODES, np.random.default_rng(1), hubs=True)


def joined(graph: graphs.Graph) -> set[tuple[int, int]]:
    """Return all pairs of neighbours, in both directions."""
    first = np.repeat(np.arange(NODES), np.diff(graph.starts))
    return set(zip(first.tolist(), graph.neighbours.tolist(), strict=True))


def test_edges_have_both_directions_and_none_is_hidden_or_between_strangers(graph: graphs.Graph) -> None:
    edges = joined(graph)
    assert all((second, first) in edges for first, second in edges)
    hidden, strangers = (set(map(tuple, pairs.tolist())) for pairs in (graph.hidden, graph.strangers))
    assert len(hidden) == len(strangers) > NODES / 10
    assert not hidden & edges and not strangers & edges and not hidden & strangers


@pytest.mark.parametrize("kind", ["graph", "hubs"])
def test_more_edges_stay_in_a_community_than_chance_would_leave_there(
    kind: str, request: pytest.FixtureRequest
) -> None:
    graph = request.getfixturevalue(kind)
    own = [graph.communities[first] == graph.communities[second] for first, second in joined(graph)]
    assert np.mean(own) > 1.2 / len(np.unique(graph.communities))


def test_degrees_of_hubs_fall_as_zipfs_law_says(hubs: graphs.Graph) -> None:
    degrees = np.sort(np.diff(hubs.starts))[::-1]
    for rank in (2, 10, 50):
        assert 0.5 < degrees[rank - 1] * rank / degrees[0] < 2


def test_degrees_without_hubs_are_much_more_even(graph: graphs.Graph, hubs: graphs.Graph) -> None:
    shares = [np.diff(one.starts).max() / len(one.neighbours) for one in (graph, hubs)]
    assert shares[0] < 0.03 < 0.06 < shares[1]


def test_a_graph_with_hubs_hides_edges_and_has_strangers_too(hubs: graphs.Graph) -> None:
    edges = joined(hubs)
    hidden, strangers = (set(map(tuple, pairs.tolist())) for pairs in (hubs.hidden, hubs.strangers))
    assert len(hidden) == len(strangers) > NODES / 10
    assert not hidden & edges and not strangers & edges and not hidden & strangers


def test_an_edge_that_is_drawn_more_than_once_is_as_often_among_both_nodes_neighbours(hubs: graphs.Graph) -> None:
    first = np.repeat(np.arange(NODES), np.diff(hubs.starts))
    times = np.zeros((NODES, NODES), int)
    np.add.at(times, (first, hubs.neighbours), 1)
    assert times.max() > 1
    np.testing.assert_array_equal(times, times.T)


def test_a_seed_gives_the_same_graph_with_hubs_again(hubs: graphs.Graph) -> None:
    again = graphs.make_graph(NODES, np.random.default_rng(1), hubs=True)
    np.testing.assert_array_equal(again.neighbours, hubs.neighbours)
    np.testing.assert_array_equal(again.hidden, hubs.hidden)


def test_a_graph_with_hubs_is_named_so() -> None:
    assert [str(size) for size in walks.SIZES if size.hubs] == ["5,000 nodes with hubs, 4,000,000 tokens"]


def test_walks_go_along_edges_and_begin_at_all_nodes(graph: graphs.Graph) -> None:
    found = graphs.random_walks(graph, NODES * graphs.WALK_LENGTH, np.random.default_rng(2))
    assert found.shape == (NODES, graphs.WALK_LENGTH)
    assert sorted(found[:, 0].tolist()) == list(range(NODES))
    steps = set(zip(found[:, :-1].reshape(-1).tolist(), found[:, 1:].reshape(-1).tolist(), strict=True))
    assert steps <= joined(graph)


def test_a_graph_and_its_walks_are_read_as_they_were_written(graph: graphs.Graph, tmp_path: Path) -> None:
    found = graphs.random_walks(graph, 8_000, np.random.default_rng(2))
    graphs.write_walks(found, tmp_path / "walks.txt")
    assert [[int(node) for node in line.split()] for line in (tmp_path / "walks.txt").open()] == found.tolist()
    graphs.write_graph(graph, tmp_path / "walks.npz")
    again = graphs.read_graph(tmp_path / "walks.npz")
    np.testing.assert_array_equal(again.neighbours, graph.neighbours)
    np.testing.assert_array_equal(again.hidden, graph.hidden)


def vectors_of(numbers: np.ndarray) -> KeyedVectors:
    """Return vectors of nodes in another order than that of their numbers."""
    found = KeyedVectors(numbers.shape[1])
    order = np.random.default_rng(3).permutation(NODES)
    found.add_vectors([str(node) for node in order], numbers[order].astype(np.float32))
    return found


def test_vectors_that_are_communities_score_best_and_random_ones_as_chance(graph: graphs.Graph) -> None:
    count = len(np.unique(graph.communities))
    best = graphs.scores_of_nodes(vectors_of(np.eye(count)[graph.communities]), graph)
    chance = graphs.scores_of_nodes(vectors_of(np.random.default_rng(4).normal(size=(NODES, 8))), graph)
    assert best["communities"] == pytest.approx(100)
    assert chance["communities"] < 100 / count + 15
    assert best["links"] > 55
    assert 40 < chance["links"] < 60


def test_nodes_that_are_ints_score_as_those_that_are_strings(graph: graphs.Graph) -> None:
    numbers = np.random.default_rng(4).normal(size=(NODES, 8))
    strings = vectors_of(numbers)
    ints = KeyedVectors(8)
    ints.add_vectors([int(node) for node in strings.index_to_key], strings.vectors)
    assert graphs.scores_of_nodes(ints, graph) == graphs.scores_of_nodes(strings, graph)


def test_walks_are_given_as_a_file_as_strings_or_as_ints(tmp_path: Path) -> None:
    path = tmp_path / "walks.txt"
    graphs.write_walks(np.array([[0, 12], [12, 3]]), path)
    for given, expected in (("iterable", [["0", "12"], ["12", "3"]]), ("numbers", [[0, 12], [12, 3]])):
        assert corpus_of(Job("gensim", str(path), input=given)) == {"corpus_iterable": expected}
    assert corpus_of(Job("gensim", str(path))) == {"corpus_file": str(path)}


def test_nodes_without_a_vector_count_as_zeros(graph: graphs.Graph) -> None:
    vectors = KeyedVectors(2)
    vectors.add_vectors(["0", "1"], np.ones((2, 2), np.float32))
    assert graphs.scores_of_nodes(vectors, graph)["links"] == pytest.approx(50, abs=1)


def a_run(system: str, turn: int, speed: float, seconds: float, **others: Any) -> dict[str, Any]:
    """Return a made-up run."""
    return {
        "corpus": "4000.txt",
        "mode": "sg-neg",
        "system": system,
        "revision": "here",
        "optimizer": None,
        "round": turn,
        "started_words_per_second": speed,
        "build_vocab_seconds": 1.0,
        "train_seconds": seconds - 1.0,
        "scores": {"communities": 80.0 + turn, "links": 90.0},
        "finite": True,
        **others,
    }


def test_the_table_has_ratios_to_gensim_of_the_same_mode_and_graph() -> None:
    runs = [
        a_run("tfw2v", 0, 600.0, 5.0),
        a_run("gensim", 0, 100.0, 20.0),
        a_run("gensim", 1, 200.0, 10.0),
        a_run("tfw2v", 1, 1000.0, 4.0),
        a_run("gensim", 0, 1.0, 1.0, mode="cbow-neg"),
    ]
    heading, ours, gensims, other = walks.table_of(runs)
    shown = dict(zip(heading, ours, strict=True))
    assert [row[:4] for row in (ours, gensims)] == [["4,000", "sg-neg", name, "2"] for name in ("tfw2v", "gensim")]
    assert ours[heading.index("words/s") + 1] == "5.33 (5.00 to 6.00)"
    assert ours[heading.index("seconds") + 1] == "3.33 (2.50 to 4.00)"
    assert (shown["communities"], shown["links"]) == ("80.50 ± 0.71", "90.00 ± 0.00")
    assert other[heading.index("words/s") + 1] == "1.00 (1.00 to 1.00)"


def test_optimizers_have_a_row_each_beside_the_same_run_of_gensim() -> None:
    runs = [a_run("tfw2v", 0, speed, 5.0, optimizer=name) for name, speed in (("sgd", 600.0), ("adagrad", 500.0))]
    heading, *ours, _ = walks.table_of([*runs, a_run("gensim", 0, 100.0, 20.0)])
    speeds = {row[2]: row[heading.index("words/s") + 1] for row in ours}
    assert speeds == {"tfw2v sgd": "6.00 (6.00 to 6.00)", "tfw2v adagrad": "5.00 (5.00 to 5.00)"}


def test_a_system_without_gensim_beside_it_has_no_ratios() -> None:
    heading, ours = walks.table_of([a_run("tfw2v", 0, 600.0, 5.0, scores=None)])
    assert ours[heading.index("words/s") + 1] == ours[heading.index("seconds") + 1] == "-"
    assert ours[heading.index("links")] == "-"


@pytest.mark.slow
def test_a_quick_run_measures_both_classes_and_keeps_the_walks(tmp_path: Path) -> None:
    small = ("--quick", "--modes", "cbow-neg", "--epochs", 2, "--vector-size", 16, "--workers", 1)
    done = run_command("walks.py", *small, "--keep", tmp_path / "kept", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "walks.json").read_text())["runs"]
    assert [run["system"] for run in runs] == ["tfw2v", "gensim"]
    assert all(run["scores"]["links"] > 50 and run["finite"] for run in runs)
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"500.txt", "500.npz"}
    assert "| 500   | cbow-neg | tfw2v  |" in (tmp_path / "walks.md").read_text()

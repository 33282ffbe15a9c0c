"""Edges are read from files, arrays, pairs and sparse matrices."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from support.error_table import TableRow, rows_of_tables

from gensim_tfw2v import RandomWalks
from gensim_tfw2v.walks.edges import Edges, edges_of
from gensim_tfw2v.walks.graph import Graph


def triples(edges: Edges) -> list[tuple[Any, Any, float]]:
    """Return both nodes and the weight of each edge."""
    weights = edges.weights.tolist() or [1.0] * len(edges.first)
    ends = ([edges.nodes[node] for node in side.tolist()] for side in (edges.first, edges.second))
    return list(zip(*ends, weights, strict=True))


@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz"])
def test_a_file_has_two_nodes_a_line_between_white_space(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"edges{suffix}"
    text = "# nodes: 3\n#from\tto\nb\ta\r\n\na   é\n1 b".encode()
    path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    found = edges_of(path)
    assert triples(found) == [("b", "a", 1), ("a", "é", 1), ("1", "b", 1)]
    assert found.nodes == ["b", "a", "é", "1"]


def test_a_third_column_has_weights_which_may_look_like_nodes(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("1 2 2\n2 3 0.5\n3 0.5 1e2\n")
    found = edges_of(path)
    assert triples(found) == [("1", "2", 2), ("2", "3", 0.5), ("3", "0.5", 100)]
    assert found.nodes == ["1", "2", "3", "0.5"]


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint64, list, "large", "negative", str])
def test_pairs_may_be_numbers_or_text(kind: Any) -> None:
    plain = [(3, 9), (9, 4), (3, 3)]
    if kind == "large":
        plain = [(10**12, 5), (5, 7)]
    elif kind == "negative":
        plain = [(-1, 5), (5, 7)]
    pairs: Any = plain
    if kind is str:
        pairs = plain = [("c", "i"), ("i", "d")]  # type: ignore[list-item]
    elif kind in (np.int32, np.int64, np.uint64):
        pairs = np.array(plain, kind)
    found = edges_of(pairs)
    assert triples(found) == [(*pair, 1) for pair in plain]
    assert found.nodes == sorted({node for pair in plain for node in pair})
    assert {type(node) for node in found.nodes} == {str if kind is str else int}
    assert triples(edges_of(iter(plain))) == triples(found)


def test_a_matrix_has_the_weights_of_edges_and_all_nodes() -> None:
    found = edges_of(csr_matrix(np.array([[0, 2, 0], [0, 0, 1], [0, 0, 0]])))
    assert triples(found) == [(0, 1, 2), (1, 2, 1)]
    assert found.nodes == [0, 1, 2]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_has_the_neighbours_of_each_node_in_order(directed: bool, weighted: bool) -> None:
    random = np.random.default_rng(2)
    pairs = random.integers(0, 30, (200, 2))
    weights = random.random(200).astype(np.float32) + 0.5
    found = edges_of(pairs, weights if weighted else None)
    graph = Graph.of(found, directed)
    expected: list[list[tuple[int, float]]] = [[] for _ in found.nodes]
    for first, second, weight in zip(found.first.tolist(), found.second.tolist(), weights, strict=True):
        expected[first].append((second, weight))
        if not directed and first != second:
            expected[second].append((first, weight))
    assert len(graph.starts) == len(found.nodes) + 1
    for node, neighbours in enumerate(expected):
        places = slice(graph.starts[node], graph.starts[node + 1])
        assert graph.neighbours[places].tolist() == sorted(neighbour for neighbour, _ in neighbours)
        if weighted and neighbours:
            of_neighbours = np.diff(graph.ends[places], prepend=0)
            for neighbour in {neighbour for neighbour, _ in neighbours}:
                own = of_neighbours[graph.neighbours[places] == neighbour]
                assert own.sum() == pytest.approx(sum(weight for other, weight in neighbours if other == neighbour))
        elif not weighted:
            assert not graph.ends.size


ERRORS = [row for row in rows_of_tables() if row.table == "Edges of graphs"]


@pytest.mark.parametrize("row", ERRORS, ids=[row.code for row in ERRORS])
def test_edges_that_cannot_be_read_are_named(row: TableRow, scratch: Path) -> None:
    for name, text in {
        "empty.txt": "",
        "comments.txt": "# a b\n",
        "four columns.txt": "a b 1 2\n",
        "some weights.txt": "a b 1\nb c\n",
        "no weight.txt": "a b heavy\n",
        "weight of 0.txt": "a b 0\n",
        "weighted.txt": "a b 1\n",
    }.items():
        (scratch / name).write_text(("# comment\n" if name == "four columns.txt" else "") + text)
    with pytest.raises(row.error) as caught:
        eval(row.code, {"RandomWalks": RandomWalks})
    assert row.missing_in(str(caught.value)) == []

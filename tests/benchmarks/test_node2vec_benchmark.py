"""The comparison with PecanPy: its files of edges, its score and table, and a small run of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import node2vec
import numpy as np
import pytest
from measuring import graphs
from support.benchmark_commands import run_command


def test_a_file_of_edges_has_each_edge_once_and_none_from_a_node_to_itself(tmp_path: Path) -> None:
    starts, neighbours = np.array([0, 2, 3, 4, 5]), np.array([1, 2, 0, 0, 3])  # 0 with 1 and 2, and 3 alone
    edges = graphs.pairs_in(starts, neighbours)
    assert edges.tolist() == [[0, 1], [0, 2]]
    graphs.write_edges(edges, tmp_path / "edges.tsv")
    assert (tmp_path / "edges.tsv").read_text() == "0\t1\n0\t2\n"


@pytest.fixture
def one_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have classifiers learn from one choice of nodes alone."""
    monkeypatch.setattr(graphs, "_SCORED_NODES", 1)


def test_labels_that_vectors_show_are_predicted_whatever_the_order_of_nodes(one_choice: None) -> None:
    labels = np.repeat([0, 1, 2], 40)
    nodes = np.random.default_rng(1).permutation(len(labels))
    vectors = 5 * np.eye(3)[labels[nodes]]
    assert graphs.f1_of_nodes([str(node) for node in nodes], vectors, labels) == 1


def test_the_f1_of_labels_is_averaged_over_labels_and_nodes_without_vectors_count(one_choice: None) -> None:
    labels = np.repeat([0, 1], [180, 20])
    known = np.flatnonzero(labels == 0)  # the others have the zero vector, which tells them apart
    vectors = np.tile([1.0, 0.0], (len(known), 1))
    assert graphs.f1_of_nodes([str(node) for node in known], vectors, labels) == 1
    same = np.ones((len(labels), 2))  # nothing tells labels apart, so that the frequent one is predicted
    found = graphs.f1_of_nodes([str(node) for node in range(len(labels))], same, labels)
    assert found == pytest.approx(np.mean([2 * 0.9 / 1.9, 0]), abs=0.02)


def record(system: str, turn: int, start: float, seconds: float, f1: float) -> dict[str, Any]:
    of_graph = {"graph": "digits", "nodes": 1797, "edges": 5000}
    result = {"start_seconds": start, "seconds": seconds, "f1": f1, "peak_rss_bytes": 5e8}
    return {**of_graph, "system": system, "round": turn, **result}


def test_rows_of_the_table_have_ratios_of_pecanpys_seconds_with_and_without_the_start() -> None:
    runs = [record("tfw2v", 0, 5, 10, 0.5), record("pecanpy", 0, 15, 45, 0.5), record("tfw2v", 1, 5, 10, 0.6)]
    heading, ours, pecanpys = node2vec.table_of(runs)
    row = dict(zip(heading, ours, strict=True))
    assert (row["nodes"], row["runs"], row["seconds"], row["start s"]) == ("1,797", "2", "10.0 (10.0 to 10.0)", "5.0")
    assert row["ratio"] == "4.50 (4.50 to 4.50)"
    assert row["ratio with start"] == "4.00 (4.00 to 4.00)"
    assert row["macro-F1"] == "55.00 ± 7.07"
    assert dict(zip(heading, pecanpys, strict=True))["ratio"] == "1.00 (1.00 to 1.00)"


def test_an_environment_that_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(node2vec.subprocess, "run")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    assert node2vec.environment_in(tmp_path) == python


@pytest.mark.slow
def test_a_small_run_measures_the_package_alone(tmp_path: Path) -> None:
    options = ["--systems", "tfw2v", "--graphs", "communities", "--nodes", "400", "--walks-per-node", "2"]
    done = run_command("node2vec.py", *options, "--vector-size", "16", "--workers", "1", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((tmp_path / "node2vec.json").read_text())["runs"]
    assert run["seconds"] > 0
    assert 0 < run["f1"] <= 1
    assert "tensorflow" in run["versions"]

"""The large graph: its edges join all nodes, and a small one is walked on."""

from __future__ import annotations

from pathlib import Path

import large_graph
import numpy as np
import pytest
from support.benchmark_commands import run_command


def test_edges_join_all_nodes_and_none_with_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow, which the extra `test` installs")
    monkeypatch.setattr(large_graph, "_EDGES_AT_ONCE", 7)
    large_graph.write_random_edges(5, 20, tmp_path / "edges.tsv")
    lines = (tmp_path / "edges.tsv").read_text().splitlines()
    edges = np.array([[int(node) for node in line.split("\t")] for line in lines])
    assert edges.shape == (20, 2)
    assert set(edges[:, 0]) == set(range(5))
    assert edges.max() < 5
    assert (edges[:, 0] != edges[:, 1]).all()


@pytest.mark.slow
def test_a_small_graph_is_walked_on(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow, which the extra `test` installs")
    done = run_command("large_graph.py", "--nodes", "100", "--edges", "500", "--folder", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "100 walks with 2,000 nodes, on a graph of 100" in done.stdout
    assert "GB resident" in done.stdout

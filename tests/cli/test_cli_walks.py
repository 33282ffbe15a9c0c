"""`tfw2v walks` and `tfw2v train --edges`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.command_line import error_of, run, train

from gensim_tfw2v import RandomWalks, TFWord2Vec

SETTINGS = ["--walks-per-node", 3, "--walk-length", 7, "--p", 0.5, "--q", 2, "--seed", 5]


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    """Write a list of edges."""
    path = tmp_path / "edges.tsv"
    path.write_text("a\tb\nb\tc\nc\ta\nc\td\n")
    return path


def test_walks_are_written_a_line_each(edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "walks.txt"
    assert run("walks", edges, "-o", output, *SETTINGS) == 0
    assert capsys.readouterr().out == f"{output}: 12 walks with 84 nodes, on a graph of 4\n"
    expected = list(RandomWalks(edges, walks_per_node=3, walk_length=7, p=0.5, q=2, seed=5))
    assert [line.split() for line in output.read_text().splitlines()] == expected
    assert run("walks", edges, "-o", output) == 2
    assert "there already" in error_of(capsys)
    assert run("walks", edges, "-o", output, "--directed", "--force", "--quiet") == 0
    assert {line for line in output.read_text().splitlines() if line.startswith("d")} == {"d"}


def test_a_command_trains_on_walks_without_a_file_of_them(edges: Path, tmp_path: Path) -> None:
    output = tmp_path / "nodes.kv"
    assert train(edges, output, "--edges", *SETTINGS, "--sg", "--sample", 0) == 0
    vectors = KeyedVectors.load(str(output))
    walks = [node for walk in RandomWalks(edges, walks_per_node=3, walk_length=7, p=0.5, q=2, seed=5) for node in walk]
    assert {node: vectors.get_vecattr(node, "count") for node in "abcd"} == {node: walks.count(node) for node in "abcd"}


def test_a_command_trains_on_other_walks_in_each_epoch(edges: Path, tmp_path: Path) -> None:
    output, expected = tmp_path / "nodes.kv", tmp_path / "expected.kv"
    settings = ["--sg", "--sample", 0, "--epochs", 2, "--workers", 1]
    assert train(edges, output, "--edges", "--resample", *SETTINGS, *settings) == 0
    walks = RandomWalks(edges, walks_per_node=3, walk_length=7, p=0.5, q=2, seed=5, resample=True)
    model = TFWord2Vec(walks, sg=1, sample=0, epochs=2, workers=1, seed=5, vector_size=8, min_count=1)
    np.testing.assert_array_equal(KeyedVectors.load(str(output)).vectors, model.wv.vectors)
    assert train(edges, expected, "--edges", *SETTINGS, *settings) == 0
    assert (KeyedVectors.load(str(expected)).vectors != model.wv.vectors).any()


def test_wrong_edges_and_flags_are_errors_of_one_line(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "nodes.kv"
    assert train(edges, output, "--q", 2) == 2
    assert "--q needs --edges" in error_of(capsys)
    assert train(edges, output, "--resample") == 2
    assert "--resample needs --edges" in error_of(capsys)
    assert train(tmp_path, output, "--edges") == 2
    assert "is a folder" in error_of(capsys)
    assert run("walks", tmp_path / "missing.tsv", "-o", output) == 2
    assert "is not there" in error_of(capsys)
    assert run("walks", edges, "-o", edges, "--force") == 2
    assert "is the corpus itself" in error_of(capsys)
    edges.write_text("a b c d\n")
    for arguments in (["walks", edges, "-o", output], ["train", edges, "-o", output, "--edges", "--quiet"]):
        assert run(*arguments) == 1
        assert "4 columns" in error_of(capsys)

"""The benchmark of documents: how it cuts and scores them, and a small run of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import documents
import numpy as np
import pytest
from support.benchmark_commands import corpus_in, run_command


def test_documents_are_consecutive_parts_of_a_corpus(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("a b c\nd e\nf g h\n", encoding="utf8")
    found = documents.documents_of(path, 7, 3)
    assert [(each.words, each.tags) for each in found] == [(["a", "b", "c"], [0]), (["d", "e", "f"], [1]), (["g"], [2])]


@pytest.mark.parametrize("at_once", [3, 2048])
def test_scores_are_percents_of_documents(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "AT_ONCE", at_once)
    angles = np.linspace(0, np.pi / 2, 20)
    in_order = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert documents.neighbours(in_order) == 100
    far = in_order.copy()
    far[-1] = -far[-1]  # is next to no document
    assert documents.neighbours(far) == 100 * 18 / 19
    assert documents.found_again(in_order, 3 * in_order[::2], np.arange(0, 20, 2)) == 100
    assert documents.found_again(in_order, in_order[::2], np.arange(1, 20, 2)) == 0


def test_rows_of_the_table_are_means_of_seeds() -> None:
    of_both = {"mode": "dm", "system": "gensim", "neighbours": 10.0, "found_again": 20.0}
    runs: list[dict[str, Any]] = [
        of_both | {"words_per_second": speed, "inferred_per_second": speed / 10} for speed in (100.0, 300.0)
    ]
    (row,) = documents.table_of(runs)[1:]
    assert row[:4] == ["dm", "gensim", "2", "200 (100 to 300)"]
    assert row[4].startswith("10") and row[5] == "20 (10 to 30)" and row[6].startswith("20")


@pytest.mark.slow
def test_a_small_run_measures_both_systems(tmp_path: Path) -> None:
    options = ["--words", "4000", "--document-words", "40", "--epochs", "1", "--vector-size", "8"]
    done = run_command("documents.py", corpus_in(tmp_path), *options, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "documents.json").read_text())["runs"]
    assert len(runs) == 8
    assert all(run["words_per_second"] > 0 for run in runs)

"""`benchmarks/changing_workers.py`: a training that workers join and leave, beside undisturbed ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.benchmark_commands import corpus_in, run_command


@pytest.mark.slow
def test_every_training_has_its_periods_and_all_words(tmp_path: Path) -> None:
    small = ("--epochs", 3, "--vector-size", 8, "--output", tmp_path)
    done = run_command("changing_workers.py", corpus_in(tmp_path), *small)
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "changing_workers.json").read_text())["runs"]
    assert [run["kind"] for run in runs] == ["one", "two", "changing"]
    assert [run["raw_words"] for run in runs] == [3 * run["corpus_words"] for run in runs]
    assert [period["workers"] for run in runs[:2] for period in run["periods"]] == [1, 2]


def test_fewer_epochs_than_periods_are_refused(tmp_path: Path) -> None:
    done = run_command("changing_workers.py", corpus_in(tmp_path), "--epochs", 2)
    assert done.returncode == 2
    assert "2 is less than 3" in done.stderr

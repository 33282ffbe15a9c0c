"""The table of plans beside trainings: its arithmetic, and a training of one process."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import plan_accuracy
import pytest
from support.benchmark_commands import corpus_in, run_command

from gensim_tfw2v.planning.profiles import AVX2

RECORD: dict[str, Any] = {
    "train_seconds": 12.0,
    "peak_bytes": {"ps0": 6e8, "ps1": 7e8, "worker0": 8e8, "worker1": 7.5e8, "coordinator": 2e9},
    "report": {"bytes_per_word": 90.0},
}


def test_a_cluster_is_measured_by_its_largest_tasks() -> None:
    assert plan_accuracy.figures_of_cluster(RECORD) == {
        "seconds": 12.0,
        "MB of the worker": 800.0,
        "MB of the server": 700.0,
        "bytes a word": 90.0,
    }


def test_the_table_divides_what_was_planned_by_what_was_measured() -> None:
    run = {"configuration": "c", "planned": {"seconds": 3.0}, "measured": {"seconds": 4.0}}
    assert plan_accuracy.table_of([run])[1:] == [["c", "seconds", "4.0", "3.0", "0.75"]]


@pytest.mark.parametrize("configuration", plan_accuracy.CONFIGURATIONS)
def test_plans_have_the_figures_that_trainings_have(tmp_path: Path, configuration: str) -> None:
    arguments = argparse.Namespace(
        corpus=str(corpus_in(tmp_path)),
        mode="sg-neg",
        vector_size=10,
        window=5,
        negative=5,
        sample=1e-3,
        min_count=5,
        epochs=2,
    )
    planned = plan_accuracy.figures_of_plan(plan_accuracy.plan_for(configuration, arguments, AVX2))
    measured = {"seconds", "MB of the process"} if configuration == "one process" else set(
        plan_accuracy.figures_of_cluster(RECORD)
    )  # fmt: skip
    assert planned.keys() == measured
    assert all(value > 0 for value in planned.values())


@pytest.mark.slow
def test_the_command_saves_both_figures(tmp_path: Path) -> None:
    done = run_command(
        "plan_accuracy.py", corpus_in(tmp_path), "--output", tmp_path, "--profile", "avx2", "--epochs", 1,
        "--vector-size", 10, "--configurations", "one process",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((tmp_path / "plan_accuracy.json").read_text())["runs"]
    assert run["measured"].keys() == run["planned"].keys()

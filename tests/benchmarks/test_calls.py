"""What the coordinator computes for the calls of workers: its table, and the command from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import calls
import pytest
from support.benchmark_commands import corpus_in, run_command


def test_costs_are_those_of_a_thousand_words_and_of_a_call() -> None:
    cost = calls.Cost(call_blocks=4, blocks=4000, words=2_000_000, processor_seconds=0.5, seconds=10.0)
    assert cost.row() == ["4", "4,000", "250.00", "0.50", "0.2"]


@pytest.mark.slow
def test_workers_that_do_nothing_train_every_block(tmp_path: Path) -> None:
    small = ("--workers", 1, "--block-words", 150, "--call-blocks", 1, 5, "--epochs", 2)
    done = run_command("calls.py", corpus_in(tmp_path), "--output", tmp_path, *small)
    assert done.returncode == 0, done.stderr
    costs = json.loads((tmp_path / "calls.json").read_text())["costs"]
    assert [(cost["call_blocks"], cost["words"]) for cost in costs] == [(1, 3000), (5, 3000)]
    assert [cost["blocks"] for cost in costs] == [20, 20]

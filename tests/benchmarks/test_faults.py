"""The benchmark of faults: its cells, its table, what it keeps between calls, and a training that suffers some."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import faults
import many_trainings
import pytest
from fault_injection.cells import Cell, all_cells, errors_of, table_of
from fault_injection.cluster import _words_again
from support.benchmark_commands import corpus_in, run_command


def a_run(fault: str, victim: str = "", mean: float | None = 20.0, **others: Any) -> dict[str, Any]:
    """Return a made-up run."""
    cell = Cell(fault, victim, 1, 2, False)
    found = {"seconds": 9.0, "recoveries": 1, "words_again": 50.0, "scores": {"mean": mean}, "tables_left": 0}
    return {**vars(cell), "kind": cell.kind, "name": cell.name, **found, **others}


def column(table: list[list[str]], name: str) -> list[str]:
    """Return the cells below a heading."""
    return [row[table[0].index(name)] for row in table[1:]]


def test_every_fault_meets_every_victim_on_both_clusters_with_and_without_vectors_on_servers() -> None:
    cells = all_cells(5)
    assert len({cell.name for cell in cells}) == len(cells) == 2 * 5 + 2 * 3 * 4 * 2 + 4 * 2 * 2 * 2
    assert Cell("link", "coordinator", 2, 4, True).name in {cell.name for cell in cells}
    again = {(cell.fault, cell.victim, cell.servers) for cell in cells if cell.seed == 5}
    repeated = {(fault, victim, 1) for fault in ("kill", "stop") for victim in ("server", "coordinator")}
    assert again == repeated | {("none", "", 1), ("none", "", 2)}


def test_cells_are_chosen_by_their_names() -> None:
    assert Cell("kill", "server", 1, 2, True, 3).name == "kill-server-1+2-on-servers-seed3"
    wanted = [cell.name for cell in all_cells(1) if faults._is_wanted(cell, ["stop-all-*", "none-2*"])]
    clusters = [f"{tasks}{where}" for tasks in ("1+2", "2+4") for where in ("", "-on-servers")]
    assert sorted(wanted) == sorted([f"stop-all-{cluster}-seed1" for cluster in clusters] + ["none-2+4-seed1"])


def test_scores_are_compared_with_the_mean_of_undisturbed_runs() -> None:
    runs = [a_run("none", mean=19.0), a_run("none", mean=21.0), a_run("kill", "all"), a_run("stop", "all", mean=19.0)]
    assert column(table_of(runs, 100.0), "of undisturbed") == ["100.0%", "100.0%", "**95.0%**"]


def test_scores_are_compared_with_the_undisturbed_run_of_the_same_seed() -> None:
    runs = [a_run("none", mean=16.0, seed=1), a_run("none", mean=24.0, seed=2)]
    runs += [a_run("kill", "all", seed=1), a_run("kill", "all", mean=18.0, seed=2), a_run("stop", "all", seed=3)]
    assert column(table_of(runs, 100.0), "of its seed") == ["100.0%", "100.0%", "-"]
    assert column(table_of(runs, 100.0), "of undisturbed") == ["100.0%", "**95.0%**", "100.0%"]


def test_a_corpus_without_scores_has_a_table_too() -> None:
    assert column(table_of([a_run("none", mean=None), a_run("kill", "all", mean=None)], 100.0), "score") == ["-", "-"]


def test_an_error_is_counted_and_quoted() -> None:
    failed = {**a_run("kill", "server"), "error": "no\nanswer"}
    table = table_of([a_run("none"), a_run("kill", "server"), failed], 100.0)
    assert column(table, "without an error") == ["1", "**1**"]
    assert errors_of([a_run("none"), failed])[1:] == [["kill-server-1+2-seed1", "no / answer"]]


def test_lost_words_are_counted_over_all_processes_of_a_training() -> None:
    words = [("start", 0), ("", 40), ("start", 30), ("", 90), ("start", 90), ("", 100)]
    lines = [{"is_start": kind == "start", "words": count} for kind, count in words]
    assert _words_again(lines) == 10


def test_what_has_a_result_is_not_run_again_and_other_settings_are_refused(tmp_path: Path) -> None:
    corpus = str(corpus_in(tmp_path))
    arguments = faults._parser().parse_args([corpus, "--output", str(tmp_path)])
    cell = Cell("kill", "server", 1, 2, False)
    faults.FaultTable(arguments).keep(cell, {**a_run("kill", "server"), "seconds_in_all": 1.0})
    again = faults.FaultTable(arguments)
    assert again.has(cell)
    assert not again.has(Cell("kill", "server", 1, 2, True))
    with pytest.raises(SystemExit, match="results with another epochs; give another --name"):
        faults.FaultTable(faults._parser().parse_args([corpus, "--output", str(tmp_path), "--epochs", "9"]))


@pytest.mark.slow
def test_a_training_suffers_faults_on_plain_processes(tmp_path: Path) -> None:
    small = ("--plain", "--vector-size", 10, "--epochs", 600, "--checkpoint-every", 50_000, "--pause", 0, "--seeds", 1)
    cells = ("--cells", "kill-server-1+2-seed1", "kill-coordinator-1+2-seed1", "link-*", "--stop-seconds", 0)
    done = run_command("faults.py", corpus_in(tmp_path), "--output", tmp_path, *small, *cells)
    assert done.returncode == 0, done.stderr
    assert "cells with a link that is down are left out: --plain was given" in done.stderr
    runs = json.loads((tmp_path / "faults.json").read_text())["runs"]
    assert [(run["victims"], run["recoveries"], run["tables_left"]) for run in runs] == [
        (["ps0"], 1, 0),
        (["coordinator"], 0, 0),
    ]
    assert all(run["raw_words"] == 600 * 1500 for run in runs)


def kept(training: int, job: str, memory: int, threads: int) -> many_trainings.Kept:
    """Return what a made-up process has."""
    return many_trainings.Kept(training, job, 0, 1, memory, 10, threads)


def test_a_process_that_has_grown_is_marked() -> None:
    found = [kept(1, "ps", 100, 5), kept(1, "worker", 100, 5), kept(2, "ps", 104, 6), kept(2, "worker", 106, 7)]
    table, has_grown = many_trainings._table(found, 1, 2, recoveries=0)
    assert column(table, "ratio") == ["1.040", "**1.060**"]
    assert [row[7] for row in table[1:]] == ["6", "**7**"]
    assert has_grown
    assert not many_trainings._table(found[::2], 1, 2, recoveries=0)[1]


def test_threads_that_tensorflow_leaves_after_a_recovery_are_not_marked() -> None:
    found = [kept(1, "worker", 100, 5), kept(2, "worker", 100, 9)]
    assert not many_trainings._table(found, 1, 2, recoveries=1)[1]


@pytest.mark.slow
def test_many_trainings_are_measured_in_every_process(tmp_path: Path) -> None:
    small = ("--trainings", 2, "--look-at", 1, 2, "--recoveries", 1, "--ps", 1, "--workers", 1, "--vector-size", 10)
    done = run_command("many_trainings.py", corpus_in(tmp_path), "--output", tmp_path, *small)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads((tmp_path / "many_trainings.json").read_text())["kept"]
    assert [(one["training"], one["job"]) for one in found] == [
        (training, job) for training in (1, 2) for job in ("ps", "worker", "coordinator")
    ]
    assert all(one["memory_bytes"] > 0 and one["descriptors"] > 0 and one["threads"] > 0 for one in found)

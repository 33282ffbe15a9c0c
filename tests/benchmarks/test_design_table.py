"""The comparison of designs: what it runs, its tables, what it keeps between calls, and trainings of it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import designs
import pytest
from machines import spark_cluster
from measuring.design_cells import BOTH_MODES, ENTRANTS, SYSTEMS, Cell, Workers, cells_of, names_of
from report import pictures
from report.design_table import cost_table, design_rows, promise_table, result_table
from support.benchmark_commands import corpus_in

from gensim_tfw2v.placement.designs import DESIGNS

SPARK_PYTHON = os.environ.get("TFW2V_SPARK_PYTHON", sys.executable)


def a_run(
    name: str, workers: int, seconds: float, mode: str = "sg-neg", cores: int = 1, **others: Any
) -> dict[str, Any]:
    """Return a made-up run over 1,000 words in two epochs, of a system that reports nothing."""
    return {
        **Cell(mode, name, Workers(workers, cores), 0).label,
        "epochs": 2,
        "train_seconds": seconds,
        "seconds_in_all": seconds,
        "raw_words": 1000,
        "losses": [],
        "scores": {"mean": 20.0},
        "finite": True,
        "cpu_seconds": {f"worker{number}": 4.0 for number in range(workers)},
        "sent_bytes": {"worker0": 1000},
        "peak_bytes": {f"worker{number}": 4e6 for number in range(workers)},
        "report": None,
        **others,
    }


def column(table: list[list[str]], name: str) -> list[str]:
    """Return the cells below a heading."""
    return [row[table[0].index(name)] for row in table[1:]]


def test_every_design_of_the_class_is_described() -> None:
    assert set(DESIGNS) <= {name for name, entrant in ENTRANTS.items() if entrant.system == "tfw2v"}


def test_everything_trains_in_the_modes_that_it_takes_on_every_number_of_workers() -> None:
    cells = list(cells_of(BOTH_MODES, names_of(["downpour", "columns"], SYSTEMS), [Workers(1), Workers(4)], 1))
    assert len(cells) == len(set(cells)) == 2 * (3 + 3)  # without columns through the tree, and Spark with negatives
    assert {cell.mode for cell in cells if cell.name == "spark"} == {"sg-hs"}
    assert {cell.mode for cell in cells if cell.name == "columns"} == {"sg-neg"}


def test_designs_are_left_out_with_their_system() -> None:
    assert names_of(["downpour"], ["gensim"]) == ["gensim"]


def test_every_other_round_is_in_reverse_order() -> None:
    cells = list(cells_of(["sg-neg"], ["downpour", "gensim"], [Workers(1), Workers(4)], 2))
    assert [(cell.name, cell.workers) for cell in cells[4:]] == [(cell.name, cell.workers) for cell in cells[3::-1]]


def test_speed_is_compared_with_gensims_on_as_many_cores_and_with_the_fewest_workers() -> None:
    runs = [a_run("gensim", 1, 20.0), a_run("gensim", 4, 10.0), a_run("averaging", 1, 10.0), a_run("averaging", 4, 2.5)]
    table = result_table(design_rows(runs))
    assert column(table, "design") == ["averaging", "averaging", "gensim", "gensim"]
    assert column(table, "speed-up") == ["1.00", "4.00", "1.00", "2.00"]
    assert column(table, "times gensim") == ["2.00", "4.00", "1.00", "1.00"]


def test_workers_with_several_cores_train_what_uses_them() -> None:
    names = names_of(["downpour", "synchronous", "averaging"], SYSTEMS)
    cells = [cell for cell in cells_of(["sg-hs"], names, [Workers(10), Workers(2, 5)], 1) if cell.workers.cores > 1]
    assert [cell.name for cell in cells] == ["downpour", "averaging"]


def test_workers_with_several_cores_are_compared_by_all_of_their_cores() -> None:
    runs = [a_run("gensim", 10, 5.0), *(a_run("downpour", workers, 20.0 / workers) for workers in (1, 10))]
    rows = design_rows([a_run("downpour", 2, 2.5, cores=5), *runs])
    table = result_table(rows)
    assert column(table, "workers") == ["1", "10", "2, 5 cores each", "10"]
    assert column(table, "speed-up") == ["1.00", "10.00", "8.00", "1.00"]
    assert column(table, "times gensim") == ["-", "2.50", "2.00", "1.00"]
    assert [one.row.efficiency for one in rows] == [1.0, 1.0, 0.8, 1.0]
    # Two workers used 8 seconds of the 2 * 5 * 0.5 * 2.5 that their quotas allow.
    assert column(cost_table(rows, 0.5), "of their quota %")[2] == "64"


@pytest.mark.parametrize(("text", "workers"), [("4", Workers(4)), ("2x5", Workers(2, 5))])
def test_workers_are_given_with_or_without_their_cores(text: str, workers: Workers) -> None:
    assert designs.workers_from(text) == workers


@pytest.mark.parametrize("text", ["0", "2x0", "2x", "x5", "2x5x1", "two"])
def test_impossible_workers_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}' is neither a number of workers"):
        designs.workers_from(text)


def test_a_mode_is_compared_within_itself() -> None:
    rows = design_rows([a_run("gensim", 1, 20.0), a_run("spark", 1, 10.0, "sg-hs")])
    found = [(row.mode, row.name, row.times_gensim) for row in rows]
    assert found == [("sg-neg", "gensim", 1.0), ("sg-hs", "spark", None)]


def test_costs_are_those_of_a_worker_and_of_all_servers() -> None:
    servers = {"ps0": 1.0, "ps1": 2.0}
    run = a_run("downpour", 2, 10.0)
    table = cost_table(design_rows([{**run, "cpu_seconds": {**run["cpu_seconds"], **servers}}]), 0.5)
    assert column(table, "worker processor s") == ["4.0"]
    assert column(table, "servers processor s") == ["3.0"]
    assert column(table, "of their quota %") == ["80"]
    assert (column(table, "worker MB"), column(table, "server MB")) == (["4"], ["-"])


def test_the_quota_that_spark_used_is_that_of_its_whole_call() -> None:
    table = cost_table(design_rows([a_run("spark", 2, 8.0, "sg-hs", fit_seconds=10.0)]), 0.5)
    assert column(table, "of their quota %") == ["80"]


def test_what_a_design_promises_stands_once() -> None:
    rows = design_rows([a_run("gensim", 1, 20.0), a_run("gensim", 4, 20.0)])
    assert column(promise_table(rows), "design") == ["gensim"]


@pytest.mark.slow
def test_all_designs_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    runs = [a_run(name, workers, 1.0) for name in ENTRANTS for workers in (1, 4)] + [a_run("downpour", 2, 1.0, cores=5)]
    pictures.draw_designs(design_rows([*runs, a_run("spark", 1, 1.0, "sg-hs", scores=None)]), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def small(folder: Path, *arguments: str) -> list[str]:
    """Return the arguments of a comparison that takes no time to train."""
    sizes = ["--epochs", "1", "--vector-size", "10", "--ps", "1", "--no-scores", "--plain"]
    return [str(corpus_in(folder)), "--output", str(folder / "results"), *sizes, *arguments]


def test_a_training_with_a_result_is_not_run_again_and_one_that_failed_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran: list[tuple[str, int]] = []

    def run(self: Any, job: Any, *_: Any) -> dict[str, Any]:
        ran.append((job.system, job.workers))
        return a_run("gensim", job.workers, 1.0) if job.workers == 1 else {"error": "no\nluck", "seconds_in_all": 1.0}

    monkeypatch.setattr("machines.emulated.Machines.run", run)
    command = small(tmp_path, "--systems", "gensim", "--modes", "sg-neg", "--workers", "1", "4")
    assert [designs.main(command), designs.main(command)] == [1, 1]
    assert ran == [("gensim", 1), ("gensim", 4), ("gensim", 4)]
    page = (tmp_path / "results" / "designs.md").read_text()
    assert "no / luck" in page
    with pytest.raises(SystemExit, match="results with another epochs; give another --name"):
        designs.main([*command, "--epochs", "2"])


def test_spark_is_left_out_where_it_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert designs.main(small(tmp_path, "--systems", "spark", "--spark-python", str(tmp_path / "none"))) == 0
    assert "leaving out spark: " in capsys.readouterr().err


@pytest.mark.slow
def test_two_designs_and_gensim_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    some = ("--designs", "downpour", "averaging", "--systems", "tfw2v", "gensim", "--modes", "sg-neg")
    assert designs.main(small(tmp_path, *some, "--workers", "2", "1x2")) == 0
    results = json.loads((tmp_path / "results" / "designs.json").read_text())
    assert [(row["name"], row["row"]["workers"], row["row"]["worker_cores"]) for row in results["rows"]] == [
        ("downpour", 2, 1), ("downpour", 1, 2), ("averaging", 2, 1), ("averaging", 1, 2), ("gensim", 2, 1),
    ]  # fmt: skip
    assert all(row["row"]["finite"] and row["row"]["peak_bytes"]["worker"] > 1e6 for row in results["rows"])


@pytest.mark.slow
@pytest.mark.skipif(spark_cluster.why_not(SPARK_PYTHON) is not None, reason="needs Java and pyspark")
def test_spark_trains_as_many_words_as_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spark = ("--systems", "spark", "--workers", "2", "--spark-python", SPARK_PYTHON, "--spark-memory", "512m")
    assert designs.main(small(tmp_path, *spark)) == 0
    (run,) = json.loads((tmp_path / "results" / "designs.json").read_text())["runs"]
    assert (run["raw_words"], run["vocabulary"], run["finite"]) == (1500, 12, True)
    assert run["train_seconds"] > 0

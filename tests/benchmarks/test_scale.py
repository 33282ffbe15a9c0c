"""Simulated trainings beside measured ones, and the tables of `scale.py`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("simpy", reason="needs SimPy, which the extra `simulate` installs")

from report.scale_table import failure_table, near_table, scale_table, score_table, validation_table
from simulation.costs import Costs, TaskCost
from simulation.fitting import counts_of, fit, with_own_words
from simulation.measured import COORDINATOR, SERVER, WORKER, Cell, cells_of
from simulation.scenario import DOWNPOUR, PARTITION
from simulation.scores import Point, points_of, slope_of, without_each
from simulation.simulate import simulate
from simulation.validation import PREDICTED, Comparison
from support.benchmark_commands import run_command

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
COSTS = Costs(TaskCost(word=2e-6, byte=5e-9), TaskCost(byte=2e-9, training=0.3), TaskCost(word=1e-7, block=4e-3))


def cells(file: str, design: str, mode: str) -> dict[int, Cell]:
    """Return the measured trainings of a design, by number of workers."""
    found = cells_of(RESULTS, file)
    return {cell.workers: cell for cell in found if (cell.design, cell.mode) == (design, mode)}


def as_if_it_cost(cell: Cell, costs: Costs) -> Cell:
    """Return a training whose tasks have used the processor time of these costs."""
    counts, servers = counts_of(cell), cell.settings["ps"]
    seconds = {
        WORKER: costs.worker.word * counts["word"] + costs.worker.byte * counts["byte"],
        SERVER: costs.server.training * servers + costs.server.byte * counts["byte"],
        COORDINATOR: costs.coordinator.word * counts["word"] + costs.coordinator.block * counts["block"],
    }
    return dataclasses.replace(cell, processor_seconds=seconds)


def test_costs_are_found_from_the_processor_time_of_two_trainings() -> None:
    measured = [as_if_it_cost(cell, COSTS) for workers, cell in cells("designs", DOWNPOUR, "sg-neg").items()
                if workers != 4]  # fmt: skip
    found = fit(measured)
    for kind in ("worker", "server", "coordinator"):
        assert dataclasses.astuple(getattr(found, kind)) == pytest.approx(dataclasses.astuple(getattr(COSTS, kind)))


def test_what_a_word_costs_is_found_from_a_training_with_one_worker() -> None:
    alone = as_if_it_cost(cells("nodes_cbow-neg", DOWNPOUR, "cbow-neg")[1], COSTS)
    other = dataclasses.replace(COSTS, worker=dataclasses.replace(COSTS.worker, word=1.0))
    assert with_own_words(other, alone).worker.word == pytest.approx(COSTS.worker.word)


def test_tasks_compute_what_was_measured_in_the_trainings_whose_costs_were_fitted() -> None:
    ends = [cell for workers, cell in cells("designs", DOWNPOUR, "sg-neg").items() if workers != 4]
    costs = fit(ends)
    for cell in ends:
        outcome = simulate(cell.scenario(costs))
        busy = outcome.busy["workers"] * cell.settings["cpu"] * cell.workers * outcome.seconds
        assert busy == pytest.approx(cell.processor_seconds[WORKER], rel=0.05)


@pytest.mark.parametrize(
    ("file", "design", "mode", "workers"),
    [
        ("designs", DOWNPOUR, "sg-neg", 4),
        ("designs", DOWNPOUR, "sg-hs", 4),
        ("designs_partition", PARTITION, "sg-neg", 4),
        ("nodes_1_to_32", DOWNPOUR, "sg-neg", 10),
        ("nodes_sg-neg", DOWNPOUR, "sg-neg", 8),
    ],
)
def test_trainings_that_were_not_used_are_predicted(file: str, design: str, mode: str, workers: int) -> None:
    found = cells(file, design, mode)
    costs = fit([found[min(found)], found[max(found)]])
    comparison = Comparison(found[workers], simulate(found[workers].scenario(costs)), PREDICTED)
    assert comparison.is_near, (comparison.seconds_ratio, comparison.bytes_ratio)


# -- scores ------------------------------------------------------------------------------------------------------------


def test_the_slope_of_points_on_a_line_is_that_of_the_line() -> None:
    points = [Point("", stale, 100.0 * stale, 1000.0, 0.2 * stale * stale / 10) for stale in (1.0, 2.0, 5.0)]
    assert slope_of(points) == pytest.approx(0.2)
    for point, predicted in without_each(points):
        assert predicted == pytest.approx(point.loss)


def test_measured_scores_fall_with_staleness() -> None:
    points = points_of(RESULTS)
    assert len(points) > 10
    assert slope_of(points) > 0


# -- tables ------------------------------------------------------------------------------------------------------------


def comparison_record(**others: Any) -> dict[str, Any]:
    return {"file": "f", "mode": "sg-neg", "design": DOWNPOUR, "workers": 4, "use": PREDICTED, "seconds": 10.0,
            "simulated_seconds": 12.0, "seconds_ratio": 1.2, "bytes_a_word": 100.0, "simulated_bytes_a_word": 105.0,
            "bytes_ratio": 1.05, "stale_blocks": 2.0, "simulated_stale_blocks": 3.0, **others}  # fmt: skip


def test_the_table_counts_trainings_that_are_near() -> None:
    records = [comparison_record(), comparison_record(seconds_ratio=0.9), comparison_record(use="fitted")]
    assert near_table(records, [PREDICTED])[1:] == [[PREDICTED, DOWNPOUR, "2", "1", "2", "+20%"]]
    assert validation_table(records)[1][5:8] == ["10.0", "12.0", "1.20"]


def test_other_tables_show_what_was_simulated() -> None:
    record = {"workers": 1000, "design": DOWNPOUR, "servers": 250, "block_words": 1e6, "words_a_second": 2.5e8,
              "bytes_a_word": 39.25, "stale_words": 2.6e8, "idle_share": 0.72, "cost_of_a_billion_words": 0.577,
              "busy": {"workers": 0.1, "coordinator": 0.96}, "worker_gigabytes": 100.0, "fits": False,
              "predicted_loss": 0.0117}  # fmt: skip
    line = scale_table([record], ["workers"])[1]
    assert line[0] == "1,000"
    assert line[-5:] == ["72", "coordinator 96 %", "0.577", "100.0 (too much)", "1.2 %"]
    lost = {"days_between_failures": 1.0, "design": DOWNPOUR, "workers": 32, "ideal_hours": 2.87, "worker_failures": 9,
            "recoveries": 4, "useful_share": 0.573, "lost_share": 0.69, "checkpoint_seconds": 6.4,
            "ends": True}  # fmt: skip
    assert failure_table([lost, {**lost, "ends": False}])[1][6] == "57.3"
    assert failure_table([{**lost, "ends": False}])[1][6] == "does not end"
    scores = [{"name": "n", "staleness": 0.25, "loss": 0.05, "predicted": 0.04}]
    assert score_table(scores)[1] == ["n", "0.25", "5.0 %", "4.0 %"]


@pytest.mark.slow
def test_the_command_saves_tables_and_pictures(tmp_path: Path) -> None:
    done = run_command(
        "scale.py", "--output", tmp_path, "--workers", 2, 8, "--words", 10**9, "--vocabulary", 100_000,
        "--vocabularies", 100_000, "--many-workers", 4, "--spreads", 0, 0.2, "--days", 1,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "scale.json").read_text())
    assert (len(found["workers"]), len(found["failures"])) == (24, 8)
    assert "## By vocabulary" in (tmp_path / "scale.md").read_text()
    for ending in ("validation", "by_workers", "troubles"):
        assert (tmp_path / f"scale-{ending}.png").stat().st_size > 10_000


# -- the page ----------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works" / "scale.md"
SIZES = (32, 320, 1000, 10_000)
RULES = {"default": "default", "long": "long", "long, free coordinator": "long, free"}


def millions(words: float) -> str:
    return f"{words / 1e6:,.0f}" if words >= 1e8 else f"{words / 1e6:.3g}"


def lines_of_page(found: dict[str, Any]) -> list[str]:
    """Return the lines of the page's tables that come from the results."""
    near = near_table(found["validation"], ["predicted", "transferred"])[1:]
    speeds = {(each["blocks"], each["design"], each["workers"]): each["words_a_second"] for each in found["workers"]}
    useful = {
        (each["design"], each["workers"]): f"{100 * each['useful_share']:.0f} %" if each["ends"] else "does not end"
        for each in found["failures"]
        if each["days_between_failures"] == 10
    }
    designs = dict.fromkeys(design for _, design, _ in speeds)
    unequal = {(each["design"], each["speed_spread"]): each["words_a_second"] for each in found["speeds"]}
    return [
        *(f"| {' | '.join(cells)} |" for cells in near),
        *(
            f"| {shown} | {design} | " + " | ".join(millions(speeds[rule, design, n]) for n in SIZES) + " |"
            for rule, shown in RULES.items()
            for design in designs
        ),
        *(f"| {design} | {100 * unequal[design, 0.4] / unequal[design, 0]:.0f} % |" for design in designs),
        *(f"| {design} | " + " | ".join(useful[design, n] for n in SIZES) + " |" for design in designs),
    ]


def test_the_page_has_the_simulated_figures() -> None:
    found = json.loads((RESULTS / "scale.json").read_text(encoding="utf8"))
    text = PAGE.read_text(encoding="utf8").replace("\N{MINUS SIGN}", "-")
    assert [line for line in lines_of_page(found) if line not in text] == []

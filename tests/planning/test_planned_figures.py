"""Planned bytes and memory beside what was measured, as the results of benchmarks have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.arguments.units import bits_a_second
from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.machines import AVERAGING, DOWNPOUR, HERE, Layout, Machine
from gensim_tfw2v.planning.plan import Plan, plan_of
from gensim_tfw2v.planning.profiles import AMX, AVX2, Profile
from gensim_tfw2v.planning.tasks import averaging_traffic
from gensim_tfw2v.planning.workload import Workload

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
WORDS = 17_173_640  # of the measuring corpus
VOCABULARY = 46_839


def runs_of(name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return each run of a result with the settings."""
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf8"))
    return [(run, found["settings"]) for run in found["runs"]]


def measured_workload(run: dict[str, Any]) -> Workload:
    """Return what a run of one process trained."""
    frequencies = WordFrequencies.of_law(VOCABULARY, WORDS, 5)
    return Workload(words=WORDS, frequencies=frequencies, mode=run["mode"], vector_size=run["vector_size"])


def planned(
    run: dict[str, Any],
    settings: dict[str, Any],
    mode: str,
    machine: Machine | None = None,
    profile: Profile = AMX,
) -> Plan:
    words = run["report"]["raw_words"] // settings["epochs"]
    frequencies = WordFrequencies.of_law(run["vocabulary"], words, settings["min_count"])
    workload = Workload(words=words, frequencies=frequencies, mode=mode, vector_size=settings["vector_size"])
    report = run["report"]
    layout = Layout(DOWNPOUR, run["workers"], settings["ps"], round(report["raw_words"] / report["blocks"]))
    return plan_of(workload, machine or Machine(settings.get("worker_cores") or 1), layout, profile)


def measured_bytes_a_word(run: dict[str, Any], plan: Plan) -> float:
    """Return what a run has sent, with rows that are read again in place of shared rows.

    The version that was measured exchanged 512 shared rows of each table after every part of a block except the last:
    one message more for every exchange. It read no rows again.
    """
    report, traffic = run["report"], plan.traffic
    assert traffic is not None
    server, row_bytes = report["tasks"]["ps 0"], plan.workload.row_bytes
    exchanges = round(server["messages"] / server["blocks"]) - 2
    again = traffic.on_link - 2 * traffic.rows * (row_bytes + 4)
    found: float = report["bytes_per_word"] + (again - exchanges * 2 * 2 * 512 * row_bytes) / traffic.block_words
    return found


CLUSTERS = [
    ("nodes_avx2", "sg-neg"),
    ("nodes_sg-neg", "sg-neg"),
    ("nodes_cbow-neg", "cbow-neg"),
    ("nodes_sg-hs", "sg-hs"),
    ("nodes_cbow-hs_16", "cbow-hs"),
    ("machines_4x1", "sg-neg"),
    ("machines_1x4", "sg-neg"),
]


@pytest.mark.parametrize(("name", "mode"), CLUSTERS)
def test_bytes_a_word_of_downpour_are_near_the_measured_ones(name: str, mode: str) -> None:
    for run, settings in runs_of(name):
        plan = planned(run, settings, mode)
        assert plan.traffic is not None
        expected = measured_bytes_a_word(run, plan)
        assert plan.traffic.bytes_a_word == pytest.approx(expected, rel=0.1), run["workers"]


@pytest.mark.parametrize(("name", "mode"), [each for each in CLUSTERS if each[0] != "nodes_avx2"])
def test_memory_of_tasks_is_near_the_measured_one(name: str, mode: str) -> None:
    for run, settings in runs_of(name):
        memory = planned(run, settings, mode).memory
        assert memory["server"] == pytest.approx(run["peak_bytes"]["ps0"], rel=0.1), run["workers"]
        assert memory["worker"] == pytest.approx(run["peak_bytes"]["worker0"], rel=0.1), run["workers"]


def test_bytes_a_word_of_averaging_are_near_the_measured_ones() -> None:
    run, _ = next(each for each in runs_of("nodes_averaging") if each[0]["workers"] == 8)
    workload = Workload(words=WORDS, frequencies=WordFrequencies.of_law(VOCABULARY, WORDS, 5), mode="sg-neg")
    found = averaging_traffic(workload, workers=8, cores=1).bytes_a_word
    assert found == pytest.approx(run["report"]["bytes_per_word"], rel=0.15)


@pytest.mark.parametrize("name", ["five_epochs", "avx2_size_300"])
def test_memory_of_one_process_is_near_the_measured_one(name: str) -> None:
    for run, _ in runs_of(name):
        if run["system"] != "tfw2v":
            continue
        memory = plan_of(measured_workload(run), Machine(run["workers"]), Layout(HERE), AMX).memory["process"]
        assert memory == pytest.approx(run["peak_rss_bytes"], rel=0.1), run["mode"]


@pytest.mark.parametrize(
    ("name", "profile"),
    [("five_epochs", AMX), ("size_300", AMX), ("avx2_table", AVX2), ("avx2_size_300", AVX2)],
)
def test_stored_costs_give_the_speeds_that_they_were_taken_from(name: str, profile: Profile) -> None:
    for run, settings in runs_of(name):
        if run["system"] != "tfw2v":
            continue
        plan = plan_of(measured_workload(run), Machine(run["workers"]), Layout(HERE), profile)
        measured = settings["epochs"] * WORDS / run["train_seconds"]
        assert plan.speed.words_a_second == pytest.approx(measured, rel=0.1), run["mode"]


def test_stored_costs_of_tasks_give_the_speeds_that_they_were_taken_from() -> None:
    for run, settings in runs_of("nodes_avx2"):
        # Servers and the coordinator had all the processor time that they asked for.
        machine = Machine(settings["cpu"], bits_a_second=bits_a_second(settings["rate"]), serving_cores=1.0)
        found = planned(run, settings, "sg-neg", machine, AVX2).speed.words_a_second
        measured = run["report"]["raw_words"] / run["train_seconds"]
        assert found == pytest.approx(measured, rel=0.1), run["workers"]


def test_memory_of_workers_that_average_has_the_parts_of_the_formula() -> None:
    for run, settings in runs_of("averaging_memory"):
        frequencies = WordFrequencies.of_law(settings["vocabulary"], settings["words"], 1)
        workload = Workload(
            words=settings["words"], frequencies=frequencies, mode="sg-neg", vector_size=run["vector_size"]
        )
        plan = plan_of(workload, Machine(1), Layout(AVERAGING, 2, 1), AMX)
        small = Workload(words=10**6, frequencies=WordFrequencies.of_law(100, 10**6, 5), mode="sg-neg", vector_size=1)
        idle = plan_of(small, Machine(1), Layout(AVERAGING, 2, 1), AMX)
        beyond = plan.memory["worker"] - idle.memory["worker"]
        assert beyond == pytest.approx(run["formula_bytes"], rel=0.01)


@pytest.mark.parametrize(("mode", "hs"), [("sg-neg", 0), ("cbow-hs", 1)])
def test_the_planner_and_the_class_agree_on_the_model(mode: str, hs: int) -> None:
    counts = np.full(500, 20)
    workload = Workload(words=10_000, frequencies=WordFrequencies.of_counts(counts, 10_000), mode=mode, vector_size=7)
    model = TFWord2Vec(hs=hs, negative=0 if hs else 5, vector_size=7)
    estimated = model.estimate_memory(vocab_size=500)
    assert workload.model_bytes | {"total": sum(workload.model_bytes.values())} == estimated
    assert workload.table_bytes == estimated["total"] - estimated["vocab"]

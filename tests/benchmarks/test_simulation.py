"""The simulator: closed forms of queues, links and barriers, and what each design must do."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("simpy", reason="needs SimPy, which the extra `simulate` installs")

import simpy
from simulation.costs import Costs, TaskCost, costs_of_profile
from simulation.failures import LongTraining, simulate_failures
from simulation.loads import averaged_rounds, downpour_load, round_load, submodel_load
from simulation.machines import Link, Processor, transfer
from simulation.scenario import AVERAGING, DESIGNS, DOWNPOUR, PARTITION, SYNCHRONOUS, Scenario
from simulation.simulate import simulate

from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.profiles import AMX
from gensim_tfw2v.planning.tasks import averaged_bytes, downpour_traffic
from gensim_tfw2v.planning.workload import Workload

WORDS = 4_000_000
WORKLOAD = Workload(
    words=WORDS, frequencies=WordFrequencies.of_law(20_000, WORDS, 5), mode="sg-neg", epochs=1, encoded=True
)
WORD = 1e-6  # seconds of a worker's core
ONLY_WORDS = Costs(TaskCost(word=WORD), TaskCost(), TaskCost())


def scenario_of(design: str, workers: int, costs: Costs = ONLY_WORDS, **others: Any) -> Scenario:
    settings: dict[str, Any] = {"workload": WORKLOAD, "servers": 1, "latency": 0.0, **others}
    return Scenario(design=design, workers=workers, costs=costs, **settings)


# -- machines ----------------------------------------------------------------------------------------------------------


def test_jobs_that_arrive_at_random_wait_as_in_a_queue_with_constant_service() -> None:
    load, service, jobs = 0.6, 1.0, 40_000
    env, random, waits = simpy.Environment(), np.random.default_rng(1), []
    processor = Processor(env, 1)

    def arrivals() -> Iterator[simpy.Event]:
        for gap in random.exponential(service / load, jobs):
            yield env.timeout(float(gap))
            waits.append(processor.end_of(service) - env.now - service)

    env.process(arrivals())
    env.run()
    expected = load * service / (2 * (1 - load))  # Pollaczek and Khinchine's formula for constant service
    assert np.mean(waits) == pytest.approx(expected, rel=0.05)


def test_two_cores_do_two_jobs_at_a_time() -> None:
    processor = Processor(simpy.Environment(), 2)
    assert [processor.end_of(1.0) for _ in range(3)] == [1.0, 1.0, 2.0]


def test_a_quota_gives_a_share_of_every_tenth_of_a_second() -> None:
    processor = Processor(simpy.Environment(), 0.2)
    ends = [processor.end_of(work) for work in (0.01, 0.01, 0.01, 0.05)]
    assert ends == pytest.approx([0.01, 0.02, 0.11, 0.32])
    assert Processor(simpy.Environment(), 0.1).end_of(1.0) == pytest.approx(9.91)  # a hundred periods, the last one cut


def test_messages_share_a_link_in_turn() -> None:
    env = simpy.Environment()
    source, target = Link(env, 100.0), Link(env, 100.0)
    ends = []

    def send(size: float) -> Iterator[simpy.Event]:
        yield transfer(env, source, target, size, size, latency=0.5)
        ends.append(env.now)

    for size in (100, 200):
        env.process(send(size))
    env.run()
    assert ends == [1.5, 3.5]


def test_the_slower_link_limits_a_message() -> None:
    env = simpy.Environment()
    env.run(until=transfer(env, Link(env, 1000.0), Link(env, 10.0), 100.0, 100.0, latency=0.0))
    assert env.now == 10.0


# -- designs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_one_worker_takes_the_time_of_its_words(design: str) -> None:
    outcome = simulate(scenario_of(design, 1))
    assert outcome.words == pytest.approx(WORDS, rel=1e-3)
    assert outcome.seconds == pytest.approx(WORDS * WORD, rel=1e-3)


@pytest.mark.parametrize("design", [DOWNPOUR, AVERAGING, PARTITION])
def test_equal_workers_share_the_time(design: str) -> None:
    # Downpour begins with one block in flight, so it needs many blocks.
    words = 10_000 if design == DOWNPOUR else None
    outcome = simulate(scenario_of(design, 4, batch_words=words))
    assert outcome.seconds == pytest.approx(WORDS * WORD / 4, rel=0.05)


def test_a_round_waits_for_its_slowest_worker() -> None:
    workers, spread = 8, 0.5
    outcome = simulate(scenario_of(SYNCHRONOUS, workers, speed_spread=spread, most_blocks=4))
    slowest = float(np.exp(spread * np.random.default_rng(1).standard_normal(workers)).min())
    words = sum(round_load(scenario_of(SYNCHRONOUS, workers, most_blocks=4)).rounds)
    assert outcome.seconds == pytest.approx(words / workers * WORD / slowest)


def test_downpour_does_not_wait_for_slow_workers() -> None:
    workers, spread = 8, 0.5
    slow = scenario_of(DOWNPOUR, workers, speed_spread=spread, batch_words=10_000, most_blocks=40)
    speeds = np.exp(spread * np.random.default_rng(1).standard_normal(workers))
    assert simulate(slow).words_a_second == pytest.approx(float(speeds.sum()) / WORD, rel=0.03)


def test_the_coordinator_limits_how_many_blocks_begin_in_a_second() -> None:
    costs = Costs(TaskCost(word=WORD), TaskCost(), TaskCost(block=0.1))
    outcome = simulate(scenario_of(DOWNPOUR, 16, costs, batch_words=10_000))
    assert outcome.words_a_second == pytest.approx(10_000 / 0.1, rel=0.05)
    assert outcome.bottleneck == "coordinator"


def test_the_servers_link_limits_workers_that_compute_nothing() -> None:
    rate, servers = 1e6, 2
    free = Costs(TaskCost(), TaskCost(), TaskCost())
    scenario = scenario_of(DOWNPOUR, 16, free, servers=servers, bytes_a_second=rate, batch_words=20_000)
    load = downpour_load(scenario)
    outward = load.blocks * (load.rows_bytes + load.bytes_again)
    assert load.rows_bytes + load.bytes_again / 2 == pytest.approx(downpour_traffic(WORKLOAD, 16, 1, 20_000).one_way)
    assert simulate(scenario).seconds == pytest.approx(outward / servers / rate, rel=0.15)


def test_blocks_in_flight_miss_those_of_the_other_workers() -> None:
    # Workers of one speed would all push and pull at the same moments.
    outcome = simulate(scenario_of(DOWNPOUR, 4, batch_words=10_000, speed_spread=0.05))
    assert outcome.staleness_blocks == pytest.approx(3, rel=0.1)


def test_a_block_that_waits_for_its_rows_misses_no_block_of_that_time() -> None:
    """Of what waits for the server, half are pulls, and half are pushes that the next pull sees."""
    workers = 9
    only_bytes = Costs(TaskCost(), TaskCost(byte=1e-6), TaskCost())
    outcome = simulate(scenario_of(DOWNPOUR, workers, only_bytes, batch_words=10_000))
    assert outcome.staleness_blocks == pytest.approx((workers - 1) / 2, rel=0.15)


@pytest.mark.parametrize("workers", [1, 4])
def test_bytes_of_downpour_are_those_of_the_plan(workers: int) -> None:
    planned = downpour_traffic(WORKLOAD, workers, 1, None).bytes_a_word
    assert simulate(scenario_of(DOWNPOUR, workers)).bytes_a_word == pytest.approx(planned, rel=0.01)


def test_rounds_of_averaging_grow_until_they_are_whole() -> None:
    words = [each.words for each in averaged_rounds(scenario_of(AVERAGING, 4))]
    assert sum(words) == WORDS
    assert words[0] <= 131_072
    assert all(words[number] <= sum(words[:number]) for number in range(1, len(words)))


def test_a_worker_that_averages_sends_the_bytes_of_the_plan() -> None:
    scenario = scenario_of(AVERAGING, 4)
    rounds = averaged_rounds(scenario)
    planned = sum(4 * averaged_bytes(WORKLOAD, 4, each.words / 4, each.words, each.steps) for each in rounds)
    spans = 64 * 4 * sum(each.steps for each in rounds)
    assert simulate(scenario).bytes_a_word * WORDS == pytest.approx(planned + spans, rel=1e-6)


def test_steps_of_averaging_that_are_alike_may_be_simulated_once() -> None:
    scenario = scenario_of(AVERAGING, 4, most_blocks=2, batch_words=1_000_000)
    assert [each.steps for each in averaged_rounds(scenario)] == [16]
    outcome = simulate(scenario)
    assert (outcome.words, outcome.seconds) == (WORDS, pytest.approx(WORDS * WORD / 4))
    assert outcome.busy["workers"] == pytest.approx(1.0)


def test_the_coordinator_merges_all_submodels_when_they_are_trained() -> None:
    costs = dataclasses.replace(ONLY_WORDS, merge=1e-6)
    merging = 4 * WORKLOAD.vocabulary * WORKLOAD.vector_size * 1e-6
    outcome = simulate(scenario_of(PARTITION, 4, costs))
    assert outcome.seconds == pytest.approx(WORDS * WORD / 4 + merging, rel=1e-3)
    load = submodel_load(scenario_of(PARTITION, 4))
    assert outcome.bytes_a_word * WORDS == pytest.approx(4 * (load.merged_bytes + load.chunks * load.ids), rel=1e-3)


def test_workers_that_are_lost_train_their_blocks_again() -> None:
    scenario = scenario_of(DOWNPOUR, 4, batch_words=10_000, block_failures=0.2, restart_seconds=0.0)
    # A block is begun 1 / (1 - 0.2) times, and each lost time half of it is trained.
    assert simulate(scenario).lost_share == pytest.approx(0.125 / 1.125, rel=0.2)


@pytest.mark.parametrize("design", DESIGNS)
def test_hundreds_of_workers_are_simulated_by_a_stored_profile(design: str) -> None:
    scenario = scenario_of(design, 200, costs_of_profile(WORKLOAD, AMX), most_blocks=1, servers=20)
    outcome = simulate(scenario)
    assert math.isfinite(outcome.words_a_second)
    assert 0 < outcome.busy["coordinator"] <= 1.0


# -- failures ----------------------------------------------------------------------------------------------------------


def long_training(**others: Any) -> LongTraining:
    settings: dict[str, Any] = {
        "design": DOWNPOUR,
        "words": 1e9,
        "words_a_second": 1e3,
        "workers": 10,
        "servers": 9,
        "unit_words": 0.0,
        "mean_seconds_between_failures": 1e9,
        "restart_seconds": 0.0,
        "recovery_seconds": 50.0,
        "checkpoint_every": 100.0,
        "checkpoint_seconds": 0.0,
        **others,
    }
    return LongTraining(**settings)


def test_a_training_without_failures_loses_nothing() -> None:
    found = simulate_failures(long_training(design=PARTITION, mean_seconds_between_failures=1e12))
    assert (found.seconds, found.useful_share, found.lost_share) == (pytest.approx(1e6), pytest.approx(1.0), 0.0)


def test_a_lost_server_costs_half_an_interval_of_checkpoints_and_the_recovery() -> None:
    mean = 10_000.0  # seconds between failures of any of the servers and the coordinator
    found = simulate_failures(long_training(mean_seconds_between_failures=10 * mean))
    assert found.recoveries == pytest.approx(found.seconds / mean, rel=0.2)
    cost = (found.seconds - 1e6) / found.recoveries
    assert cost == pytest.approx(100.0 / 2 + 50.0, rel=0.2)


def test_a_training_that_fails_before_each_checkpoint_does_not_end() -> None:
    slow = {"workers": 1, "checkpoint_every": 1000.0, "checkpoint_seconds": 1000.0}
    assert not simulate_failures(long_training(mean_seconds_between_failures=500.0, **slow)).ends


def test_lost_submodels_take_no_time_and_their_share() -> None:
    found = simulate_failures(long_training(design=PARTITION, workers=100, mean_seconds_between_failures=5e7))
    assert found.seconds == pytest.approx(1e6, rel=1e-2)
    assert found.lost_share == pytest.approx(found.worker_failures / 100)
    assert found.worker_failures > 0

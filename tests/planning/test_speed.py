"""What limits the speed of a training."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gensim_tfw2v import tuning
from gensim_tfw2v.planning import speed
from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.machines import AVERAGING, DOWNPOUR, HERE, Layout, Machine
from gensim_tfw2v.planning.plan import Plan, plan_of
from gensim_tfw2v.planning.profiles import MODES, Profile, RowCost, StepCost
from gensim_tfw2v.planning.workload import Workload

WORDS = 10**9
FREQUENCIES = WordFrequencies.of_law(200_000, WORDS, 5)
WORKLOAD = Workload(words=WORDS, frequencies=FREQUENCIES, mode="sg-neg", sample=0, epochs=1)
PROFILE = Profile(
    processor="of a test",
    steps=dict.fromkeys(MODES, StepCost(fixed=500.0, of_a_number=5.0)),
    worker=RowCost(nanoseconds_a_byte=2.0, milliseconds_a_block=0.0),
    server=RowCost(nanoseconds_a_byte=1.0, milliseconds_a_block=0.0),
    coordinator_nanoseconds_a_word=10.0,
    coordinator_milliseconds_a_block=0.0,
    counting_nanoseconds_a_word=100.0,
    start_seconds=3.0,
    memory_bytes_a_second=1e10,
)

IDLE_SERVERS = replace(PROFILE, server=RowCost(0.0, 0.0))


def planned(machine: Machine, layout: Layout, profile: Profile = PROFILE, workload: Workload = WORKLOAD) -> Plan:
    return plan_of(workload, machine, layout, profile)


def test_a_core_takes_the_costs_of_its_tokens() -> None:
    plan = planned(Machine(1), Layout(HERE))
    assert plan.speed.words_a_second == pytest.approx(1e9 / (500 + 100 * 5))
    assert plan.training_seconds == pytest.approx(WORDS * 1e-6 + 3)
    assert plan.counting_seconds == pytest.approx(WORDS * 1e-7)


def test_tokens_that_subsampling_drops_cost_nothing() -> None:
    whole, half = (step_of(replace(WORKLOAD, sample=sample)) for sample in (0, 1e-4))
    assert half / whole == pytest.approx(replace(WORKLOAD, sample=1e-4).kept_share)


def step_of(workload: Workload) -> float:
    return speed.step_nanoseconds(workload, PROFILE)


def test_more_negatives_and_wider_windows_cost_more() -> None:
    assert (
        step_of(WORKLOAD) < step_of(replace(WORKLOAD, window=20)) < step_of(replace(WORKLOAD, window=20, negative=20))
    )


def test_cores_of_one_model_hinder_each_other() -> None:
    speeds = [planned(Machine(cores), Layout(HERE)).speed.words_a_second for cores in (1, 2, 16)]
    assert speeds[0] * 1.8 < speeds[1] < speeds[0] * 2
    assert speeds[0] * 7 < speeds[2] < speeds[0] * 9  # measured: 7.8 times


def test_workers_compute_steps_and_exchange_rows() -> None:
    plan = planned(Machine(1), Layout(DOWNPOUR, workers=2, servers=1))
    assert plan.traffic is not None
    rows = 2 * 2 * plan.traffic.one_way / plan.traffic.block_words
    assert plan.speed.of_worker == pytest.approx(1e9 / (1000 + rows))
    assert plan.speed.words_a_second == pytest.approx(2 * plan.speed.of_worker)
    assert plan.speed.bottleneck == speed.WORKERS


@pytest.mark.parametrize(
    ("machine", "layout", "profile", "bottleneck"),
    [
        (Machine(1, bits_a_second=1e8), Layout(DOWNPOUR, 1, 8), PROFILE, speed.LINKS),
        (Machine(1, bits_a_second=1e9), Layout(DOWNPOUR, 64, 1), IDLE_SERVERS, speed.SERVER_LINKS),
        (Machine(1), Layout(DOWNPOUR, 64, 1), PROFILE, speed.SERVERS),
        (Machine(1), Layout(DOWNPOUR, 64, 8), replace(PROFILE, memory_bytes_a_second=1e8), speed.SERVER_MEMORY),
        (Machine(1), Layout(DOWNPOUR, 64, 64), replace(PROFILE, coordinator_nanoseconds_a_word=1e3), speed.COORDINATOR),
        (Machine(1), Layout(DOWNPOUR, 4, 4, host_cores=2), PROFILE, speed.HOST),
        (Machine(1, bits_a_second=1e8), Layout(AVERAGING, 8, 1), PROFILE, speed.LINKS),
    ],
)
def test_the_slowest_part_limits_the_speed(machine: Machine, layout: Layout, profile: Profile, bottleneck: str) -> None:
    plan = planned(machine, layout, profile)
    assert plan.speed.bottleneck == bottleneck
    assert plan.speed.words_a_second <= min(plan.speed.limits.values())


def test_encoded_corpora_send_no_ids() -> None:
    layout = Layout(DOWNPOUR, 4, 1)
    plans = [planned(Machine(1), layout, workload=replace(WORKLOAD, encoded=encoded)) for encoded in (True, False)]
    without, with_ids = (plan.traffic.bytes_a_word for plan in plans if plan.traffic is not None)
    assert with_ids - without == pytest.approx(4, abs=0.01)


def test_the_coordinator_computes_for_each_call_of_a_worker() -> None:
    profile = replace(PROFILE, coordinator_milliseconds_a_block=2.0, coordinator_nanoseconds_a_word=0.0)
    large = replace(WORKLOAD, words=10**12)
    text, encoded = (
        planned(Machine(1), Layout(DOWNPOUR, 64, 16, 16_384), profile, workload=replace(large, encoded=is_encoded))
        for is_encoded in (False, True)
    )
    assert text.traffic is not None and encoded.traffic is not None
    assert text.speed.limits[speed.COORDINATOR] == pytest.approx(text.traffic.block_words / 0.002)
    blocks = encoded.traffic.call_blocks
    assert blocks == tuning.CALL_WORDS // math.ceil(encoded.traffic.block_words) > 100
    assert encoded.speed.limits[speed.COORDINATOR] == pytest.approx(blocks * text.traffic.block_words / 0.002)

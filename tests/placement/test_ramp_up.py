"""How many blocks may be in flight at the beginning of a training on a cluster."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gensim_tfw2v.placement.calls.ramp_up import RampUp


@pytest.mark.parametrize("total_blocks", [0, 100])
def test_one_block_is_alone_at_first_and_more_join_as_blocks_are_done(total_blocks: int) -> None:
    assert allowed_one_by_one(RampUp(3, total_blocks), 20) == [1] * 8 + [2] * 8 + [3] * 4


def test_the_longer_the_training_the_longer_the_start() -> None:
    assert allowed_one_by_one(RampUp(3, 18_000), 70) == [1] * 30 + [2] * 30 + [3] * 10


def test_sixteen_are_in_flight_after_a_fortieth_of_the_training() -> None:
    allowed = allowed_one_by_one(RampUp(16, 18_000), 451)
    assert allowed[449] == 15
    assert allowed[450] == 16


@pytest.mark.parametrize(("block_words", "blocks"), [(1_000, 8), (8_192, 8), (32_768, 2), (131_072, 1)])
def test_large_blocks_are_alone_for_fewer_of_them(block_words: int, blocks: int) -> None:
    allowed = allowed_one_by_one(RampUp(2, 100, block_words), 10)
    assert allowed == [1] * blocks + [2] * (10 - blocks)


def test_the_start_may_have_other_parts() -> None:
    assert allowed_one_by_one(RampUp(3, 900, blocks_for_one_more=20), 50) == [1] * 20 + [2] * 20 + [3] * 10


def test_several_may_join_after_a_block() -> None:
    assert allowed_one_by_one(RampUp(8, blocks_for_one_more=1 / 3), 4) == [1, 4, 7, 8]


def test_all_may_begin_together() -> None:
    assert allowed_one_by_one(RampUp(4, 24_000, blocks_for_one_more=0), 3) == [4, 4, 4]


def test_a_block_in_flight_changes_nothing_about_how_many_may_be() -> None:
    start = RampUp(2)
    with start.block():
        assert start.limit() == 1
    allowed_one_by_one(start, 7)
    assert start.limit() == 2


def allowed_one_by_one(start: RampUp, blocks: int) -> list[int]:
    """Return how many blocks may be in flight when each of these begins."""
    allowed = []
    for _ in range(blocks):
        with start.block() as in_flight:
            allowed.append(in_flight)
    return allowed


def test_never_more_blocks_are_in_flight_than_allowed_and_a_failed_one_makes_room() -> None:
    start = RampUp(most=4)
    lock = threading.Lock()
    now, most_seen = 0, 0

    def train(number: int) -> None:
        nonlocal now, most_seen
        with start.block() as allowed:
            with lock:
                now += 1
                most_seen = max(most_seen, now)
                assert now <= allowed
            with lock:
                now -= 1
            if number % 3 == 0:
                raise ValueError(number)

    with ThreadPoolExecutor(8) as threads:
        failures = [done.exception() for done in [threads.submit(train, number) for number in range(100)]]
    assert [str(failure) for failure in failures if failure] == [str(number) for number in range(0, 100, 3)]
    assert 1 <= most_seen <= 4


def test_fewer_workers_have_fewer_blocks_in_flight_but_one_at_least() -> None:
    there = 0.5
    start = RampUp(8, blocks_for_one_more=0, share_present=lambda: there)
    assert start.limit() == 4
    there = 0.75
    assert start.limit() == 6
    there = 0.0
    assert start.limit() == 1

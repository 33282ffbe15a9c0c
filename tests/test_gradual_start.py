"""How many blocks may be in flight at the beginning of a training on a cluster."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from gensim_tfw2v.cluster.gradual_start import GradualStart


def test_one_block_is_alone_at_first_and_more_join_as_blocks_are_done() -> None:
    start = GradualStart(most=3)
    allowed = []
    for _ in range(40):
        with start.block() as in_flight:
            allowed.append(in_flight)
    assert allowed == [1] * 16 + [2] * 16 + [3] * 8


def test_never_more_blocks_are_in_flight_than_allowed_and_a_failed_one_makes_room() -> None:
    start = GradualStart(most=4)
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

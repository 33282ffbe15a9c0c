"""Portions of a batch in L-BFGS: how they are added, given to workers that are idle, and sent."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from support.child_process import wait_until
from support.example_blocks import work_on

from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.corpus.shards import Span
from gensim_tfw2v.placement.lbfgs.descent import InOrder
from gensim_tfw2v.placement.lbfgs.portion import fixed, pack, unpack
from gensim_tfw2v.placement.lbfgs.portion_runs import PortionRuns


def test_portions_are_added_in_their_order_whoever_is_first() -> None:
    order, added = InOrder(most_ahead=2), []
    order.begin()
    order.admit(1)
    order.add(1, lambda: added.append(1))
    assert added == []
    waiting = threading.Thread(target=lambda: (order.admit(2), order.add(2, lambda: added.append(2))))
    waiting.start()
    order.add(0, lambda: added.append(0))
    waiting.join(10)
    assert added == [0, 1, 2]


class FakeWorkers:
    """Keeps jobs that a test finishes."""

    def __init__(self) -> None:
        self.jobs: list[Any] = []

    def start(self, request: Any, place: int) -> Any:
        job = SimpleNamespace(request=request, place=place, result=Future())
        self.jobs.append(job)
        return job

    def wait(self, jobs: list[Any]) -> None:
        for job in jobs:
            job.result.result(10)


def test_an_idle_worker_gets_a_copy_of_the_slowest_portion_and_the_first_result_counts() -> None:
    workers = FakeWorkers()
    runs = PortionRuns(workers, places=4)  # type: ignore[arg-type]
    found: dict[str, Any] = {}

    def run(name: str, is_last: bool) -> None:
        found[name] = runs.run(name, is_last)  # type: ignore[arg-type]

    threads = []
    for name, is_last in (("slow", False), ("quick", True)):
        threads.append(threading.Thread(target=run, args=(name, is_last)))
        threads[-1].start()
        wait_until(lambda: len(workers.jobs) == len(threads))
        workers.jobs[-1].result.set_running_or_notify_cancel()
    slow, quick = workers.jobs
    quick.result.set_result("of the quick one")
    wait_until(lambda: len(workers.jobs) == 3)
    copy = workers.jobs[2]
    assert copy.request == "slow"
    copy.result.set_running_or_notify_cancel()
    copy.result.set_result("of the copy")
    for thread in threads:
        thread.join(10)
    assert found["slow"] == ("of the copy", copy.place)
    slow.result.set_result("too late")
    assert found["slow"].place != slow.place
    assert runs.report() == {"copies": 1, "copies_first": 1}


def test_a_copy_that_no_worker_has_begun_is_not_run_any_more() -> None:
    workers = FakeWorkers()
    runs = PortionRuns(workers, places=3)  # type: ignore[arg-type]
    threads = [threading.Thread(target=runs.run, args=(name, name == "b")) for name in "ab"]
    for number, thread in enumerate(threads):
        thread.start()
        wait_until(lambda expected=number + 1: len(workers.jobs) == expected)
        workers.jobs[number].result.set_running_or_notify_cancel()
    workers.jobs[1].result.set_result("b")
    wait_until(lambda: len(workers.jobs) == 3)
    workers.jobs[0].result.set_result("a")
    threads[0].join(10)
    assert workers.jobs[2].result.cancelled()


def test_a_request_is_short_and_comes_as_it_was_sent() -> None:
    span = Span(3, 2**40, 2**40 + 10_000, 2**35, 2**35 + 500)
    task = fixed(ChunkTask(span, (*[2**32 - 1] * 4, 7, 299, 1000), 0.1, 0.0, False))
    packed = pack(2**31 - 1, 64, task)
    assert len(packed) <= 160
    found = unpack(packed)
    assert (found.lease_key, found.shards, found.task) == (2**31 - 1, 64, task)
    damaged = packed.copy()
    damaged[50] ^= 1
    with pytest.raises(TaskError, match="arrived damaged"):
        unpack(damaged)


def test_the_same_portion_in_another_epoch_is_the_same() -> None:
    first, later = (fixed(replace(work_on(0), entropy=(1, 2, epoch, 5))) for epoch in (0, 7))
    assert first.entropy == later.entropy == (1, 2, 5)

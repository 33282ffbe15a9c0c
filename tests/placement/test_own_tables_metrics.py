"""Workers with tables of their own wait whenever they neither make or train a block nor send rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.clock import Clock

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster.task import METRIC_NAMES
from gensim_tfw2v.placement.calls import own_tables_metrics
from gensim_tfw2v.placement.calls.own_tables_metrics import OwnTablesMetrics
from gensim_tfw2v.placement.tasks.block_report import BlockReport, StageSeconds

FIRST: Any = SimpleNamespace(number=0)
SECOND: Any = SimpleNamespace(number=1)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(own_tables_metrics, "time", found)
    return found


def report(make: float, compute: float) -> BlockReport:
    none = np.zeros(0)
    return BlockReport(
        tokens=np.float64(10),
        seconds=StageSeconds(make=make, compute=compute),
        most_moved=np.array([-1.0, 0.0]),
        worker=np.zeros(len(METRIC_NAMES)),
        batches=BatchMetrics(none, none, none),
        measured=none,
        pairs=none,
    )


def train(metrics: OwnTablesMetrics, clock: Clock, member: Any, begin: float, end: float, seconds: float) -> None:
    clock.now = begin
    metrics.begin_block(member)
    clock.now = end
    metrics.add_block(member, report(0.25 * seconds, 0.75 * seconds), 7)


def waited(metrics: OwnTablesMetrics) -> list[float]:
    return [task["waited_seconds"] for task in metrics.tasks().values()]


def test_a_worker_waits_for_its_first_share_between_shares_and_while_they_travel(clock: Clock) -> None:
    metrics = OwnTablesMetrics([1, 1])
    metrics.begin([FIRST])
    train(metrics, clock, FIRST, begin=103, end=110, seconds=6)
    assert waited(metrics) == [3 + 1, 0]
    train(metrics, clock, FIRST, begin=114, end=116, seconds=2)
    assert waited(metrics) == [3 + 1 + 4, 0]
    assert metrics.report(1)["worker_seconds"] == {"make": 2, "compute": 6, "idle": 8}


def test_a_worker_waits_after_its_last_share_until_the_others_have_ended(clock: Clock) -> None:
    metrics = OwnTablesMetrics([1, 1])
    metrics.begin([FIRST, SECOND])
    train(metrics, clock, FIRST, begin=100, end=101, seconds=1)
    train(metrics, clock, SECOND, begin=101, end=109, seconds=8)
    assert metrics.report(1)["worker_seconds"]["idle"] == 8 + 1
    assert waited(metrics) == [8, 1]  # is counted once


def test_a_worker_waits_while_tables_are_merged_and_not_while_it_sends_them(clock: Clock) -> None:
    metrics = OwnTablesMetrics([1])
    metrics.begin([FIRST])
    train(metrics, clock, FIRST, begin=100, end=101, seconds=1)
    clock.now = 105
    metrics.add_read(FIRST, 10, began=103)
    train(metrics, clock, FIRST, begin=112, end=113, seconds=1)
    assert waited(metrics) == [2 + 7]


def test_reading_rows_of_a_worker_that_trains_changes_nothing(clock: Clock) -> None:
    metrics = OwnTablesMetrics([1])
    metrics.begin([FIRST])
    metrics.begin_block(FIRST)
    clock.now = 104
    metrics.add_read(FIRST, 10, began=101)
    clock.now = 106
    metrics.add_block(FIRST, report(1, 5), 7)
    assert waited(metrics) == [0]


def test_a_lost_worker_and_one_without_tables_do_not_wait(clock: Clock) -> None:
    metrics = OwnTablesMetrics([1, 1])
    metrics.begin([FIRST])
    train(metrics, clock, FIRST, begin=100, end=101, seconds=1)
    metrics.leave_out([FIRST])
    clock.now = 200
    assert waited(metrics) == [0, 0]

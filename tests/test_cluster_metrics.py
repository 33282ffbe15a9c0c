"""Figures that a cluster's tasks report → what each has used, whatever order they come in."""

from __future__ import annotations

import numpy as np
import pytest

from gensim_tfw2v.cluster.task_metrics import NAMES
from gensim_tfw2v.placement.parameter_servers.graphs import REPORT_HEAD
from gensim_tfw2v.placement.parameter_servers.metrics import BlockReport, ClusterMetrics


def block(worker_cpu: float, server_cpu: float, staleness: int = 0) -> BlockReport:
    """Return the report of a block of no batches, with the processor time of a worker and of the only server."""
    head = np.zeros(len(REPORT_HEAD))
    head[REPORT_HEAD.index("staleness")] = staleness
    head[REPORT_HEAD.index("cpu_seconds")] = worker_cpu
    server = np.zeros(len(NAMES))
    server[NAMES.index("cpu_seconds")] = server_cpu
    return BlockReport.of(np.concatenate([head, server]), servers=1)


def measured(*blocks: tuple[int, BlockReport]) -> dict[str, dict[str, float]]:
    """Return the tasks' figures after blocks of these workers."""
    measurement = ClusterMetrics(workers=2, servers=1, vector_bytes=32)
    for worker, report in blocks:
        measurement.add(worker, report, sent_bytes=0, waited=0.0)
    return measurement.tasks()


def test_processor_time_is_that_since_the_first_block() -> None:
    tasks = measured((0, block(10, 100)), (1, block(20, 101)), (0, block(13, 105)))
    assert [tasks[name]["cpu_seconds"] for name in ("worker 0", "worker 1", "ps 0")] == [3, 0, 5]


def test_a_servers_figures_that_come_late_do_not_turn_its_curve_back() -> None:
    assert measured((0, block(1, 100)), (1, block(1, 109)), (0, block(2, 104)))["ps 0"]["cpu_seconds"] == 9


def test_a_worker_that_was_started_anew_goes_on_from_where_it_ended() -> None:
    tasks = measured((0, block(10, 1)), (0, block(14, 1)), (0, block(2, 1)), (0, block(5, 1)))
    assert tasks["worker 0"]["cpu_seconds"] == 7


def test_staleness_is_the_mean_of_each_workers_own_blocks() -> None:
    tasks = measured(*((worker, block(1, 1, staleness)) for worker, staleness in ((0, 1), (0, 2), (1, 0))))
    assert [tasks[f"worker {worker}"]["staleness"] for worker in (0, 1)] == pytest.approx([1.5, 0])

"""Metrics that a cluster's tasks report → what each has used, in whatever order the reports come."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster.task import METRIC_NAMES
from gensim_tfw2v.placement.columns.column_graphs import Exchanged
from gensim_tfw2v.placement.tasks.block_report import BlockReport, ServersReport, StageSeconds, TableRows
from gensim_tfw2v.placement.tasks.cluster_metrics import ClusterMetrics


def block(worker_cpu: float, server_cpu: float, staleness: int = 0) -> BlockReport:
    """Return the report of a block of no batches, with the processor time of a worker and of the only server."""
    worker, server = np.zeros((2, len(METRIC_NAMES)))
    worker[METRIC_NAMES.index("cpu_seconds")] = worker_cpu
    server[METRIC_NAMES.index("cpu_seconds")] = server_cpu
    empty = report_of(servers=1, batches=0)
    assert empty.servers is not None
    of_servers = empty.servers._replace(staleness=np.float64(staleness), metrics=server[None], blocks=1.0)
    return empty._replace(worker=worker, servers=of_servers)


def report_of(servers: int, batches: int, exchanged: type[Any] = TableRows) -> BlockReport:
    """Return a report in which every number differs from the others."""
    numbers = itertools.count(1)

    def array(*shape: int) -> np.ndarray:
        return np.array([next(numbers) for _ in range(math.prod(shape))], np.float64).reshape(shape)

    batch_metrics = BatchMetrics(*(array(batches) for _ in BatchMetrics._fields))
    rows = exchanged(*(array() for _ in exchanged._fields))
    return BlockReport(
        tokens=array(),
        seconds=StageSeconds(*(array() for _ in StageSeconds._fields)),
        most_moved=array(2),
        worker=array(len(METRIC_NAMES)),
        batches=batch_metrics,
        measured=array(batches),
        pairs=array(batches),
        servers=ServersReport(array(), array(), rows, array(servers, len(METRIC_NAMES)), array()) if servers else None,
    )


@pytest.mark.parametrize("batches", [0, 1, 7])
@pytest.mark.parametrize("servers", [0, 1, 3])
@pytest.mark.parametrize("exchanged", [TableRows, Exchanged])
def test_a_report_is_read_as_it_was_written(servers: int, batches: int, exchanged: type[Any]) -> None:
    sent = report_of(servers, batches, exchanged)
    found = BlockReport.from_array(sent.to_tensor().numpy(), servers, exchanged)
    tf.nest.assert_same_structure(found, sent)
    for value, expected in zip(tf.nest.flatten(found), tf.nest.flatten(sent), strict=True):
        np.testing.assert_array_equal(value, expected)


def test_a_report_of_another_number_of_servers_is_refused() -> None:
    with pytest.raises(ValueError, match="a report of 2 servers"):
        BlockReport.from_array(report_of(1, 0).to_tensor().numpy(), servers=2)


@pytest.mark.parametrize("size", range(12))
def test_a_report_that_was_cut_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"a report of 1 servers cannot have {size} numbers"):
        BlockReport.from_array(np.zeros(size), servers=1)


def test_a_report_of_no_block_is_refused() -> None:
    report = report_of(1, 2)
    assert report.servers is not None
    without = report._replace(servers=report.servers._replace(blocks=np.zeros(())))
    with pytest.raises(ValueError, match="a report has impossible numbers"):
        BlockReport.from_array(without.to_tensor().numpy(), servers=1)


@pytest.mark.parametrize("number", [-1, np.nan, np.inf, 1e300])
def test_a_report_of_no_number_of_tokens_is_refused(number: float) -> None:
    numbers = report_of(1, 2).to_tensor().numpy()
    numbers[0] = number
    with pytest.raises(ValueError, match="a report has impossible numbers of tokens"):
        BlockReport.from_array(numbers, servers=1)


def measured(*blocks: tuple[int, BlockReport]) -> dict[str, dict[str, float]]:
    """Return the tasks' metrics after blocks of these workers."""
    metrics = ClusterMetrics(cores=[1, 1], servers=1, vector_bytes=32)
    for worker, report in blocks:
        metrics.add(worker, report, sent_bytes=0, waited=0.0)
    return metrics.tasks()


def test_processor_time_is_that_since_the_first_block() -> None:
    tasks = measured((0, block(10, 100)), (1, block(20, 101)), (0, block(13, 105)))
    assert [tasks[name]["cpu_seconds"] for name in ("worker 0", "worker 1", "ps 0")] == [3, 0, 5]


def test_metrics_of_a_server_that_come_late_do_not_turn_its_curve_back() -> None:
    assert measured((0, block(1, 100)), (1, block(1, 109)), (0, block(2, 104)))["ps 0"]["cpu_seconds"] == 9


def test_metrics_of_a_restarted_worker_are_added_to_those_before() -> None:
    tasks = measured((0, block(10, 1)), (0, block(14, 1)), (0, block(2, 1)), (0, block(5, 1)))
    assert tasks["worker 0"]["cpu_seconds"] == 7


def test_staleness_is_the_mean_of_each_workers_own_blocks() -> None:
    tasks = measured(*((worker, block(1, 1, staleness)) for worker, staleness in ((0, 1), (0, 2), (1, 0))))
    assert [tasks[f"worker {worker}"]["staleness"] for worker in (0, 1)] == pytest.approx([1.5, 0])


@pytest.mark.parametrize(("moved", "pushed"), [([0, 1, 2], 60), ([0], 10), ([1, 2], 50)])
def test_rows_of_frozen_tables_are_pulled_but_not_pushed(moved: list[int], pushed: int) -> None:
    report = block(0.0, 0.0)
    assert report.servers is not None
    report = report._replace(servers=report.servers._replace(exchanged=TableRows(10, 20, 30)))
    metrics = ClusterMetrics([1], servers=1, vector_bytes=100, moved_tables=moved)
    metrics.add(0, report, sent_bytes=0, waited=0.0)
    worker = metrics.tasks()["worker 0"]
    assert worker["received_bytes"] == 60 * (100 + 4)
    assert worker["sent_bytes"] == pushed * 100 + 60 * 4  # a pull names all rows


def test_rows_that_are_read_again_are_named_and_received_once_more() -> None:
    report = block(0.0, 0.0)
    assert report.servers is not None
    report = report._replace(servers=report.servers._replace(exchanged=TableRows(10, 20, 30, read_again=7)))
    metrics = ClusterMetrics([1], servers=1, vector_bytes=100, reads_again=True)
    metrics.add(0, report, sent_bytes=0, waited=0.0)
    tasks = metrics.tasks()
    assert tasks["worker 0"]["received_bytes"] == (60 + 7) * (100 + 4)
    assert tasks["worker 0"]["sent_bytes"] == 60 * (100 + 4) + 7 * 4
    assert tasks["ps 0"]["messages"] == 3


def test_every_block_of_a_call_counts_equally_in_the_staleness() -> None:
    single = block(1, 1, staleness=4)
    call = block(2, 2, staleness=3)
    assert call.servers is not None
    three = call._replace(servers=call.servers._replace(blocks=np.float64(3)))
    tasks = measured((0, single), (0, three))
    assert tasks["worker 0"]["staleness"] == (4 + 3) / 4
    assert tasks["worker 0"]["blocks"] == tasks["ps 0"]["blocks"] == 4

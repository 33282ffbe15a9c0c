"""Costs of training with tables on servers: the reports of all blocks, added up by task and in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.tasks.block_report import BlockReport, ServersReport
from gensim_tfw2v.placement.tasks.worker_metrics import TaskMetrics, WorkerMetrics

_INDEX_BYTES = 4
_MESSAGES_TO_A_SERVER = 2  # which rows, and their changes


class Traffic(NamedTuple):
    """A worker's traffic with all servers together in a call."""

    pulled: int  # bytes from the servers
    pushed: int  # bytes to the servers
    messages: int  # with each server


class ClusterMetrics(WorkerMetrics):
    """Adds up block reports; safe to use from several threads.

    Parameters
    ----------
    cores : sequence of int
        Of each worker, that train a block.
    servers : int
        Servers of the cluster.
    vector_bytes : int
        Bytes of a row that is sent.
    reads_again : bool
        Whether a block reads rows again before it pushes their changes.
    moved_tables : sequence of int
        The tables whose changes are pushed, by their place in `TABLES`.
    """

    def __init__(
        self,
        cores: Sequence[int],
        servers: int,
        vector_bytes: int,
        reads_again: bool = False,
        moved_tables: Sequence[int] = range(len(TABLES)),
    ) -> None:
        super().__init__(cores)
        self._moved_tables = moved_tables
        self._servers = [TaskMetrics() for _ in range(servers)]
        self._row_bytes = vector_bytes + _INDEX_BYTES
        self._messages_to_a_server = _MESSAGES_TO_A_SERVER + reads_again
        self._staleness: list[list[float]] = [
            [] for _ in cores
        ]  # of each worker's blocks; those of a call have its mean
        self._bytes = 0

    def add(self, worker: int, block: BlockReport, sent_bytes: int, waited: float) -> None:
        """Count the blocks of a call, whose message has `sent_bytes`; before it the worker had `waited` seconds."""
        of_servers = block.servers
        assert of_servers is not None
        blocks = int(of_servers.blocks)
        pulled, pushed, messages = self._traffic(block, of_servers)
        with self._lock:
            task = self._count(worker, block, sent_bytes, blocks)
            task.received_bytes += pulled
            task.sent_bytes += pushed
            task.messages += messages * len(self._servers)
            task.waited_seconds += waited
            for server, metrics in zip(self._servers, of_servers.metrics, strict=True):
                server.update_unless_older(metrics)
                server.blocks += blocks
                server.received_bytes += pushed // len(self._servers)
                server.sent_bytes += pulled // len(self._servers)
                server.messages += messages
            self._staleness[worker] += [of_servers.staleness / blocks] * blocks
            self._bytes += pulled + pushed + sent_bytes

    def _traffic(self, block: BlockReport, of_servers: ServersReport) -> Traffic:
        """Return what the worker of a call's blocks has exchanged with the servers."""
        *of_tables, again = map(int, of_servers.exchanged)
        named, pushed = sum(of_tables), sum(of_tables[table] for table in self._moved_tables)
        return Traffic(
            (named + again) * self._row_bytes,
            pushed * self._row_bytes + (named - pushed + again) * _INDEX_BYTES,
            int(of_servers.blocks) * self._messages_to_a_server,
        )

    def tasks(self) -> dict[str, dict[str, float]]:
        """Return each task's metrics so far, by "job number"."""
        workers = super().tasks()
        with self._lock:
            for metrics, staleness in zip(workers.values(), self._staleness, strict=True):
                metrics["staleness"] = sum(staleness) / max(len(staleness), 1)
            return workers | {f"ps {number}": task.report() for number, task in enumerate(self._servers)}

    def report(self, raw_words: int) -> dict[str, Any]:
        """Return the metrics of the whole training of `raw_words` raw words."""
        tasks = self.tasks()
        with self._lock:
            worker_seconds = {**self._seconds._asdict(), "idle": self._waited()}
            staleness = [of_block for of_worker in self._staleness for of_block in of_worker]
            found = self._common_report(raw_words, self._bytes, worker_seconds)
            return {**found, "staleness": _spread(staleness), "tasks": tasks}


def _spread(values: Sequence[float]) -> dict[str, float]:
    """Return the mean and the largest of some numbers, 0 if there are none."""
    return {"mean": float(np.mean(values)), "max": float(max(values))} if values else {"mean": 0.0, "max": 0.0}

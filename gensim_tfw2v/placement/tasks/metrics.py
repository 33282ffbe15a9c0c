"""What training over a cluster costs: the report of every block, added up by task and for the whole training."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.cluster.task_metrics import NAMES
from gensim_tfw2v.placement.tasks.block_report import STAGES, BlockReport

_INDEX_BYTES = 4
_MESSAGES_TO_A_SERVER = 2  # which rows, and their changes; messages about shared rows come on top
_CPU = NAMES.index("cpu_seconds")  # grows as long as a process lives
_MEMORY = NAMES.index("memory_bytes")


@dataclass
class TaskMetrics:
    """Counts of one task, and the metrics of its process."""

    blocks: int = 0
    received_bytes: int = 0  # of blocks: rows, their numbers, word ids
    sent_bytes: int = 0
    messages: int = 0
    waited_seconds: float = 0.0
    staleness: int = 0  # summed over its blocks
    first: Float64Array | None = None  # metrics of its process in its first report
    last: Float64Array = field(default_factory=lambda: np.zeros(len(NAMES)))  # and in its latest one

    def update(self, metrics: Float64Array) -> None:
        """Take a process's metrics; those of a restarted process are added to those of the process before it."""
        if self.first is None:
            self.first = metrics
        elif metrics[_CPU] < self.last[_CPU]:
            self.first = metrics - (self.last - self.first)
        self.last = metrics

    def update_unless_older(self, metrics: Float64Array) -> None:
        """Take a server's metrics, which several workers report: an earlier report may come after a later one."""
        if metrics[_CPU] >= self.last[_CPU]:
            self.update(metrics)

    def report(self) -> dict[str, float]:
        """Return the metrics that every task has."""
        first = self.last if self.first is None else self.first
        used = dict(zip(NAMES, (self.last - first).tolist(), strict=True))
        return {
            "blocks": self.blocks,
            "cpu_seconds": used["cpu_seconds"],
            "memory_bytes": float(self.last[_MEMORY]),
            "received_bytes": self.received_bytes,
            "sent_bytes": self.sent_bytes,
            "interface_received_bytes": used["received_bytes"],
            "interface_sent_bytes": used["sent_bytes"],
            "messages": self.messages,
        }

    def report_of_worker(self) -> dict[str, float]:
        """Return the metrics with those that servers do not have."""
        mean_staleness = self.staleness / max(self.blocks, 1)
        return self.report() | {"waited_seconds": self.waited_seconds, "staleness": mean_staleness}


class Traffic(NamedTuple):
    """What a worker exchanges with all servers together for a block."""

    pulled: int  # bytes from the servers
    pushed: int  # bytes to the servers
    messages: int  # with each server


class ClusterMetrics:
    """Adds up block reports; safe to use from several threads.

    Parameters
    ----------
    workers, servers : int
        Tasks of the cluster.
    vector_bytes : int
        Bytes of a row that travels.
    exchanges, shared_rows : int
        How often a block exchanges shared rows, and how many of all tables together.
    """

    def __init__(self, workers: int, servers: int, vector_bytes: int, exchanges: int = 0, shared_rows: int = 0) -> None:
        self._workers = [TaskMetrics() for _ in range(workers)]
        self._servers = [TaskMetrics() for _ in range(servers)]
        self._row_bytes = vector_bytes + _INDEX_BYTES
        self._shared_bytes = exchanges * shared_rows * vector_bytes
        self._messages_to_a_server = _MESSAGES_TO_A_SERVER + exchanges
        self._seconds = dict.fromkeys(STAGES, 0.0)
        self._staleness: list[int] = []
        self._bytes = 0
        self._tokens = 0
        self._lock = threading.Lock()
        self._began = time.monotonic()

    def add(self, worker: int, block: BlockReport, sent_bytes: int, waited: float) -> None:
        """Count one block, for which the coordinator sent `sent_bytes` after the worker had `waited` seconds."""
        pulled, pushed, messages = self._traffic(block)
        with self._lock:
            task = self._workers[worker]
            task.blocks += 1
            task.received_bytes += pulled + sent_bytes
            task.sent_bytes += pushed
            task.messages += messages * len(self._servers) + 1
            task.waited_seconds += waited
            task.staleness += int(block.staleness)
            task.update(block.worker)
            for server, metrics in zip(self._servers, block.servers, strict=True):
                server.update_unless_older(metrics)
                server.blocks += 1
                server.received_bytes += pushed // len(self._servers)
                server.sent_bytes += pulled // len(self._servers)
                server.messages += messages
            for stage, seconds in zip(STAGES, block.seconds.tolist(), strict=True):
                self._seconds[stage] += seconds
            self._staleness.append(int(block.staleness))
            self._bytes += pulled + pushed + sent_bytes
            self._tokens += int(block.tokens)

    def _traffic(self, block: BlockReport) -> Traffic:
        """Return what a block's worker has exchanged with the servers."""
        rows = int(block.rows.sum())
        row_bytes = rows * self._row_bytes + (self._shared_bytes if rows else 0)
        return Traffic(row_bytes, row_bytes, self._messages_to_a_server)

    def tasks(self) -> dict[str, dict[str, float]]:
        """Return each task's metrics so far, by "job number"."""
        with self._lock:
            workers = {f"worker {number}": task.report_of_worker() for number, task in enumerate(self._workers)}
            return workers | {f"ps {number}": task.report() for number, task in enumerate(self._servers)}

    def report(self, raw_words: int) -> dict[str, Any]:
        """Return the metrics of the whole training, in which `raw_words` words of the corpus were trained."""
        tasks = self.tasks()
        with self._lock:
            idle = sum(task.waited_seconds for task in self._workers)
            return {
                "seconds": time.monotonic() - self._began,
                "raw_words": raw_words,
                "trained_words": self._tokens,
                "blocks": len(self._staleness),
                "bytes": self._bytes,
                "bytes_per_word": self._bytes / max(raw_words, 1),
                "worker_seconds": {**self._seconds, "idle": idle},
                "staleness": _spread(self._staleness),
                "tasks": tasks,
            }


def _spread(values: Sequence[int]) -> dict[str, float]:
    """Return the mean and the largest of some numbers, 0 if there are none."""
    return {"mean": float(np.mean(values)), "max": float(max(values))} if values else {"mean": 0.0, "max": 0.0}

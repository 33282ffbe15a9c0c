"""Costs of training for each worker: the reports of its blocks added up, whatever the design."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.cluster.task import METRIC_NAMES
from gensim_tfw2v.placement.tasks.block_report import BlockReport, StageSeconds
from gensim_tfw2v.placement.tasks.periods import Periods

_CPU = METRIC_NAMES.index("cpu_seconds")  # grows as long as a process lives
_MEMORY = METRIC_NAMES.index("memory_bytes")


@dataclass
class TaskMetrics:
    """Counts of one task, and the metrics of its process."""

    blocks: int = 0
    received_bytes: int = 0  # of blocks: rows, their numbers, word ids
    sent_bytes: int = 0
    messages: int = 0
    waited_seconds: float = 0.0
    first: Float64Array | None = None  # metrics of its process in its first report
    last: Float64Array = field(default_factory=lambda: np.zeros(len(METRIC_NAMES)))  # and in its latest report

    def update(self, metrics: Float64Array) -> None:
        """Record a process's metrics; those of a restarted process are added to those of the process before it."""
        if self.first is None:
            self.first = metrics
        elif metrics[_CPU] < self.last[_CPU]:
            self.first = metrics - (self.last - self.first)
        self.last = metrics

    def update_unless_older(self, metrics: Float64Array) -> None:
        """Record a server's metrics, which several workers report: an earlier report may come after a later one."""
        if metrics[_CPU] >= self.last[_CPU]:
            self.update(metrics)

    def report(self) -> dict[str, float]:
        """Return the metrics that every task has."""
        first = self.last if self.first is None else self.first
        used = dict(zip(METRIC_NAMES, (self.last - first).tolist(), strict=True))
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


class WorkerMetrics:
    """Adds up block reports by worker; safe to use from several threads.

    Designs add what else their tasks exchange, with the lock held.

    Parameters
    ----------
    cores : sequence of int
        Of each worker, that train a block.
    """

    def __init__(self, cores: Sequence[int]) -> None:
        self._cores = cores
        self._workers = [TaskMetrics() for _ in cores]
        self._seconds = StageSeconds()
        self._blocks = self._tokens = 0
        self._periods = Periods()
        self._present: set[int] = set()
        self._lock = threading.Lock()
        self._began = time.monotonic()

    def set_present(self, worker: int, is_present: bool) -> None:
        """Record whether a worker takes part from now on."""
        with self._lock:
            (self._present.add if is_present else self._present.discard)(worker)
            self._periods.set_workers(len(self._present))

    def _count(self, worker: int, block: BlockReport, sent_bytes: int, blocks: int = 1) -> TaskMetrics:
        """Count the blocks of a call, which has one message of `sent_bytes`; return their worker's metrics."""
        task = self._workers[worker]
        task.blocks += blocks
        task.received_bytes += sent_bytes
        task.messages += 1
        task.update(block.worker)
        self._seconds = StageSeconds(*(np.array(self._seconds) + block.seconds).tolist())
        self._blocks += blocks
        self._tokens += int(block.tokens)
        self._periods.add(int(block.tokens))
        return task

    def tasks(self) -> dict[str, dict[str, float]]:
        """Return each task's metrics so far, by "job number"."""
        with self._lock:
            return {
                f"worker {number}": {**task.report(), "waited_seconds": task.waited_seconds, "cores": cores}
                for number, (task, cores) in enumerate(zip(self._workers, self._cores, strict=True))
            }

    def _common_report(self, raw_words: int, travelled: int, worker_seconds: dict[str, float]) -> dict[str, Any]:
        """Return what every design reports of a training of `raw_words` words, in which `travelled` bytes were sent."""
        return {
            "seconds": time.monotonic() - self._began,
            "raw_words": raw_words,
            "trained_words": self._tokens,
            "blocks": self._blocks,
            "bytes": travelled,
            "bytes_per_word": travelled / max(raw_words, 1),
            "worker_seconds": worker_seconds,
        }

    def periods(self, raw_words: int) -> list[dict[str, float]]:
        """Return the speed with each number of workers, in a training of `raw_words` raw words."""
        with self._lock:
            return self._periods.report(raw_words)

    def _waited(self) -> float:
        """Return the seconds for which workers had nothing to do."""
        return sum(task.waited_seconds for task in self._workers)

"""What training sub-models costs: the reports of all shares, what travelled, and how long workers had no share."""

from __future__ import annotations

import threading
import time
from typing import Any

from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.metrics import TaskMetrics


class PartitionMetrics:
    """Adds up what sub-models cost; safe to use from several threads.

    Parameters
    ----------
    workers : int
        Of the cluster.
    """

    def __init__(self, workers: int) -> None:
        self._tasks = [TaskMetrics() for _ in range(workers)]
        self._make = self._compute = 0.0
        self._tokens = self._shares = 0
        self._ended = [0.0] * workers  # when each worker's last share ended; 0: not yet
        self._lock = threading.Lock()
        self._began = time.monotonic()

    def add_share(self, member: Member, report: BlockReport, sent_bytes: int, began: float) -> None:
        """Count a share that a worker began at this time, and for which the coordinator sent `sent_bytes`."""
        with self._lock:
            task = self._tasks[member.number]
            task.blocks += 1
            task.received_bytes += sent_bytes
            task.messages += 1
            task.waited_seconds += began - (self._ended[member.number] or began)
            self._ended[member.number] = time.monotonic()
            task.update(report.worker)
            self._shares += 1
            self._tokens += int(report.tokens)
            self._make += float(report.seconds[0])
            self._compute += float(report.seconds[2])

    def add_read(self, member: Member, read_bytes: int) -> None:
        """Count a table that a worker has sent for a merge."""
        with self._lock:
            self._tasks[member.number].sent_bytes += read_bytes
            self._ended[member.number] = 0.0  # a merge is no waiting for a share

    def tasks(self) -> dict[str, dict[str, float]]:
        """Return each worker's metrics so far, by its name."""
        with self._lock:
            found = {f"worker {number}": task.report_of_worker() for number, task in enumerate(self._tasks)}
        for metrics in found.values():
            del metrics["staleness"]  # nobody else changes a sub-model
        return found

    def report(self, raw_words: int) -> dict[str, Any]:
        """Return the metrics of the whole training, in which `raw_words` words of the corpus were trained."""
        tasks = self.tasks()
        travelled = sum(int(task["received_bytes"] + task["sent_bytes"]) for task in tasks.values())
        with self._lock:
            return {
                "seconds": time.monotonic() - self._began,
                "raw_words": raw_words,
                "trained_words": self._tokens,
                "blocks": self._shares,
                "bytes": travelled,
                "bytes_per_word": travelled / max(raw_words, 1),
                "worker_seconds": {
                    "make": self._make,
                    "compute": self._compute,
                    "idle": sum(task.waited_seconds for task in self._tasks),
                },
                "tasks": tasks,
            }

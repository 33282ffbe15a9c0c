"""Costs of training on workers' own tables: reports of blocks added up, bytes sent, and how long workers waited."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.worker_metrics import WorkerMetrics


class OwnTablesMetrics(WorkerMetrics):
    """Adds up the blocks of workers that train on tables of their own; safe to use from several threads.

    Parameters
    ----------
    cores : sequence of int
        Of each worker, that train a block.
    """

    def __init__(self, cores: Sequence[int]) -> None:
        super().__init__(cores)
        self._ended = [0.0] * len(cores)  # when each worker's last block ended; 0: not yet

    def add_block(self, member: Member, report: BlockReport, sent_bytes: int, began: float) -> None:
        """Count a block that a worker began at this time, and for which the coordinator sent `sent_bytes`."""
        with self._lock:
            task = self._count(member.number, report, sent_bytes)
            task.waited_seconds += began - (self._ended[member.number] or began)
            self._ended[member.number] = time.monotonic()

    def add_read(self, member: Member, read_bytes: int) -> None:
        """Count rows that a worker has sent, so many bytes."""
        with self._lock:
            self._workers[member.number].sent_bytes += read_bytes
            self._ended[member.number] = 0.0  # reading rows does not count as waiting for a block

    def report(self, raw_words: int) -> dict[str, Any]:
        """Return the metrics of the whole training of `raw_words` raw words."""
        tasks = self.tasks()
        travelled = sum(int(task["received_bytes"] + task["sent_bytes"]) for task in tasks.values())
        with self._lock:
            seconds = {"make": self._seconds.make, "compute": self._seconds.compute, "idle": self._waited()}
            return {**self._common_report(raw_words, travelled, seconds), "tasks": tasks}

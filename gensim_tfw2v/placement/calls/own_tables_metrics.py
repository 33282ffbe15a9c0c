"""Costs of training on workers' own tables: reports of blocks added up, bytes sent, and how long workers waited."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.worker_metrics import WorkerMetrics

_NOT_WAITING = float("inf")


class OwnTablesMetrics(WorkerMetrics):
    """Adds up the blocks of workers that train on tables of their own; safe to use from several threads.

    A worker waits whenever it neither makes or trains a block nor sends rows, from `begin` until the metrics are read.
    So it also waits while its next block is prepared and sent, and while the coordinator merges.

    Parameters
    ----------
    cores : sequence of int
        Of each worker, that train a block.
    """

    def __init__(self, cores: Sequence[int]) -> None:
        super().__init__(cores)
        self._waits_since = [_NOT_WAITING] * len(cores)
        self._block_began = [0.0] * len(cores)

    def begin(self, members: Iterable[Member]) -> None:
        """Record that these workers have their tables, and wait from now on."""
        with self._lock:
            for member in members:
                self._waits_since[member.number] = time.monotonic()

    def leave_out(self, members: Iterable[Member]) -> None:
        """Record that these workers are lost, and no longer wait."""
        with self._lock:
            for member in members:
                self._waits_since[member.number] = _NOT_WAITING

    def begin_block(self, member: Member) -> None:
        """Record that a worker is sent a block."""
        with self._lock:
            self._block_began[member.number] = time.monotonic()
            self._add_waiting(member.number, self._block_began[member.number])
            self._waits_since[member.number] = _NOT_WAITING

    def add_block(self, member: Member, report: BlockReport, sent_bytes: int) -> None:
        """Count the block that a worker has trained, for which the coordinator sent `sent_bytes`."""
        now = time.monotonic()
        with self._lock:
            task = self._count(member.number, report, sent_bytes)
            on_the_way = now - self._block_began[member.number] - float(sum(report.seconds))
            task.waited_seconds += max(0.0, on_the_way)
            self._waits_since[member.number] = now

    def add_read(self, member: Member, read_bytes: int, began: float) -> None:
        """Count rows that a worker has sent, so many bytes, since this time."""
        with self._lock:
            self._workers[member.number].sent_bytes += read_bytes
            if self._waits_since[member.number] != _NOT_WAITING:  # not while it trains
                self._add_waiting(member.number, began)
                self._waits_since[member.number] = time.monotonic()

    def tasks(self) -> dict[str, dict[str, float]]:
        """Return each task's metrics so far, by "job number"."""
        now = time.monotonic()
        with self._lock:
            for number in range(len(self._workers)):
                self._add_waiting(number, now)
        return super().tasks()

    def _add_waiting(self, number: int, until: float) -> None:
        """Count the time for which a worker has waited until now; the caller holds the lock."""
        waited = until - self._waits_since[number]
        if waited > 0:
            self._workers[number].waited_seconds += waited
            self._waits_since[number] = until

    def report(self, raw_words: int) -> dict[str, Any]:
        """Return the metrics of the whole training of `raw_words` raw words."""
        tasks = self.tasks()
        travelled = sum(int(task["received_bytes"] + task["sent_bytes"]) for task in tasks.values())
        with self._lock:
            seconds = {"make": self._seconds.make, "compute": self._seconds.compute, "idle": self._waited()}
            return {**self._common_report(raw_words, travelled, seconds), "tasks": tasks}

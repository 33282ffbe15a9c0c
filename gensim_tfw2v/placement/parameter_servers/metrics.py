"""What training over a cluster costs: the report of every block, added up by task and for the whole run."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.blocks.chunk_task import BatchMetrics, TrainedChunk
from gensim_tfw2v.cluster.task_metrics import NAMES
from gensim_tfw2v.placement.parameter_servers.graphs import REPORT_HEAD

_STAGES = ("make", "pull", "compute", "push")
_TABLES = ("input", "output", "node")
_INDEX_BYTES = 4
_MESSAGES_TO_A_SERVER = 2  # which rows, and their changes, beside those that share common rows
_CPU = NAMES.index("cpu_seconds")  # grows as long as a process lives


@dataclass(frozen=True)
class BlockReport:
    """What a worker tells of one block."""

    trained: TrainedChunk
    head: Mapping[str, float]
    servers: npt.NDArray[np.float64]  # [servers, figures]

    @classmethod
    def of(cls, numbers: npt.NDArray[np.float64], servers: int) -> BlockReport:
        """Return the report that a worker's graph packed into one tensor."""
        head, rest = numbers[: len(REPORT_HEAD)], numbers[len(REPORT_HEAD) :]
        figures, rest = rest[: servers * len(NAMES)], rest[servers * len(NAMES) :]
        losses, touched_rows, clipped_rows, measured, pairs = rest.reshape(5, -1)
        named = dict(zip(REPORT_HEAD, head.tolist(), strict=True))
        trained = TrainedChunk(
            tokens=int(named["tokens"]),
            batches=BatchMetrics(*(values.astype(np.float32) for values in (losses, touched_rows, clipped_rows))),
            measured=measured.astype(bool),
            pairs=pairs,
            seconds_preparing=named["make_seconds"],
            seconds_stepping=sum(named[f"{stage}_seconds"] for stage in _STAGES if stage != "make"),
        )
        return cls(trained, named, figures.reshape(servers, -1))

    def rows(self) -> int:
        """Return how many rows this block pulled, and pushed."""
        return int(sum(self.head[f"{table}_rows"] for table in _TABLES))


@dataclass
class _Task:
    blocks: int = 0
    received_bytes: int = 0  # of blocks: rows, their numbers, word ids
    sent_bytes: int = 0
    messages: int = 0
    waited_seconds: float = 0.0
    staleness: int = 0  # summed over its blocks
    begun: npt.NDArray[np.float64] | None = None  # figures when first seen, and by now
    now: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(NAMES)))

    def see(self, figures: npt.NDArray[np.float64]) -> None:
        """Take note of a worker's figures; those of a process that was started anew go on from where the last ended."""
        if self.begun is None:
            self.begun = figures
        elif figures[_CPU] < self.now[_CPU]:
            self.begun = figures - (self.now - self.begun)
        self.now = figures

    def see_unless_older(self, figures: npt.NDArray[np.float64]) -> None:
        """Take note of a server's figures, which several workers bring: one may come after a later one."""
        if figures[_CPU] >= self.now[_CPU]:
            self.see(figures)

    def report(self) -> dict[str, float]:
        """Return the figures that every task has."""
        begun = self.now if self.begun is None else self.begun
        used = dict(zip(NAMES, (self.now - begun).tolist(), strict=True))
        return {
            "blocks": self.blocks,
            "cpu_seconds": used["cpu_seconds"],
            "memory_bytes": float(self.now[NAMES.index("memory_bytes")]),
            "received_bytes": self.received_bytes,
            "sent_bytes": self.sent_bytes,
            "interface_received_bytes": used["received_bytes"],
            "interface_sent_bytes": used["sent_bytes"],
            "messages": self.messages,
        }

    def report_of_worker(self) -> dict[str, float]:
        """Return the figures with those that servers do not have."""
        mean_staleness = self.staleness / max(self.blocks, 1)
        return self.report() | {"waited_seconds": self.waited_seconds, "staleness": mean_staleness}


class ClusterMetrics:
    """Adds up block reports; safe to use from several threads.

    Parameters
    ----------
    workers, servers : int
        Tasks of the cluster.
    vector_bytes : int
        What a row takes on its way.
    times_shared, shared_rows : int
        How often a block shares common rows, and how many of all tables together.
    """

    def __init__(
        self, workers: int, servers: int, vector_bytes: int, times_shared: int = 0, shared_rows: int = 0
    ) -> None:
        self._workers = [_Task() for _ in range(workers)]
        self._servers = [_Task() for _ in range(servers)]
        self._row_bytes = vector_bytes + _INDEX_BYTES
        self._shared_bytes = times_shared * shared_rows * vector_bytes
        self._messages_to_a_server = _MESSAGES_TO_A_SERVER + times_shared
        self._seconds = dict.fromkeys(_STAGES, 0.0)
        self._staleness: list[int] = []
        self._bytes = 0
        self._tokens = 0
        self._lock = threading.Lock()
        self._began = time.monotonic()

    def add(self, worker: int, block: BlockReport, sent_bytes: int, waited: float) -> None:
        """Count one block, for which the coordinator sent `sent_bytes` after the worker had `waited` seconds."""
        row_bytes = block.rows() * self._row_bytes + (self._shared_bytes if block.rows() else 0)
        with self._lock:
            task = self._workers[worker]
            task.blocks += 1
            task.received_bytes += row_bytes + sent_bytes
            task.sent_bytes += row_bytes
            task.messages += self._messages_to_a_server * len(self._servers) + 1
            task.waited_seconds += waited
            task.staleness += int(block.head["staleness"])
            task.see(np.array([block.head[name] for name in NAMES]))
            for server, figures in zip(self._servers, block.servers, strict=True):
                server.see_unless_older(figures)
                server.blocks += 1
                server.received_bytes += row_bytes // len(self._servers)
                server.sent_bytes += row_bytes // len(self._servers)
                server.messages += self._messages_to_a_server
            for stage in _STAGES:
                self._seconds[stage] += block.head[f"{stage}_seconds"]
            self._staleness.append(int(block.head["staleness"]))
            self._bytes += 2 * row_bytes + sent_bytes
            self._tokens += block.trained.tokens

    def tasks(self) -> dict[str, dict[str, float]]:
        """Return each task's figures so far, by "job number"."""
        with self._lock:
            figures = {f"worker {number}": task.report_of_worker() for number, task in enumerate(self._workers)}
            return figures | {f"ps {number}": task.report() for number, task in enumerate(self._servers)}

    def report(self, raw_words: int) -> dict[str, Any]:
        """Return the figures of the whole run, in which `raw_words` words of corpus were trained."""
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

"""What the threads of a training's workers share: blocks that wait for a worker, and where reports go."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import NamedTuple

from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.calls.patience import Patience
from gensim_tfw2v.placement.calls.program import Program, TrainedTables
from gensim_tfw2v.placement.remote.servers import Servers
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.cluster_metrics import ClusterMetrics


class Finished(NamedTuple):
    """The result of a job."""

    report: BlockReport
    worker: int  # the one that trained the block
    moment: float  # when its report arrived, on the monotonic clock


@dataclass(eq=False)
class Job:
    """A chunk and its result. The future counts as running as soon as a worker has taken the chunk."""

    request: Request
    place: int | None = None  # number of the variables on servers that only this block uses; None: it needs none
    result: Future[Finished] = field(default_factory=Future)


@dataclass(frozen=True, eq=False)
class Attempt:
    """A job given to a worker, and the sealed request that the worker receives."""

    job: Job
    request: Request


class Work:
    """Jobs that wait for a worker, and what all threads of workers need.

    Attributes
    ----------
    timeout : float
        The longest limit of a block in seconds, `cluster_timeout`.
    call_timeout : float
        The longest limit of a worker's call in seconds.
    """

    def __init__(self, connection: Connection, timeout: float, overlap: bool, call_blocks: int) -> None:
        self.connection = connection
        self.overlap = overlap
        self.timeout = timeout
        self.call_timeout = timeout * call_blocks
        self.closed = threading.Event()
        self.patience = Patience(connection.workers, self.call_timeout)
        self.servers = Servers(connection, 2 * timeout)
        self.last_report = time.monotonic()
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()

    def begin(self, program: Program, trained: TrainedTables, metrics: ClusterMetrics) -> None:
        """Have workers run this program on these tables from now on."""
        self.program, self.trained, self.metrics = program, trained, metrics

    def is_over(self) -> bool:
        """Return whether no further job is to be done."""
        return self.closed.is_set() or self.servers.failure is not None

    def put(self, job: Job) -> None:
        """Have any worker do a job."""
        self._jobs.put(job)

    def take(self, seconds: float) -> Job | None:
        """Return a job that is not done yet, None if there is none within these seconds."""
        try:
            job = self._jobs.get(timeout=seconds) if seconds else self._jobs.get_nowait()
        except queue.Empty:
            return None
        has_begun = job.result.running()  # on another worker, and is handed over to this one
        return job if has_begun or (not job.result.done() and job.result.set_running_or_notify_cancel()) else None

    def hand_in(self, job: Job, worker: int, report: BlockReport, waited: float) -> None:
        """Give a report to whoever waits for it, unless another worker was faster."""
        if not job.result.done():
            self.metrics.add(worker, report, int(job.request.assignment.nbytes), waited)
            with contextlib.suppress(InvalidStateError):
                job.result.set_result(Finished(report, worker, time.monotonic()))

    def fail(self, job: Job, error: Exception) -> None:
        """Give an error to whoever waits for a report."""
        with contextlib.suppress(InvalidStateError):
            job.result.set_exception(error)

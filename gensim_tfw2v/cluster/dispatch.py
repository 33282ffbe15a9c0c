"""Chunks → workers: one thread a worker, what a failed worker had goes to another, and no wait is without an end."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any

from gensim_tfw2v.cluster import python_ops
from gensim_tfw2v.cluster.connection import Connection, device
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.graphs import Handles, Request, Staged, WorkerGraphs
from gensim_tfw2v.cluster.measuring import BlockReport, RunMeasurement
from gensim_tfw2v.tensorflow_runtime import load_tensorflow

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.2
_CLOSING_SECONDS = 2.0
# Of a task that was started anew, or of a connection in which it is being replaced.
_SIGNS_OF_RESTART = ("context_id", "unknown device", "Failed to find function")


@dataclass
class _Job:
    request: Request
    result: Future[BlockReport] = field(default_factory=Future)
    handed_out: float | None = None  # when a worker took it

    def sent_bytes(self) -> int:
        return int(self.request.ids.nbytes + self.request.lengths.nbytes)


class Dispatcher:
    """Hands chunks to workers and waits for their reports.

    Every worker has one thread, and one call at a time: TensorFlow's servers can hang when two calls of functions
    that reach over several tasks run on one worker.
    """

    def __init__(self, connection: Connection, overlap: bool, timeout: float) -> None:
        self._tf = load_tensorflow()
        self._connection = connection
        self._overlap = overlap
        self._timeout = timeout
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []
        self._last_report = time.monotonic()
        self.failure: ClusterError | None = None

    def begin(
        self, graphs: WorkerGraphs, handles: Handles, probe: Callable[[], None], measurement: RunMeasurement
    ) -> None:
        """Use these graphs and tables from now on; `probe` raises an error if a server has lost its tables."""
        self._graphs, self._handles, self._probe, self._measurement = graphs, handles, probe, measurement
        if not self._threads:
            self._threads = [
                threading.Thread(target=self._serve, args=(worker,), name=f"tfw2v-cluster-{worker}", daemon=True)
                for worker in range(self._connection.workers)
            ]
            for thread in self._threads:
                thread.start()

    def train(self, request: Request) -> BlockReport:
        """Return a worker's report once it has trained the chunk."""
        job = _Job(request)
        self._last_report = max(self._last_report, time.monotonic() - self._timeout / 2)
        self._jobs.put(job)
        while True:
            try:
                return job.result.result(timeout=_POLL_SECONDS)
            except FutureTimeout:
                if job.result.done():
                    continue
            if self.failure is not None:
                raise self.failure
            self._look_after(job)

    def _look_after(self, job: _Job) -> None:
        """Give a job that its worker does not finish to another one; raise ClusterError if no worker reports."""
        now = time.monotonic()
        if job.handed_out is not None and now - job.handed_out > self._timeout:
            logger.warning("a worker has not finished its block for %.0f s; another one gets it", self._timeout)
            job.handed_out = None
            self._jobs.put(job)
        if now - self._last_report > 2 * self._timeout:
            raise ClusterError(
                f"no worker has finished a block for {2 * self._timeout:.0f} s (cluster_timeout is "
                f"{self._timeout:.0f}); see whether the workers are alive with `tfw2v cluster status`"
            )

    def close(self) -> None:
        """Let the threads end; one whose worker does not answer is left behind."""
        self._closed.set()
        deadline = time.monotonic() + _CLOSING_SECONDS
        for thread in self._threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))

    @contextlib.contextmanager
    def server_errors(self) -> Iterator[None]:
        """Turn errors of operations on servers into a ClusterError, and remember it."""
        try:
            yield
        except self._tf.errors.OpError as error:
            self._lose_servers(error)
            assert self.failure is not None
            raise self.failure from error

    # -- a worker's thread -------------------------------------------------------------------------------------------

    def _serve(self, worker: int) -> None:
        staged: tuple[_Job, Staged] | None = None
        waited = 0.0
        while True:
            following, seconds = self._next_job(may_wait=staged is None)
            waited += seconds
            if following is None and staged is None:
                return
            jobs = [job for job in (staged and staged[0], following) if job is not None]
            try:
                staged = self._advance(worker, staged, following, waited)
                waited = 0.0
            except Exception as error:
                staged = None
                if not self._recover(worker, jobs, error):
                    return

    def _next_job(self, may_wait: bool) -> tuple[_Job | None, float]:
        """Return the next job, if there is one or may be waited for one, and how long that took."""
        began = time.monotonic()
        while not self._closed.is_set() and self.failure is None:
            try:
                job = self._jobs.get(timeout=_POLL_SECONDS) if may_wait else self._jobs.get_nowait()
            except queue.Empty:
                if may_wait:
                    continue
                break
            if not job.result.done():
                job.handed_out = time.monotonic()
                return job, time.monotonic() - began
        return None, time.monotonic() - began

    def _advance(
        self, worker: int, staged: tuple[_Job, Staged] | None, following: _Job | None, waited: float
    ) -> tuple[_Job, Staged] | None:
        """Finish the staged block and stage the following one; return the latter."""
        tf, graphs, handles = self._tf, self._graphs, self._handles
        with tf.device(device("worker", worker)):
            request = None
            if following is not None:
                request = Request(*(tf.constant(value) for value in following.request))
                if not self._overlap:
                    self._hand_in(worker, following, graphs.train(handles, request).numpy(), waited)
                    return None
            if staged is None:
                next_staged = graphs.stage(handles, request)
            elif request is None:
                report, next_staged = graphs.finish(handles, staged[1]), None
            else:
                report, next_staged = graphs.finish_and_stage(handles, staged[1], request)
            if staged is not None:
                self._hand_in(worker, staged[0], report.numpy(), waited)
            if following is None:
                return None
            return following, next_staged

    def _hand_in(self, worker: int, job: _Job, numbers: Any, waited: float) -> None:
        report = BlockReport.of(numbers, self._connection.servers)
        self._measurement.add(worker, report, job.sent_bytes(), waited)
        self._last_report = time.monotonic()
        with contextlib.suppress(InvalidStateError):  # another worker was faster
            job.result.set_result(report)

    def _recover(self, worker: int, jobs: list[_Job], error: Exception) -> bool:
        """Return whether the worker is of use again, after an error from which it can come back."""
        lost = (self._tf.errors.UnavailableError, self._tf.errors.AbortedError, self._tf.errors.CancelledError)
        if python_ops.is_missing_function(error):
            error = ClusterError(
                f"worker {worker} at {self._connection.addresses['worker'][worker]} was not started by `tfw2v server`"
            )
        elif isinstance(error, lost) or any(sign in str(error) for sign in _SIGNS_OF_RESTART):
            return self._await_return(worker, jobs, error)
        for job in jobs:
            with contextlib.suppress(InvalidStateError):
                job.result.set_exception(error)
        return True

    def _await_return(self, worker: int, jobs: list[_Job], error: Exception) -> bool:
        try:
            self._probe()
        except self._tf.errors.OpError as server_error:
            self._lose_servers(server_error)
            return False
        address = self._connection.addresses["worker"][worker]
        logger.warning("worker %i at %s is gone; its blocks go to others until it is back", worker, address)
        for job in jobs:
            job.handed_out = None
            self._jobs.put(job)
        while not self._closed.is_set() and self.failure is None:
            try:
                self._connection.refresh()
                self._connection.describe("worker", worker)
            except (self._tf.errors.OpError, ClusterError):
                time.sleep(_POLL_SECONDS)
                continue
            logger.warning("worker %i at %s is back", worker, address)
            return True
        return False

    def _lose_servers(self, error: Exception) -> None:
        brief = " ".join(str(error).split())[:200]
        self.failure = ClusterError(
            "a parameter server was lost, and its part of the vectors with it; the model keeps the vectors of its last "
            f"finished epoch. Start the server again and call train() for the epochs left. TensorFlow says: {brief}"
        )

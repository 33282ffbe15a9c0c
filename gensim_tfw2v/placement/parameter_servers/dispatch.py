"""Chunks → workers: one thread a worker, what a failed worker had goes to another, and no wait is without an end."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection, device
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.health import answers, silent_of
from gensim_tfw2v.placement.parameter_servers.graphs import Handles, Request, Staged, WorkerGraphs
from gensim_tfw2v.placement.parameter_servers.metrics import BlockReport, ClusterMetrics
from gensim_tfw2v.placement.parameter_servers.servers import Servers
from gensim_tfw2v.placement.parameter_servers.task_functions import UNKNOWN_MODEL
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.2
_CLOSING_SECONDS = 2.0
# Of a task that was started anew, or of a connection in which it is being replaced.
_SIGNS_OF_RESTART = ("context_id", "unknown device", "Failed to find function")


@dataclass
class _Job:
    request: Request
    result: Future[BlockReport] = field(default_factory=Future)
    worker: int | None = None  # that has it
    handed_out: float = 0.0  # when it got it

    def sent_bytes(self) -> int:
        return int(self.request.assignment.nbytes)


@dataclass(frozen=True)
class Run:
    """What is on the servers for a training."""

    name: str
    handles: Handles
    model: Any  # handle of what workers have to know of the model
    probe: Callable[[], None]  # raises an error if a server has lost its tables


class Dispatcher:
    """Hands chunks to workers and waits for their reports.

    Every worker has one thread. A call on a worker that is stopped lasts until it is continued or ends, and may outlast
    this object; so nothing here waits for a thread.
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
        self._failure: ClusterError | None = None  # of all workers, for all that waits for them
        self.servers = Servers(connection, 2 * timeout)

    def begin(self, graphs: WorkerGraphs, run: Run, measurement: ClusterMetrics) -> None:
        """Use these graphs and tables from now on."""
        self._graphs, self._run, self._measurement = graphs, run, measurement
        if not self._threads:
            self._threads = [
                threading.Thread(target=self._serve, args=(worker,), name=f"tfw2v-cluster-{worker}", daemon=True)
                for worker in range(self._connection.workers)
            ]
            for thread in self._threads:
                thread.start()

    def train(self, request: Request) -> BlockReport:
        """Return a worker's report once it has trained the chunk."""
        self._raise_failure()
        job = _Job(request)
        self._last_report = max(self._last_report, time.monotonic() - self._timeout / 2)
        self._jobs.put(job)
        while True:
            try:
                return job.result.result(timeout=_POLL_SECONDS)
            except FutureTimeout:
                if job.result.done():
                    continue
            self._raise_failure()
            self._look_after(job)

    def _raise_failure(self) -> None:
        failure = self.servers.failure or self._failure
        if failure is not None:
            raise failure

    def _look_after(self, job: _Job) -> None:
        """Give a job that its worker does not finish to another one; raise ClusterError if no worker reports."""
        now = time.monotonic()
        if job.worker is not None and now - job.handed_out > self._timeout:
            name = self._name(job.worker)
            logger.warning("%s has not finished its block for %.0f s; another worker gets it", name, self._timeout)
            self._hand_back(job)
        if now - self._last_report > 2 * self._timeout:
            self._give_up()

    def _give_up(self) -> None:
        """Raise the error of a cluster that has not finished a block for long."""
        seconds = f"{2 * self._timeout:.0f} s (cluster_timeout is {self._timeout:.0f})"
        complaint = f"no worker has finished a block for {seconds}"
        if lost := self.servers.silent():
            raise self.servers.lose(f"{complaint}, and no answer comes from {', '.join(lost)}")
        silent = silent_of(self._connection.tasks("worker"))
        found = f"no answer comes from {', '.join(silent)}" if silent else "all tasks answer"
        self._failure = ClusterError(f"{complaint}; {found}. See `tfw2v cluster status` and the logs of the tasks")
        raise self._failure

    def close(self) -> bool:
        """Return whether all threads have ended; one whose worker does not answer is left behind."""
        self._closed.set()
        deadline = time.monotonic() + _CLOSING_SECONDS
        for thread in self._threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    # -- a worker's thread -------------------------------------------------------------------------------------------

    def _serve(self, worker: int) -> None:
        from tensorflow.python.eager import context, executor

        # As in TensorFlow's ClusterCoordinator. An error stays in an executor until its next operation reports it.
        own = executor.new_executor(enable_async=False)
        with context.executor_scope(own):
            self._serve_jobs(worker)
        with contextlib.suppress(self._tf.errors.OpError):
            own.wait()  # for the last error, which nobody wants to know any more
        own.clear_error()

    def _serve_jobs(self, worker: int) -> None:
        staged: tuple[_Job, Staged] | None = None
        known_model: str | None = None
        waited = 0.0
        while True:
            following, seconds = self._next_job(worker, may_wait=staged is None)
            waited += seconds
            if following is None and staged is None:
                return
            jobs = [job for job in (staged and staged[0], following) if job is not None]
            try:
                with self._connection.worker_locks.hold(worker):
                    if following is not None and following.request.model != known_model:
                        self._register_model(worker, following.request.model)
                        known_model = following.request.model
                    staged = self._advance(worker, staged, following, waited)
                waited = 0.0
            except Exception as error:
                staged = known_model = None
                if not self._recover(worker, jobs, error):
                    return

    def _next_job(self, worker: int, may_wait: bool) -> tuple[_Job | None, float]:
        """Return the next job, if there is one or may be waited for one, and how long that took."""
        began = time.monotonic()
        while not self._is_over():
            if self._connection.worker_locks.is_busy(worker):  # with a call of an earlier training
                time.sleep(_POLL_SECONDS)
                continue
            try:
                job = self._jobs.get(timeout=_POLL_SECONDS) if may_wait else self._jobs.get_nowait()
            except queue.Empty:
                if may_wait:
                    continue
                break
            if not job.result.done():
                job.handed_out = time.monotonic()
                job.worker = worker
                return job, time.monotonic() - began
        return None, time.monotonic() - began

    def _register_model(self, worker: int, model: str) -> None:
        """Tell a worker of the model, which it fetches from the first server."""
        name = remote_functions.local(model)
        with self._tf.device(device("worker", worker)):
            self._graphs.register_model(name, self._run.model).numpy()

    def _advance(
        self, worker: int, staged: tuple[_Job, Staged] | None, following: _Job | None, waited: float
    ) -> tuple[_Job, Staged] | None:
        """Finish the staged block and stage the following one; return the latter."""
        tf, graphs, handles = self._tf, self._graphs, self._run.handles
        request = None if following is None else Request(*map(remote_functions.local, following.request))
        with tf.device(device("worker", worker)):
            if following is not None and not self._overlap:
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
            return None if following is None else (following, next_staged)

    def _hand_in(self, worker: int, job: _Job, numbers: Any, waited: float) -> None:
        report = BlockReport.of(numbers, self._connection.servers)
        self._measurement.add(worker, report, job.sent_bytes(), waited)
        self._last_report = time.monotonic()
        with contextlib.suppress(InvalidStateError):  # another worker was faster
            job.result.set_result(report)

    def _recover(self, worker: int, jobs: list[_Job], error: Exception) -> bool:
        """Return whether the worker is of use again, after an error from which it can come back."""
        if remote_functions.is_missing_function(error):
            error = ClusterError(f"{self._name(worker)} was not started by `tfw2v server`")
        elif (said := remote_functions.said_by_task(error)) == UNKNOWN_MODEL:
            for job in jobs:
                self._hand_back(job)
            return True
        elif said:
            error = ClusterError(f"{self._name(worker)}: {said}")
        elif isinstance(error, self._tf.errors.OpError):
            try:
                self._run.probe()
            except self._tf.errors.OpError as server_error:
                self.servers.lose(brief(server_error))
                return False
            is_lost = self._is_lost(worker, error)
            if is_lost or self._is_of_earlier_training(error):
                for job in jobs:
                    self._hand_back(job)
                return not is_lost or self._await_return(worker, error)
        for job in jobs:
            with contextlib.suppress(InvalidStateError):
                job.result.set_exception(error)
        return True

    def _is_lost(self, worker: int, error: Exception) -> bool:
        """Return whether an error is one of connections and restarts, and not of what was to be done."""
        errors = self._tf.errors
        return (
            isinstance(error, (errors.UnavailableError, errors.AbortedError, errors.CancelledError))
            or any(sign in str(error) for sign in _SIGNS_OF_RESTART)
            or not answers(self._connection.addresses["worker"][worker])
        )

    def _is_of_earlier_training(self, error: Exception) -> bool:
        """Return whether it is another training's tables that are missing.

        A worker that was stopped and goes on finds the tables freed for which it was called, and TensorFlow tells that
        to whoever calls it next.
        """
        errors = self._tf.errors
        is_missing = isinstance(error, (errors.NotFoundError, errors.FailedPreconditionError))
        return is_missing and f"{self._run.name}/" not in str(error)

    def _await_return(self, worker: int, error: Exception) -> bool:
        """Return True once the worker can be called again, False if training is over before."""
        is_missed = False  # a worker may also have got an error that was about another one
        while not self._is_over():
            if answers(self._connection.addresses["worker"][worker]):
                with contextlib.suppress(self._tf.errors.OpError, ClusterError):
                    if self._can_be_called(worker):
                        if is_missed:
                            logger.warning("%s is back", self._name(worker))
                        return True
            if not is_missed:
                is_missed = True
                name = self._name(worker)
                logger.warning("%s is gone; its blocks go to others until it is back (%s)", name, brief(error))
            time.sleep(_POLL_SECONDS)
        return False

    def _can_be_called(self, worker: int) -> bool:
        """Return whether a worker that answers knows this process, to which it is introduced anew if need be."""
        try:
            with self._connection.worker_locks.hold(worker):
                self._connection.describe("worker", worker)
        except (self._tf.errors.OpError, ClusterError):
            return self._connection.refresh() and self._can_be_called(worker)
        return True

    def _hand_back(self, job: _Job) -> None:
        job.worker = None
        self._jobs.put(job)

    def _is_over(self) -> bool:
        return self._closed.is_set() or self.servers.failure is not None

    def _name(self, worker: int) -> str:
        return f"worker {worker} at {self._connection.addresses['worker'][worker]}"

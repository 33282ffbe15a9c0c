"""Chunks → workers. A failed worker's block goes to another worker, and every wait has a limit."""

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
from gensim_tfw2v.placement.parameter_servers.block_report import BlockReport
from gensim_tfw2v.placement.parameter_servers.graphs import Request, Staged, WorkerGraphs
from gensim_tfw2v.placement.parameter_servers.metrics import ClusterMetrics
from gensim_tfw2v.placement.parameter_servers.server_rows import Handles
from gensim_tfw2v.placement.parameter_servers.servers import Servers
from gensim_tfw2v.placement.parameter_servers.task_functions import UNKNOWN_MODEL
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.2
_CLOSING_SECONDS = 2.0
# In messages about a task that was restarted, or about a connection in which it is being replaced.
_RESTART_MESSAGES = ("context_id", "unknown device", "Failed to find function")


@dataclass
class _Job:
    request: Request
    result: Future[BlockReport] = field(default_factory=Future)
    worker: int | None = None  # that has it
    handed_out: float = 0.0  # when it got it

    def sent_bytes(self) -> int:
        return int(self.request.assignment.nbytes)


@dataclass(frozen=True)
class RemoteTraining:
    """What a training has on the servers."""

    lease: str  # its name
    handles: Handles
    model: Any  # handle of the bytes of its `WorkerModel`
    probe: Callable[[], None]  # raises an error if a server has lost its tables


class Dispatcher:
    """Hands chunks to workers and waits for their reports.

    Every worker has one thread. A call on a hung worker lasts until the worker continues or ends, which may be after
    this object is closed. So nothing here waits for a thread without a limit.
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
        self._failure: ClusterError | None = None  # of all workers, raised in every call of `train`
        self.servers = Servers(connection, 2 * timeout)

    def begin(self, graphs: WorkerGraphs, training: RemoteTraining, metrics: ClusterMetrics) -> None:
        """Use these graphs and tables from now on."""
        self._graphs, self._training, self._metrics = graphs, training, metrics
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
            self._check_on(job)

    def _raise_failure(self) -> None:
        failure = self.servers.failure or self._failure
        if failure is not None:
            raise failure

    def _check_on(self, job: _Job) -> None:
        """Give a job that its worker does not finish to another one; raise ClusterError if no worker reports."""
        now = time.monotonic()
        if job.worker is not None and now - job.handed_out > self._timeout:
            name = self._name(job.worker)
            logger.warning("%s has not finished its block for %.0f s; another worker gets it", name, self._timeout)
            self._hand_back(job)
        if now - self._last_report > 2 * self._timeout:
            self._give_up()

    def _give_up(self) -> None:
        """Raise the error of a cluster in which no worker has finished a block for long."""
        seconds = f"{2 * self._timeout:.0f} s (cluster_timeout is {self._timeout:.0f})"
        complaint = f"no worker has finished a block for {seconds}"
        if lost := self.servers.silent():
            raise self.servers.declare_lost(f"{complaint}, and no answer comes from {', '.join(lost)}")
        silent = silent_of(self._connection.tasks("worker"))
        found = f"no answer comes from {', '.join(silent)}" if silent else "all tasks answer"
        self._failure = ClusterError(f"{complaint}; {found}. See `tfw2v cluster status` and the logs of the tasks")
        raise self._failure

    def close(self) -> bool:
        """Return whether all threads have ended; the thread of a worker that does not answer goes on."""
        self._closed.set()
        deadline = time.monotonic() + _CLOSING_SECONDS
        for thread in self._threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self, worker: int) -> None:
        from tensorflow.python.eager import context, executor

        # As in TensorFlow's ClusterCoordinator. An error stays in an executor until its next operation reports it.
        own = executor.new_executor(enable_async=False)
        # Until this thread ends. TensorFlow's `executor_scope` would keep an object of the other threads' executor, and
        # Python shows that executor's error, which may be left of a lost server, when it deletes such an object.
        context.context().executor = own
        self._serve_jobs(worker)
        with contextlib.suppress(self._tf.errors.OpError):
            own.wait()  # for the last error, which concerns nobody any more
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
        """Return the next job, and how long that took; None if there is none and it may not wait for one."""
        began = time.monotonic()
        while not self._is_over():
            if self._connection.worker_locks.is_busy(worker):  # with an earlier training's call
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
        """Have a worker fetch the model from the first server."""
        name = remote_functions.local(model)
        with self._tf.device(device("worker", worker)):
            self._graphs.register_model(name, self._training.model).numpy()

    def _advance(
        self, worker: int, staged: tuple[_Job, Staged] | None, following: _Job | None, waited: float
    ) -> tuple[_Job, Staged] | None:
        """Finish the staged block and stage the following one; return the latter."""
        tf, graphs, handles = self._tf, self._graphs, self._training.handles
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
        try:
            report = BlockReport.from_array(numbers, self._connection.servers)
        except ValueError as error:
            raise ClusterError(f"{self._name(worker)}: {error}") from None
        self._metrics.add(worker, report, job.sent_bytes(), waited)
        self._last_report = time.monotonic()
        with contextlib.suppress(InvalidStateError):  # another worker was faster
            job.result.set_result(report)

    def _recover(self, worker: int, jobs: list[_Job], error: Exception) -> bool:
        """Return whether the worker can be used again after an error."""
        if remote_functions.is_missing_function(error):
            error = ClusterError(f"{self._name(worker)} was not started by `tfw2v server`")
        elif (message := remote_functions.task_error_message(error)) == UNKNOWN_MODEL:
            for job in jobs:
                self._hand_back(job)
            return True
        elif message:
            error = ClusterError(f"{self._name(worker)}: {message}")
        elif isinstance(error, self._tf.errors.OpError):
            try:
                self._training.probe()
            except self._tf.errors.OpError as server_error:
                self.servers.declare_lost(brief(server_error))
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
        """Return whether an error comes from connections or restarts, not from the work itself."""
        errors = self._tf.errors
        return (
            isinstance(error, (errors.UnavailableError, errors.AbortedError, errors.CancelledError))
            or any(message in str(error) for message in _RESTART_MESSAGES)
            or not answers(self._connection.addresses["worker"][worker])
        )

    def _is_of_earlier_training(self, error: Exception) -> bool:
        """Return whether an error is about missing tables of another training.

        A hung worker that continues finds its tables freed. TensorFlow reports that error in the next call.
        """
        errors = self._tf.errors
        is_missing = isinstance(error, (errors.NotFoundError, errors.FailedPreconditionError))
        return is_missing and f"{self._training.lease}/" not in str(error)

    def _await_return(self, worker: int, error: Exception) -> bool:
        """Return True once the worker can be called again, False if training ends before."""
        is_missed = False  # the error may have been about another worker
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
        """Return whether a worker that answers accepts calls; a restarted one is connected again first."""
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

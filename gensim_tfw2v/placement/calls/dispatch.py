"""Chunks → workers. A failed or hung worker's block goes to another worker, and every wait has a limit."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Protocol

from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answering, silent_of
from gensim_tfw2v.placement.calls.program import Program, TrainedTables
from gensim_tfw2v.placement.calls.work import Job, Work
from gensim_tfw2v.placement.calls.worker_thread import WorkerThread
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.cluster_metrics import ClusterMetrics

_POLL_SECONDS = 0.2
_THREADS_THAT_POLL = 16  # so often; together, more threads would take a notable share of a core
_SECONDS_BETWEEN_LOOKS = 0.5
_CLOSING_SECONDS = 2.0


class HasResult(Protocol):
    """An object whose result can be waited for."""

    @property
    def result(self) -> Future[Any]:
        """The result."""
        ...


class Dispatcher:
    """Hands chunks to workers and waits for their reports.

    Every worker has one thread. Threads that wait for a report also check all workers: a hung worker's blocks go to
    others, and its call is cancelled.

    Parameters
    ----------
    timeout : float
        Seconds after which a block that its worker has not finished goes to another worker.
    overlap : bool
        Whether a worker makes its next block, and fetches what that needs, while it trains.
    call_blocks : int
        Blocks that a worker trains in a call, which may take as many times as long.
    """

    def __init__(self, connection: Connection, timeout: float, overlap: bool = False, call_blocks: int = 1) -> None:
        self.connection = connection
        self._work = Work(connection, timeout, overlap, call_blocks)
        self._threads: list[WorkerThread] = []
        self._looking = threading.Lock()
        self._counting = threading.Lock()
        self._waiting = 0  # threads that wait for reports
        self._last_look = self._last_check = time.monotonic()
        self._last_silence = -math.inf  # when a server was last seen silent
        self._failure: ClusterError | None = None  # of all workers, raised in every call of `train`
        self.servers = self._work.servers

    def begin(self, program: Program, trained: TrainedTables, metrics: ClusterMetrics) -> None:
        """Have workers run this program on these tables from now on."""
        self._work.begin(program, trained, metrics)
        if not self._threads:
            self._threads = [WorkerThread(worker, self._work) for worker in range(self.connection.workers)]
            for thread in self._threads:
                thread.start()

    def train(self, request: Request) -> BlockReport:
        """Return a worker's report once it has trained the chunk."""
        job = self.start(request)
        self.wait([job])
        return job.result.result().report

    def start(self, request: Request, place: int | None = None) -> Job:
        """Have a worker train a chunk, with this place for it alone if one is given; return the job to wait for."""
        self._raise_failure()
        job, work = Job(request, place), self._work
        work.last_report = max(work.last_report, time.monotonic() - work.timeout / 2)
        work.put(job)
        return job

    def wait(self, jobs: Sequence[HasResult], left: int = 0) -> None:
        """Return once at most `left` of these jobs are not done."""
        with self._counted_as_waiting():
            while len(running := [job.result for job in jobs if not job.result.done()]) > left:
                seconds = self._seconds_to_wait()
                woken_at = time.monotonic() + seconds
                if wait(running, timeout=seconds, return_when=FIRST_COMPLETED).done:
                    continue
                self._begin_time_anew_if_late(time.monotonic() - woken_at)
                self._raise_failure()
                self._look_after_workers()
                self._raise_if_stuck()

    @contextlib.contextmanager
    def _counted_as_waiting(self) -> Iterator[None]:
        with self._counting:
            self._waiting += 1
        try:
            yield
        finally:
            with self._counting:
                self._waiting -= 1

    def _seconds_to_wait(self) -> float:
        """Return after how long a thread that waits looks around; the more of them wait, the less often each does."""
        return _POLL_SECONDS * max(1.0, self._waiting / _THREADS_THAT_POLL)

    def _raise_failure(self) -> None:
        failure = self.servers.failure or self._failure
        if failure is not None:
            raise failure

    def _begin_time_anew_if_late(self, seconds: float) -> None:
        """Let workers report for all of their time from now on if this process did not run for long meanwhile.

        A process that is stopped, like its machine that sleeps, receives no reports.
        """
        if seconds > self._work.timeout / 2:
            self._work.last_report = time.monotonic()

    def _look_after_workers(self) -> None:
        """Check all workers, unless another thread does so or did so a moment ago."""
        if not self._looking.acquire(blocking=False):
            return
        try:
            elapsed = time.monotonic() - self._last_look
            if elapsed < _SECONDS_BETWEEN_LOOKS:
                return
            self._last_look += elapsed
            # Time in which this process was stopped does not count against the workers.
            counted = min(elapsed, 2 * _SECONDS_BETWEEN_LOOKS)
            overdue = [thread for thread in self._threads if thread.is_overdue(counted)]
            if overdue and self.servers.silent():
                # Their calls may wait for that server. Changes that wait there would be added before the ticket ends,
                # and the block would be trained twice.
                self._last_silence = time.monotonic()
                for thread in overdue:
                    thread.begin_time_anew()
                return
            there = answering(thread.address for thread in overdue)
            for thread in overdue:
                thread.look(thread.address in there)
        finally:
            self._looking.release()

    def _raise_if_stuck(self) -> None:
        """Raise ClusterError if no worker has finished a call for too long.

        As long as a worker trains and all servers answer, its call may need the time of all of its blocks. Calls that
        have waited for a server have all of their time once it answers again.
        """
        work, now = self._work, time.monotonic()
        if now - max(work.last_report, self._last_check) <= 2 * work.timeout:
            return
        self._last_check = now
        lost = self.servers.silent()
        is_training = any(thread.is_training for thread in self._threads)
        limit = 2 * (work.call_timeout if is_training and not lost else work.timeout)
        since = work.last_report if lost else max(work.last_report, self._last_silence)
        if now - since > limit:
            self._give_up(limit, lost)

    def _give_up(self, seconds: float, lost: Sequence[str]) -> None:
        """Raise the error of a cluster in which no worker has finished a block for so many seconds."""
        complaint = f"no worker has finished a block for {seconds:.0f} s (cluster_timeout is {self._work.timeout:.0f})"
        if lost:
            raise self.servers.declare_lost(f"{complaint}, and no answer comes from {', '.join(lost)}")
        silent = silent_of(self.connection.tasks("worker"))
        found = f"no answer comes from {', '.join(silent)}" if silent else "all tasks answer"
        self._failure = ClusterError(f"{complaint}; {found}. See `tfw2v cluster status` and the logs of the tasks")
        raise self._failure

    def close(self) -> bool:
        """Close; return whether no worker can use the tables any more: all threads have ended, and no worker hangs."""
        self._work.closed.set()
        if not self._have_ended():
            there = answering(self.connection.tasks("worker").values())
            for thread in self._threads:
                thread.leave(thread.address in there)
        return self._have_ended() and not self.connection.worker_locks.abandoned

    def _have_ended(self) -> bool:
        deadline = time.monotonic() + _CLOSING_SECONDS
        return all([thread.join(deadline - time.monotonic()) for thread in self._threads])

"""The coordinator's thread for one worker: it calls the worker's graphs, and other threads watch over it."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.cluster.cutting import CancellableCalls, cut
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.health import Silence, answers
from gensim_tfw2v.cluster.specification import VACANT
from gensim_tfw2v.placement.calls.registration import Registration, has_forgotten_model
from gensim_tfw2v.placement.calls.work import Attempt, Work
from gensim_tfw2v.placement.calls.worker_return import await_return, is_lost, is_of_earlier_training
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.runtime.private_tensorflow import own_executor
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.2
_LONGEST_REST_SECONDS = 5.0


class WorkerThread:
    """Gives a worker its blocks, one call after the other.

    `look`, `leave` and `join` are for other threads. A worker is late from the moment at which its blocks go to others
    until it can be called again. A worker that leaves trains the blocks that it has, and gets no other.
    """

    def __init__(self, number: int, work: Work) -> None:
        self._tf = load_tensorflow()
        self._number, self._work = number, work
        self._attendance = work.connection.attendance
        self._lock = threading.Lock()  # guards the next four
        self._attempts: list[Attempt] = []  # those whose reports count
        self._calls: CancellableCalls | None = None  # while one runs
        self._seconds = 0.0  # how long it has run
        self._is_late = number in work.connection.worker_locks.abandoned
        self._silence = Silence()
        self._thread = threading.Thread(target=self._run, name=f"tfw2v-cluster-{number}", daemon=True)

    @property
    def address(self) -> str:
        """The worker's address, which may change while the worker is away."""
        return self._work.connection.addresses["worker"][self._number]

    @property
    def name(self) -> str:
        """The worker's number and address."""
        return f"worker {self._number} at {self.address}"

    @property
    def is_training(self) -> bool:
        """Whether the worker has a call whose blocks have not gone to others."""
        with self._lock:
            return self._calls is not None and not self._is_late

    def start(self) -> None:
        """Begin to take jobs."""
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Return whether the thread ends within these seconds."""
        self._thread.join(timeout=max(0.0, seconds))
        return not self._thread.is_alive()

    def is_overdue(self, elapsed: float) -> bool:
        """Return whether a call takes longer than a silent worker may, `elapsed` seconds after the last question."""
        with self._lock:
            self._seconds += elapsed
            is_overdue = self._calls is not None and self._seconds > self._work.patience.limit(
                self._number, is_answering=False
            )
        if not is_overdue:
            self._silence.forget()
        return is_overdue

    def begin_time_anew(self) -> None:
        """Let the running call have all of its time from now on."""
        with self._lock:
            self._seconds = 0.0
        self._silence.forget()

    def look(self, does_answer: bool) -> None:
        """Give the blocks of an overdue call to other workers, if the worker is silent or needs too long."""
        if not self.is_overdue(0.0):  # the call has ended meanwhile
            return
        with self._lock:
            calls, seconds = self._calls, self._seconds
        is_silent = self._silence.record(does_answer)
        limit = self._work.patience.limit(self._number, is_answering=True)
        if is_silent or seconds > limit:
            self._hand_over(calls, f"has not finished its block for {seconds:.0f} s" + " and is silent" * is_silent)
        # A worker that answers may finish, and then it is known how long it needs.
        if is_silent or seconds > 2 * max(limit, self._work.call_timeout):
            self._cancel(calls, does_answer)

    def leave(self, does_answer: bool) -> None:
        """Free the thread of a worker that hangs in a call or waits for a lost server; its later pushes are dropped."""
        with self._lock:
            calls = self._calls
        if calls is not None and (self._work.servers.failure is not None or not does_answer):
            with contextlib.suppress(ClusterError):  # a server was lost
                self._hand_over(calls, "does not answer at the end of training")
            self._cancel(calls, does_answer)

    def _cancel(self, calls: CancellableCalls | None, does_answer: bool) -> None:
        """Free the thread from its call. A request that TensorFlow still sends cannot be cancelled, but cut."""
        if calls is not None:
            calls.cancel()
        if not does_answer:
            cut(self.address)

    def _hand_over(self, calls: CancellableCalls | None, reason: str) -> None:
        with self._lock:
            if calls is None or self._calls is not calls or self._is_late:
                return
            self._is_late = True
            attempts, self._attempts = self._attempts, []
            self._work.trained.tickets.renew(self._number)
            self._work.connection.worker_locks.abandoned.add(self._number)
        logger.warning("%s %s; its block goes to another worker", self.name, reason)
        # This comes before other workers begin: this worker may continue at any moment, and its push must come before
        # theirs or be dropped.
        self._work.servers.call(self._work.trained.tickets.end_former)
        for attempt in attempts:
            self._work.put(attempt.job)

    def _run(self) -> None:
        with own_executor():
            try:
                self._serve()
            finally:
                self._attendance.end_use(self._number, self)

    def _serve(self) -> None:
        staged: tuple[Attempt, Any] | None = None  # with the block that waits on the worker
        registration = Registration()
        waited = 0.0
        if self._is_late or not answers(self.address) or not self._begin_use():
            if not self._await_return("it does not answer"):
                return
            self._end_lateness()
        while True:
            following, seconds = self._next(may_wait=staged is None)
            waited += seconds
            if following is None and staged is None:
                if self._work.is_over():
                    return
                logger.info("%s leaves", self.name)
                registration.forget()  # the next worker of this number is another process
                if not self._await_return("it leaves"):
                    return
                continue
            try:
                with self._calling() as calls:
                    if following is not None:
                        model = following.request.model
                        registration.ensure(model, partial(self._register_model, calls, model))
                    staged = self._advance(calls, staged, following, waited)
                waited = 0.0
            except Exception as error:
                staged = None
                registration.forget()
                if not self._recover(error):
                    return
            self._end_lateness()
            if staged is not None and staged[0] not in self._attempts:
                staged = None  # another worker trains it

    def _next(self, may_wait: bool) -> tuple[Attempt | None, float]:
        """Return the next job, and how long that took; None if there is none and it may not wait for one."""
        began = time.monotonic()
        work, found = self._work, None
        while not work.is_over() and not self._attendance.is_leaving(self._number):
            if work.connection.worker_locks.is_busy(self._number):  # with an earlier training's call
                time.sleep(_POLL_SECONDS)
                continue
            job = work.take(_POLL_SECONDS if may_wait else 0.0)
            if job is not None:
                with self._lock:
                    sealed = work.trained.tickets.sealed(job.request.assignment, self._number)
                    found = Attempt(job, Request(job.request.model, sealed))
                    self._attempts.append(found)
            if found is not None or not may_wait:
                break
        return found, time.monotonic() - began

    @contextlib.contextmanager
    def _calling(self) -> Iterator[CancellableCalls]:
        """Hold the worker's lock for calls that other threads watch over."""
        with self._work.connection.worker_locks.hold(self._number):
            calls = CancellableCalls()
            with self._lock:
                self._calls, self._seconds = calls, 0.0
            try:
                yield calls
            finally:
                with self._lock:
                    self._calls = None

    def _register_model(self, calls: CancellableCalls, model: str) -> None:
        """Have a worker fetch the model from the first server."""
        name = remote_functions.local(model)
        with self._tf.device(device("worker", self._number)):
            calls.run(self._work.program.graphs.register_model, name, self._work.program.model).numpy()

    def _advance(
        self,
        calls: CancellableCalls,
        staged: tuple[Attempt, Any] | None,
        following: Attempt | None,
        waited: float,
    ) -> tuple[Attempt, Any] | None:
        """Finish the staged block and stage the following one; return the latter."""
        program, graphs = self._work.program, self._work.program.graphs
        finished = following if staged is None else staged[0]
        handles = program.handles_of(None if finished is None else finished.job.place)
        request = None if following is None else Request(*map(remote_functions.local, following.request))
        began = time.monotonic()
        with self._tf.device(device("worker", self._number)):
            if following is not None and not self._work.overlap:
                report = calls.run(graphs.train, handles, request).numpy()
                self._hand_in(following, report, waited, time.monotonic() - began)
                return None
            if staged is None:
                next_staged = calls.run(graphs.stage, handles, request)
            elif request is None:
                report, next_staged = calls.run(graphs.finish, handles, staged[1]), None
            else:
                report, next_staged = calls.run(graphs.finish_and_stage, handles, staged[1], request)
            if staged is not None:
                self._hand_in(staged[0], report.numpy(), waited, time.monotonic() - began)
            return None if following is None else (following, next_staged)

    def _hand_in(self, attempt: Attempt, numbers: Any, waited: float, seconds: float) -> None:
        try:
            report = BlockReport.from_array(numbers, self._work.connection.servers, self._work.program.graphs.exchanged)
        except ValueError as error:
            raise ClusterError(f"{self.name}: {error}") from None
        self._work.patience.record(self._number, seconds)
        self._work.last_report = time.monotonic()  # also if its push was dropped: the worker does finish blocks
        with self._lock:
            if is_valid := attempt in self._attempts:
                self._attempts.remove(attempt)
        # Changes that come late are on the servers, so the block is done. They do not count if the block has a place of
        # its own: another worker has received the block and will write to that place, too, and the place must not be
        # used again before that.
        if report.is_accepted and (is_valid or attempt.job.place is None):
            self._work.hand_in(attempt.job, self._number, report, waited)
        elif is_valid:
            self._work.put(attempt.job)

    def _recover(self, error: Exception) -> bool:
        """Return whether the worker can be used again after an error."""
        with self._lock:
            attempts, self._attempts = self._attempts, []
        if remote_functions.is_missing_function(error):  # another program is where a worker was
            return self._hand_back(attempts) and self._await_return("it was not started by `tfw2v server`")
        if has_forgotten_model(error):
            return self._hand_back(attempts)
        if message := remote_functions.task_error_message(error):
            error = ClusterError(f"{self.name}: {message}")
        elif isinstance(error, self._tf.errors.OpError):
            if self._is_late:
                return self._hand_back(attempts) and self._await_return(brief(error))
            try:
                self._work.servers.call(self._work.trained.tables.probe)
            except ClusterError:  # all threads end
                return False
            lost = is_lost(self.address, error)
            if lost or is_of_earlier_training(self._work.trained.tables.name, error):
                if attempts and not self._end_ticket():
                    return False
                return self._hand_back(attempts) and (not lost or self._await_return(brief(error)))
        for attempt in attempts:
            self._work.fail(attempt.job, error)
        return True

    def _end_ticket(self) -> bool:
        """Have servers drop what a worker with a lost connection may still push; return False if a server is lost."""
        tickets = self._work.trained.tickets
        tickets.renew(self._number)
        try:
            self._work.servers.call(tickets.end_former)
        except ClusterError:  # all threads end
            return False
        return True

    def _hand_back(self, attempts: list[Attempt]) -> bool:
        for attempt in attempts:
            self._work.put(attempt.job)
        return True

    def _await_return(self, reason: str) -> bool:
        """Return True once the worker can be called again, False if training ends before."""
        self._attendance.end_use(self._number, self)
        self._work.metrics.set_present(self._number, False)
        is_missed = not self._is_late and self.address != VACANT and not self._attendance.is_away(self._number)
        complaint = f"{self.name} is gone ({reason})" if is_missed else None
        while True:
            if not await_return(self._number, self._work, complaint):
                return False
            if self._begin_use():
                break
        self._silence = Silence()
        if self._is_late:  # its cancelled call must end on the worker before the next call
            self._work.closed.wait(min(self._work.patience.usual(self._number), _LONGEST_REST_SECONDS))
        return True

    def _begin_use(self) -> bool:
        """Keep the worker from leaving until its blocks are trained; return False if it is leaving."""
        is_used = self._attendance.begin_use(self._number, self)
        if is_used:
            self._work.metrics.set_present(self._number, True)
        return is_used

    def _end_lateness(self) -> None:
        """Count a late worker as usable again, so that its next call is checked."""
        with self._lock:
            was_late, self._is_late = self._is_late, False
            self._work.connection.worker_locks.abandoned.discard(self._number)
        if was_late:
            logger.warning("%s is back", self.name)

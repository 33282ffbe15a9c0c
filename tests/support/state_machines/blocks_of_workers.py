"""Blocks that go to workers with tickets: workers hang, continue later, lose their connection, and answer too late.

The coordinator's objects are the package's own; workers and servers are simulated. A server adds what comes with a
valid ticket, as `server_rows.push` does.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.cluster.worker_use import LeavingWorkers, WorkerLocks
from gensim_tfw2v.placement.calls import worker_thread
from gensim_tfw2v.placement.calls.tickets import TICKET_BYTES, Tickets, first_generations
from gensim_tfw2v.placement.calls.work import Attempt, Job, Work
from gensim_tfw2v.placement.calls.worker_thread import WorkerThread
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_report import TableRows, no_report
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

WORKERS, SERVERS = 2, 2
ADDRESSES = {
    "ps": [f"127.0.0.1:{2000 + server}" for server in range(SERVERS)],
    "worker": [f"127.0.0.1:{3000 + worker}" for worker in range(WORKERS)],
}
NUMBERS = st.integers(0, WORKERS - 1)
STEPS = st.lists(st.tuples(NUMBERS, st.booleans()), max_size=3)
"""What workers do while the coordinator calls servers: which worker, and whether it tries to report or to push."""


@functools.cache
def report_numbers(is_accepted: bool) -> Any:
    """Return a worker's report, whose changes all servers added or one of them dropped."""
    report = no_report(SERVERS)
    assert report.servers is not None
    servers = report.servers._replace(is_accepted=float(is_accepted), blocks=1.0)
    return report._replace(servers=servers).to_tensor().numpy()


class Server:
    """A server's generations, and how often it has added the changes of each block."""

    def __init__(self, generations: Int32Array) -> None:
        self.generations = generations.copy()
        self.added: Counter[Job] = Counter()

    def accepts(self, worker: int, generation: int) -> bool:
        """Return whether a ticket is valid."""
        return bool(self.generations[worker] == generation)


class SimulatedTickets(Tickets):
    """Tickets that simulated servers get; something else may happen before each of them gets one."""

    def __init__(self, generations: Int32Array, servers: list[Server], before: Callable[[], None]) -> None:
        super().__init__(generations, servers)
        self._before = before

    def _send(self, server: int, generations: Int32Array) -> None:
        self._before()
        self.handles[server].generations = generations.copy()


class SimulatedCalls:
    """Stands for `CancellableCalls`."""

    is_cancelled = False

    def cancel(self) -> None:
        """Cancel the call of this moment."""
        self.is_cancelled = True


class OnWorker:
    """A block on a worker, which pushes to one server after the other, and may do so after its call has ended."""

    def __init__(self, attempt: Attempt, worker: int) -> None:
        self.job = attempt.job
        self.ticket = tuple(np.asarray(attempt.request.assignment)[-TICKET_BYTES:].view("<i4").tolist())
        self.worker = worker
        self.answers: list[bool] = []  # of the servers that it has pushed to


class BlocksOfWorkers(RuleBasedStateMachine):
    """Compares what servers have added with which worker may train each block."""

    def __init__(self) -> None:
        super().__init__()
        tf = load_tensorflow()
        self.lost_error = tf.errors.UnavailableError(None, None, "connection reset")
        self.cancelled_error = tf.errors.CancelledError(None, None, "cancelled")
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(worker_thread, "CancellableCalls", SimulatedCalls)
        self.patched.setattr(worker_thread, "cut", lambda _: None)
        self.patched.setattr(worker_thread, "is_lost", lambda *_: True)
        self.patched.setattr(worker_thread, "await_return", lambda *_: True)
        connection: Any = SimpleNamespace(
            workers=WORKERS,
            servers=SERVERS,
            addresses=ADDRESSES,
            worker_locks=WorkerLocks(),
            attendance=LeavingWorkers(),
            tasks=lambda job: {f"{job} {number}": address for number, address in enumerate(ADDRESSES[job])},
        )
        self.work = Work(connection, timeout=60.0, overlap=False, call_blocks=1)
        generations = first_generations(WORKERS)
        self.servers = [Server(generations) for _ in range(SERVERS)]
        self.meanwhile: list[tuple[int, bool]] = []
        self.tickets = SimulatedTickets(generations, self.servers, self._do_one)
        self.counted = 0
        program: Any = SimpleNamespace(graphs=SimpleNamespace(exchanged=TableRows))
        trained: Any = SimpleNamespace(tickets=self.tickets, tables=SimpleNamespace(name="lease", probe=lambda: None))
        metrics: Any = SimpleNamespace(add=self._count, set_present=lambda *_: None)
        self.work.begin(program, trained, metrics)
        self.threads = [WorkerThread(worker, self.work) for worker in range(WORKERS)]
        self.jobs: list[Job] = []
        self.takers: dict[Job, OnWorker] = {}  # the worker that has received a block last
        self.calls: list[tuple[ExitStack, SimulatedCalls, OnWorker] | None] = [None] * WORKERS
        self.left: list[OnWorker] = []  # on workers that continue after their call was given up

    def _count(self, *_: Any) -> None:
        self.counted += 1

    @initialize(usual=st.sampled_from([0.0, 0.001]))
    def begin(self, usual: float) -> None:
        """Begin with a block, and with workers that have trained before, or not."""
        self.put(False)
        for worker in range(WORKERS):
            assert self.threads[worker]._begin_use()
            if usual:
                self.work.patience.record(worker, usual)

    # -- the coordinator -----------------------------------------------------------------------------------------------

    @rule(is_for_one=st.booleans())
    def put(self, is_for_one: bool) -> None:
        """Give workers another block, which may have a place of its own on servers."""
        job = Job(Request("model", np.zeros(4, np.uint8)), len(self.jobs) if is_for_one else None)
        self.jobs.append(job)
        self.work.put(job)

    def take(self, worker: int) -> None:
        """Have a worker take a block, if it has none."""
        if self.calls[worker] is not None:
            return
        attempt, _ = self.threads[worker]._next(may_wait=False)
        if attempt is None:
            return
        held = ExitStack()
        calls = held.enter_context(self.threads[worker]._calling())
        taken = self.takers[attempt.job] = OnWorker(attempt, worker)
        self.calls[worker] = held, calls, taken  # type: ignore[assignment]

    @rule(worker=NUMBERS, seconds=st.sampled_from([1.0, 6.0, 30.0, 300.0]), does_answer=st.booleans(), steps=STEPS)
    def look(self, worker: int, seconds: float, does_answer: bool, steps: list[tuple[int, bool]]) -> None:
        """Look after a worker when its call has taken so long."""
        self.meanwhile = list(steps)
        if self.threads[worker].is_overdue(seconds):
            self.threads[worker].look(does_answer)
        self.meanwhile = []

    @rule(
        worker=NUMBERS,
        pushes=st.integers(0, SERVERS),
        does_answer=st.booleans(),
        steps=STEPS,
        is_taken=st.booleans(),
        reports=st.booleans(),
    )
    def hang(
        self,
        worker: int,
        pushes: int,
        does_answer: bool,
        steps: list[tuple[int, bool]],
        is_taken: bool,
        reports: bool,
    ) -> None:
        """Have a worker hang after so many pushes, so that another one gets its block, and continue then."""
        self.train(worker, pushes, False)
        for _ in range(2):  # a silent worker is asked twice
            self.look(worker, 300.0, does_answer, steps)
        if is_taken:
            self.take((worker + 1) % WORKERS)
        if reports:
            self.train(worker, SERVERS, True)

    # -- workers -------------------------------------------------------------------------------------------------------

    @rule(worker=NUMBERS, pushes=st.integers(0, SERVERS), reports=st.booleans())
    def train(self, worker: int, pushes: int, reports: bool) -> None:
        """Have a worker take a block, unless it has one, push to the next servers, and report once it has done so."""
        self.take(worker)
        for _ in range(pushes):
            self.push(worker)
        if reports:
            self.report(worker)

    def push(self, worker: int) -> None:
        """Have a worker push its changes to the next server."""
        call = self.calls[worker]
        if call is not None:
            self._push(call[2])

    def _push(self, block: OnWorker) -> None:
        if len(block.answers) == SERVERS:
            return
        server = self.servers[len(block.answers)]
        is_valid = server.accepts(*block.ticket)
        if is_valid:
            assert self.takers[block.job] is block, "changes were added although another worker has the block"
            server.added[block.job] += 1
        block.answers.append(is_valid)

    def report(self, worker: int) -> None:
        """Have a worker's report arrive, once it has pushed to all servers."""
        call = self.calls[worker]
        if call is None or len(call[2].answers) < SERVERS:
            return
        held, _, block = call
        thread = self.threads[worker]
        (attempt,) = [one for one in thread._attempts if one.job is block.job] or [self._given_up(block)]
        thread._hand_in(attempt, report_numbers(all(block.answers)), 0.0, 0.001)
        held.close()
        thread._end_lateness()
        self.calls[worker] = None

    def _given_up(self, block: OnWorker) -> Attempt:
        return Attempt(block.job, block.job.request)

    @rule(worker=NUMBERS, steps=STEPS)
    def lose(self, worker: int, steps: list[tuple[int, bool]]) -> None:
        """Have a call fail, because it was cancelled or its connection was lost; the worker may continue with it."""
        call = self.calls[worker]
        if call is None:
            return
        held, calls, block = call
        self.meanwhile = [step for step in steps if step[0] != worker]
        held.close()
        self.calls[worker] = None
        self.left.append(block)
        assert self.threads[worker]._recover(self.cancelled_error if calls.is_cancelled else self.lost_error)
        self.threads[worker]._end_lateness()
        self.meanwhile = []

    @rule(place=st.integers(0, 9))
    def continue_late(self, place: int) -> None:
        """Have a worker whose call was given up push."""
        if self.left:
            self._push(self.left[place % len(self.left)])

    def _do_one(self) -> None:
        if self.meanwhile:
            worker, is_report = self.meanwhile.pop()
            (self.report if is_report else self.push)(worker)

    # -- what always holds ---------------------------------------------------------------------------------------------

    @invariant()
    def blocks_count_once(self) -> None:
        """A block counts once, and only if every server has added its changes."""
        done = [job for job in self.jobs if job.result.done()]
        assert self.counted == len(done)
        assert all(server.added[job] for server in self.servers for job in done)

    def teardown(self) -> None:
        """Have all workers finish: no block is lost."""
        try:
            for worker in range(WORKERS):
                call = self.calls[worker]
                if call is not None and call[1].is_cancelled:
                    self.lose(worker, [])
            for _ in range(3 * len(self.jobs) + 1):
                for worker in range(WORKERS):
                    self.take(worker)
                    for _ in range(SERVERS):
                        self.push(worker)
                    self.report(worker)
            self.blocks_count_once()
            assert self.counted == len(self.jobs), "blocks were lost"
        finally:
            self.patched.undo()

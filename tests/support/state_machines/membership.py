"""Workers with tables of their own: calls that end, hang or fail, and who takes part afterwards.

`Team` and `Waiting` are the package's own. Threads, time and the network are simulated: time passes only while somebody
waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gensim_tfw2v.cluster.worker_use import WorkerLocks
from gensim_tfw2v.placement.calls import team as team_module
from gensim_tfw2v.placement.calls import waiting
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.team import Team
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from support.clock import Clock

WORKERS = 3
TIMEOUT = 10.0
STEP = 0.25  # seconds by which the simulated time passes
LOOK_SECONDS = 3.0  # more than the checks may take that find a silent worker
SECONDS = {"quick": 0.5, "slow": 1.5 * TIMEOUT}  # of calls that end
LOST = ("hangs", "silent", "lost")  # what makes a worker leave
# The longest limit of each call: one that answers has twice its usual time.
BOUNDS = {**SECONDS, "hangs": 2 * SECONDS["slow"], "silent": TIMEOUT, "lost": STEP, "fails": STEP}


class SimulatedCall:
    """A call in a worker's queue."""

    def __init__(self, function: Callable[[], Any], behaviour: str) -> None:
        self.function, self.behaviour = function, behaviour
        self.future: Future[Any] = Future()
        self.seconds = 0.0
        self.is_cancelled = False

    def cancel(self) -> None:
        """Cancel the call, which a silent worker's call does not notice."""
        self.is_cancelled = True


class SimulatedMember(Member):
    """A worker whose calls run in simulated time."""

    world: Any = None

    def _begin_thread(self) -> None:
        self.queue: list[SimulatedCall] = []
        self.world.queues.append((self, self.queue))

    def begin_anew(self) -> None:
        self._begin_thread()

    def submit(self, function: Callable[[Any], Any], locks: list[int]) -> tuple[Future[Any], Any]:
        call = SimulatedCall(lambda: function(None), self.world.behaviours[self.number])
        self.queue.append(call)
        return call.future, call

    def has_come_back(self) -> bool:
        return self.address not in self.world.silent

    def close(self, seconds: float) -> bool:
        return True


class Tables:
    """Stands for a worker's tables, and counts how often they are freed."""

    def __init__(self, member: Member, number: int) -> None:
        self.member, self.lease = member, f"lease {number}"
        self.is_lost = False
        self.freed = self.freed_later = 0

    def free(self) -> None:
        self.freed += 1

    def free_later(self) -> None:
        self.freed_later += 1

    def renew_lease(self) -> None:
        assert not self.is_lost


class Membership(RuleBasedStateMachine):
    """Compares who takes part with what became of each worker's last call."""

    def __init__(self) -> None:
        super().__init__()
        self.errors = load_tensorflow().errors
        self.patched, self.clock = pytest.MonkeyPatch(), Clock()
        self.queues: list[tuple[SimulatedMember, list[SimulatedCall]]] = []
        self.behaviours = ["quick"] * WORKERS
        self.silent: set[str] = set()
        addresses = {"ps": ["127.0.0.1:4000"], "worker": [f"127.0.0.1:{4001 + worker}" for worker in range(WORKERS)]}
        self.locks = WorkerLocks()
        connection: Any = SimpleNamespace(
            workers=WORKERS, addresses=addresses, worker_locks=self.locks, trainings=set(), describe=lambda *_: {}
        )
        there = SimpleNamespace(
            answers=lambda address: address not in self.silent,
            answering=lambda found: set(found) - self.silent,
        )
        patch = self.patched.setattr
        patch(waiting, "time", self.clock)
        patch(waiting, "wait", self._wait)
        patch(waiting, "answers", there.answers)
        patch(waiting, "answering", there.answering)
        patch(waiting, "cut_silent", lambda _: None)
        patch(waiting, "can_be_called", lambda *_: True)
        patch(waiting, "is_lost", lambda *_: True)
        patch(team_module, "answers", there.answers)
        patch(team_module, "Member", type("OneMember", (SimulatedMember,), {"world": self}))
        self.team: Team[Any] = Team(connection, TIMEOUT)
        self.numbers = iter(range(10_000))
        self.all_tables: list[Tables] = []
        self.taking_part: set[int] = set()
        for member in self.team.members:
            self._add(member)

    def _add(self, member: Member) -> None:
        tables = Tables(member, next(self.numbers))
        self.all_tables.append(tables)
        self.team.add(tables)
        self.taking_part.add(member.number)

    # -- simulated time ------------------------------------------------------------------------------------------------

    def _wait(self, futures: Iterable[Future[Any]], seconds: float) -> Any:
        """Stand for `concurrent.futures.wait`, which returns here once all calls are done."""
        end, watched = self.clock.now + seconds, list(futures)
        while self.clock.now < end and not all(future.done() for future in watched):
            self.clock.now += STEP
            for member, queue in self.queues:
                self._advance(member, queue)
        return SimpleNamespace(done={future for future in watched if future.done()})

    def _advance(self, member: SimulatedMember, queue: list[SimulatedCall]) -> None:
        if not queue:
            return
        call = queue[0]
        if not call.future.running() and not call.future.set_running_or_notify_cancel():
            queue.pop(0)
            return
        call.seconds += STEP
        is_free = call.is_cancelled and member.address not in self.silent
        if call.behaviour == "lost":
            call.future.set_exception(self.errors.UnavailableError(None, None, "connection reset"))
        elif call.behaviour == "fails":
            call.future.set_exception(ValueError("a worker refuses its part"))
        elif is_free:
            call.future.set_exception(self.errors.CancelledError(None, None, "cancelled"))
        elif call.seconds >= SECONDS.get(call.behaviour, float("inf")):
            call.future.set_result(call.function())
        if call.future.done():
            queue.pop(0)

    # -- steps ---------------------------------------------------------------------------------------------------------

    @rule(behaviours=st.tuples(*[st.sampled_from([*SECONDS, *SECONDS, *LOST])] * WORKERS))
    def call(self, behaviours: Sequence[str]) -> None:
        """Call all workers that take part, each of which behaves in its own way."""
        members = self.team.taking_part()
        self._behave(members, behaviours)
        began = self.clock.now
        found = self.team.each("train", members, lambda member, _: member.number)
        wanted = [behaviours[member.number] for member in members]
        ends = 2 * waiting._LAST_SECONDS * sum(behaviour in LOST for behaviour in wanted)  # of cancelled calls
        bound = max((BOUNDS[behaviour] for behaviour in wanted), default=0.0) + LOOK_SECONDS + ends
        assert self.clock.now - began <= bound, "a wait was longer than its bound"
        left = {member.number for member in members if behaviours[member.number] in SECONDS}
        assert {member.number: number for member, number in found.items()} == {number: number for number in left}
        self.taking_part = left

    @rule(behaviours=st.tuples(*[st.sampled_from([*SECONDS, "fails"])] * WORKERS))
    def refuse(self, behaviours: Sequence[str]) -> None:
        """Call all workers, some of which answer with an error of their own: nobody is lost."""
        members = self.team.taking_part()
        self._behave(members, behaviours)
        if any(behaviours[member.number] == "fails" for member in members):
            with pytest.raises(ValueError, match="refuses"):
                self.team.each("train", members, lambda member, _: member.number)
        else:
            self.team.each("train", members, lambda member, _: member.number)

    def _behave(self, members: Sequence[Member], behaviours: Sequence[str]) -> None:
        for member in members:
            self.behaviours[member.number] = behaviours[member.number]
            if behaviours[member.number] == "silent":
                self.silent.add(member.address)

    @rule(worker=st.integers(0, WORKERS - 1))
    def mend(self, worker: int) -> None:
        """Let a worker continue that was silent."""
        self.silent.discard(self.team.members[worker].address)
        self.behaviours[worker] = "quick"

    @rule()
    def take_back(self) -> None:
        """Let workers take part again that answer."""
        for member in self.team.members:
            if member.is_missed and self.team.is_back(member):
                assert member.address not in self.silent
                self._add(member)
                self.team.record_return(member)

    # -- what always holds ---------------------------------------------------------------------------------------------

    @invariant()
    def those_who_answered_take_part(self) -> None:
        """A worker takes part unless its last call was lost; what it had is freed later, and once."""
        assert {member.number for member in self.team.taking_part()} == self.taking_part
        missed = {member.number for member in self.team.members if member.is_missed}
        assert missed == set(range(WORKERS)) - self.taking_part
        assert self.locks.abandoned <= missed
        held = Counter(tables.member.number for tables in self.all_tables if not tables.is_lost)
        assert held == Counter(self.taking_part)
        assert all(tables.freed_later == tables.is_lost for tables in self.all_tables)

    def teardown(self) -> None:
        """Close: what is left is freed once."""
        self.team.close()
        self.patched.undo()
        assert all(tables.freed == (not tables.is_lost) for tables in self.all_tables)

"""Workers that have tables of their own: who takes part, who is left out, and which tables are freed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from support.placements import leases_on, shared_cluster

from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.placement.calls import waiting as waiting_module
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.team import Team
from gensim_tfw2v.placement.calls.waiting import MembersLost, Waiting
from gensim_tfw2v.placement.calls.worker_tables import WorkerTables
from gensim_tfw2v.placement.remote.tables import RemoteTables

VALUES = np.ones((3, 2), np.float32)


@pytest.fixture
def team() -> Iterator[Team[WorkerTables]]:
    """Return a team of two workers, none of which takes part."""
    made: Team[WorkerTables] = Team(connect(shared_cluster()), 60.0, after_loss=lambda lost: f"; {len(lost)} tables")
    yield made
    made.close()


def tables_on(team: Team[WorkerTables], worker: int, is_made: bool = True) -> WorkerTables:
    """Have a worker take part with a table, and return it."""
    tables = WorkerTables(connect(shared_cluster()), team.members[worker], 60.0)
    team.add(tables)
    if is_made:
        tables.made().load("inputs", VALUES)
    return tables


def test_workers_take_part_that_have_tables(team: Team[WorkerTables]) -> None:
    assert team.taking_part() == []
    tables = [tables_on(team, worker) for worker in (1, 0, 1)]
    assert team.taking_part() == team.members
    assert team.tables_of(team.members[1]) == [tables[0], tables[2]]
    assert set(team.leases()) == {own.lease for own in tables} == leases_on(shared_cluster(), "worker")


def test_a_lost_worker_is_logged_once_and_its_tables_are_freed_when_the_next_are_made(
    team: Team[WorkerTables], caplog: pytest.LogCaptureFixture
) -> None:
    lost = [tables_on(team, 1), tables_on(team, 1)]
    kept, member = tables_on(team, 0), team.members[1]
    assert team.leave_out({member: "a test"}) == lost
    assert team.leave_out({member: "a test"}) == []
    assert [own.is_lost for own in (*lost, kept)] == [True, True, False]
    assert caplog.messages == [f"{member.name} is gone (a test); 2 tables"]
    assert team.taking_part() == [team.members[0]]
    new = tables_on(team, 1)
    assert leases_on(shared_cluster(), "worker") == {kept.lease, new.lease}
    team.record_return(member)
    team.record_return(member)
    assert caplog.messages[1:] == [f"{member.name} is back"]


def test_tables_are_freed_that_a_lost_worker_makes_later(team: Team[WorkerTables]) -> None:
    late = tables_on(team, 1, is_made=False)
    team.leave_out({team.members[1]: "a test"})
    late.made().load("inputs", VALUES)
    new = tables_on(team, 1)
    assert leases_on(shared_cluster(), "worker") == {new.lease}


def test_the_loss_of_all_workers_is_an_error_that_stays(team: Team[WorkerTables]) -> None:
    tables_on(team, 0)
    team.raise_if_none_is_left("train")
    team.leave_out({team.members[0]: "a test"})
    with pytest.raises(ClusterError, match=r"all workers were lost, and the vectors.*none was left to train"):
        team.raise_if_none_is_left("train")
    tables_on(team, 1)
    with pytest.raises(ClusterError, match="none was left to train"):
        team.raise_if_none_is_left("load")


def test_all_tables_are_freed_at_the_end_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    team: Team[WorkerTables] = Team(connect(shared_cluster()), 60.0)
    freed, free = [], RemoteTables.free

    def note(tables: RemoteTables) -> None:
        freed.append(tables.name)
        free(tables)

    monkeypatch.setattr(RemoteTables, "free", note)
    leases = [tables_on(team, worker).lease for worker in (0, 1)]
    team.close()
    team.close()
    assert freed == leases
    assert not leases_on(shared_cluster(), "worker")


def test_tables_are_freed_later_whose_loading_was_interrupted(team: Team[WorkerTables]) -> None:
    interrupted: Team[WorkerTables] = Team(connect(shared_cluster()), 60.0)
    with pytest.raises(KeyboardInterrupt), interrupted.loading():
        left = tables_on(interrupted, 0)
        raise KeyboardInterrupt
    interrupted.close()
    assert leases_on(shared_cluster(), "worker") == {left.lease}
    new = tables_on(team, 0)
    assert leases_on(shared_cluster(), "worker") == {new.lease}


def test_the_time_in_which_a_worker_has_other_calls_is_not_that_of_a_call() -> None:
    waiting = Waiting(connect(shared_cluster()), timeout=2.0)  # a worker that answers has four seconds
    with closing_member() as member:
        calls = [waiting.begin([member], lambda *_: time.sleep(1.5)) for _ in range(4)]
        for of_one in reversed(calls):
            waiting.results("test", of_one)


def test_a_call_that_waits_for_one_that_hangs_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_module, "_LAST_SECONDS", 0.1)
    connection, ended = connect(shared_cluster()), threading.Event()
    waiting = Waiting(connection, timeout=0.5)
    with closing_member() as member:
        hung, queued = (waiting.begin([member], lambda *_: ended.wait(60)) for _ in range(2))
        try:
            for of_one in (hung, queued):
                with pytest.raises(MembersLost, match=member.name):
                    waiting.results("test", of_one)
        finally:
            ended.set()
            connection.worker_locks.abandoned.clear()


@contextmanager
def closing_member() -> Iterator[Member]:
    """Yield a worker, whose thread ends with the block."""
    member = Member(0, connect(shared_cluster()))
    yield member
    member.close(10.0)

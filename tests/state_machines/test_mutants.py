"""Each machine finds the faults that it is there for: a mutant of the package fails under it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine
from support.machines import finds_a_failure
from support.state_machines.blocks_of_workers import BlocksOfWorkers, Server
from support.state_machines.checkpoint_folder import CheckpointFolders
from support.state_machines.joining_workers import JoiningWorkers
from support.state_machines.leases import Leases
from support.state_machines.limits import BlocksInFlight, Limits
from support.state_machines.membership import Membership

from gensim_tfw2v.checkpoints import folder as folder_module
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.task import Task
from gensim_tfw2v.cluster.worker_use import LeavingWorkers
from gensim_tfw2v.placement.calls import waiting as waiting_module
from gensim_tfw2v.placement.calls.patience import Patience
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.calls.team import Team
from gensim_tfw2v.placement.calls.tickets import Tickets
from gensim_tfw2v.placement.calls.work import Work
from gensim_tfw2v.placement.calls.worker_thread import WorkerThread
from gensim_tfw2v.placement.remote import left_tables
from gensim_tfw2v.placement.remote.tables import RemoteTables


def nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def hand_in_again(work: Work, job: Any, worker: int, report: Any, waited: float) -> None:
    """Count a block with every report about it."""
    work.metrics.add(worker, report, 0, waited)
    if not job.result.done():
        job.result.set_result(report)


def take_any(connection: Connection, address: str) -> int | None:
    """Give a worker that joins the last number, whoever has it."""
    connection.addresses["worker"][-1] = address
    return connection.workers - 1


def free_now(tables: RemoteTables) -> None:
    """Make a name free although a thread may still free the tables that have it."""
    from gensim_tfw2v.placement.remote import tables as tables_module

    left_tables.free_when_next_are_made(tables.name)
    tables_module._free_numbers.append(tables._number)


def wait_longer(patience: Patience, worker: int, is_answering: bool) -> float:
    """Wait for a silent worker as long as for one that answers."""
    return 8 * patience._longest


def enter_at_once(ramp_up: RampUp) -> int:
    """Allow as many blocks in flight at first as later."""
    return ramp_up._most


def leave_out_silently(team: Team[Any], reasons: Any) -> list[Any]:
    """Leave workers out, and forget their tables."""
    for member in reasons:
        team._tables[member] = []
        member.is_missed = True
    return []


MUTANTS: dict[str, tuple[type[RuleBasedStateMachine], int, Any, str, Callable[..., Any]]] = {
    "servers check no ticket": (BlocksOfWorkers, 30, Server, "accepts", lambda *_: True),
    "tickets are not renewed": (BlocksOfWorkers, 30, Tickets, "renew", nothing),
    "servers are not told of new tickets": (BlocksOfWorkers, 30, Tickets, "end_former", nothing),
    "a block of a hung worker is lost": (BlocksOfWorkers, 30, WorkerThread, "_hand_back", lambda *_: True),
    "a lost worker's ticket stays valid": (BlocksOfWorkers, 30, WorkerThread, "_end_ticket", lambda *_: True),
    "a block counts twice": (BlocksOfWorkers, 30, Work, "hand_in", hand_in_again),
    "the lock is ignored": (CheckpointFolders, 20, folder_module, "_take", nothing),
    "the owner is not checked": (CheckpointFolders, 20, CheckpointFolder, "check_is_held", nothing),
    "a former owner's files stay": (CheckpointFolders, 20, folder_module, "remove_folders_of", nothing),
    "one checkpoint too many is kept": (CheckpointFolders, 20, CheckpointFolder, "_remove_old", nothing),
    "a number is given twice": (JoiningWorkers, 30, LeavingWorkers, "give", nothing),
    "a worker that is used is replaced": (JoiningWorkers, 30, Connection, "take_in", take_any),
    "leaving workers are used": (JoiningWorkers, 30, LeavingWorkers, "begin_use", lambda *_: True),
    "leases are not renewed": (Leases, 30, Task, "renew_lease", nothing),
    "a name is used again too early": (Leases, 30, RemoteTables, "free_later", free_now),
    "tables of others count as left": (Leases, 30, left_tables, "owner_has_died", lambda _: True),
    "a silent worker has too much time": (Limits, 30, Patience, "limit", wait_longer),
    "the ramp-up is left out": (BlocksInFlight, 30, RampUp, "limit", enter_at_once),
    "tables of lost workers are forgotten": (Membership, 25, Team, "leave_out", leave_out_silently),
    "silent workers are not found": (Membership, 25, waiting_module._Call, "silent", lambda *_: []),
    "workers that hang are not left out": (Membership, 25, waiting_module.Waiting, "_lost_by", lambda *_: {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_machine_fails_with_a_mutant(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine, steps, owner, name, replacement = MUTANTS[mutant]
    monkeypatch.setattr(owner, name, replacement)
    assert finds_a_failure(machine, steps)

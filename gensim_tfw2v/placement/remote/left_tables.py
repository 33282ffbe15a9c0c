"""Tables on tasks that nobody needs any more: which they are, and how they are freed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.leases import is_ours, owner_has_died
from gensim_tfw2v.placement.remote.variables import TaskName, free_lease, servers_of
from gensim_tfw2v.placement.state import PlacementState
from gensim_tfw2v.runtime.processes import machine_name

logger = logging.getLogger(__name__)

_LEASE_SECONDS = 900.0  # after the last renewal of a lease, others may free its tables
_to_be_freed: set[str] = set()  # leases of this process that have ended, and whose tables tasks may still have


def free_when_next_are_made(lease: str) -> None:
    """Free the tables of a lease, of this process or of one that has ended, when the next tables are made."""
    _to_be_freed.add(lease)


def take_over(state: Mapping[str, Any]) -> None:
    """Free the tables that a placement's state names when the next tables are made.

    Tables of this machine are left out. Whether a process of this machine has died is known, and one that has not may
    use the name for other tables by now.
    """
    for lease in PlacementState.from_json(state).all_leases():
        if machine_name() not in lease.split("/"):
            free_when_next_are_made(lease)


def free_left_tables(connection: Connection, state: Mapping[str, Any]) -> None:
    """Free the tables that a placement's state names, and those of coordinators that have died, on all tasks now.

    Workers that cannot be called are left out.
    """
    take_over(state)
    workers = (("worker", int(name.rpartition(" ")[2])) for name in connection.describe_answering_workers())
    free_stale_tables(connection, (*servers_of(connection), *workers))


def free_stale_tables(connection: Connection, tasks: Sequence[TaskName]) -> None:
    """Free tables that this process no longer needs, and those of coordinators that have died.

    Processes of this machine are known to have died. Others have not renewed their lease for `_LEASE_SECONDS`.
    """
    for task in tasks:
        for lease, found in connection.describe(*task)["runs"].items():
            has_expired = found["idle"] > _LEASE_SECONDS and not is_ours(lease)
            if lease in _to_be_freed or owner_has_died(lease) or has_expired:
                logger.info("freeing the tables of %s, which no longer exists, on %s %i", lease, *task)
                free_lease([task], lease, found["tables"])

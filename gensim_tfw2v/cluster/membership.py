"""The tasks that TensorFlow is connected to: changes of its server definition, which hanging tasks do not hold up."""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import Any

from gensim_tfw2v.cluster.cutting import cut_hanging
from gensim_tfw2v.cluster.specification import JOBS
from gensim_tfw2v.runtime.private_tensorflow import server_definition, update_server_definition

_PATIENT_SECONDS = 2.0  # time that a task may hang while TensorFlow waits for it


def current_definition() -> Any:
    """Return a copy of the definition of all tasks that TensorFlow is connected to."""
    return copy.deepcopy(server_definition())


def connect_to(definition: Any, silent: Collection[str]) -> None:
    """Connect TensorFlow to a definition's tasks, also restarted ones, except to tasks at silent addresses.

    No call may run meanwhile. TensorFlow asks all tasks that stay, creates what new and restarted ones lack, and
    notifies those that leave. A task that is left out may be connected again later, with a new state. A task that has
    the number of another one is connected once that one has been left out.
    """
    former = _addresses_by_task(current_definition())
    moved = {
        address for task, address in _addresses_by_task(definition).items() if former.get(task, address) != address
    }
    with cut_hanging(addresses_in(definition), _PATIENT_SECONDS):
        if moved:
            update_server_definition(_without(definition, {*silent, *moved}))
        update_server_definition(_without(definition, silent))


def _without(definition: Any, addresses: Collection[str]) -> Any:
    """Return a copy of a definition without the tasks at these addresses."""
    kept = copy.deepcopy(definition)
    for job in kept.cluster.job:
        if job.name in JOBS:
            for task in [task for task, address in job.tasks.items() if address in addresses]:
                del job.tasks[task]
    for job in [job for job in kept.cluster.job if not job.tasks]:
        kept.cluster.job.remove(job)
    return kept


def _addresses_by_task(definition: Any) -> dict[tuple[str, int], str]:
    """Return the addresses of a definition's tasks by job and number, the coordinator's left out."""
    jobs = [job for job in definition.cluster.job if job.name in JOBS]
    return {(job.name, task): address for job in jobs for task, address in job.tasks.items()}


def addresses_in(definition: Any) -> list[str]:
    """Return the addresses of a definition's tasks, the coordinator's left out."""
    return [address for job in definition.cluster.job if job.name in JOBS for address in job.tasks.values()]

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
    notifies those that leave. A task that is left out may be connected again later, with a new state.
    """
    kept = copy.deepcopy(definition)
    for job in kept.cluster.job:
        if job.name in JOBS:
            for task in [task for task, address in job.tasks.items() if address in silent]:
                del job.tasks[task]
    for job in [job for job in kept.cluster.job if not job.tasks]:
        kept.cluster.job.remove(job)
    with cut_hanging(addresses_in(definition), _PATIENT_SECONDS):
        update_server_definition(kept)


def addresses_in(definition: Any) -> list[str]:
    """Return the addresses of a definition's tasks, the coordinator's left out."""
    return [address for job in definition.cluster.job if job.name in JOBS for address in job.tasks.values()]

"""TensorFlow's connection to tasks: made by a strategy, and changed as tasks come and go."""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import Any

from gensim_tfw2v.cluster.cutting import cut_hanging
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.exposure import keep_to_this_machine
from gensim_tfw2v.cluster.health import is_taken
from gensim_tfw2v.cluster.specification import (
    COORDINATOR,
    JOBS,
    Addresses,
    coordinator_address,
    port_of,
    resolver_of,
)
from gensim_tfw2v.runtime.private_tensorflow import (
    server_definition,
    server_definition_in_two_steps,
    update_server_definition,
    wait_for_tasks_without_lock,
)
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_PATIENT_SECONDS = 2.0  # time that a task may hang while TensorFlow waits for it


def strategy_for(cluster: Any, addresses: Addresses, absent: Collection[str] = ()) -> tuple[Any, Any]:
    """Return a strategy for this cluster, and TensorFlow's definition of all tasks.

    The strategy is the user's own one if this process is still connected to its tasks. Otherwise, tasks at `absent`
    addresses are not connected yet: TensorFlow would wait for them.

    TensorFlow listens for other tasks, but no task ever calls the coordinator, so its port is kept to this machine.
    """
    tf = load_tensorflow()
    wait_for_tasks_without_lock()
    own_resolver = resolver_of(cluster)
    ports, strategy, complete = own_port(), cluster, current_definition()

    def present(definition: Any) -> Any:
        nonlocal complete
        # The port is kept to this machine before TensorFlow connects to other tasks, which may take long.
        keep_to_this_machine(own_port())
        complete = copy.deepcopy(definition)
        return _without(definition, absent)

    try:
        if own_resolver is None or _connected_addresses() != addresses:
            with server_definition_in_two_steps(_coordinator_alone, present):
                strategy = _new_strategy(cluster if own_resolver is None else own_resolver, addresses)
    except tf.errors.OpError as error:
        tasks = [address for job in JOBS for address in addresses[job]]
        raise ClusterError(f"cannot connect to {', '.join(tasks)}: {brief(error)}") from error
    keep_to_this_machine(ports | own_port())  # if there are two ports, TensorFlow may listen at the former
    return strategy, complete


def own_port() -> set[int]:
    """Return the port at which TensorFlow says that this process listens, if it does."""
    definition = server_definition()
    jobs = () if definition is None else definition.cluster.job
    own = [job.tasks[definition.task_index] for job in jobs if job.name == definition.job_name]
    return {port_of(address) for address in own}


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


def connected_addresses() -> list[str]:
    """Return the addresses of all tasks that TensorFlow is connected to."""
    definition = server_definition()
    return [] if definition is None else addresses_in(definition)


def addresses_in(definition: Any) -> list[str]:
    """Return the addresses of a definition's tasks, the coordinator's left out."""
    return list(_addresses_by_task(definition).values())


def _without(definition: Any, addresses: Collection[str]) -> Any:
    kept = copy.deepcopy(definition)
    for job in kept.cluster.job:
        if job.name in JOBS:
            for task in [task for task, address in job.tasks.items() if address in addresses]:
                del job.tasks[task]
    for job in [job for job in kept.cluster.job if not job.tasks]:
        kept.cluster.job.remove(job)
    return kept


def _coordinator_alone(definition: Any) -> Any:
    return _without(definition, addresses_in(definition))


def _addresses_by_task(definition: Any) -> dict[tuple[str, int], str]:
    """Return addresses by job and number, the coordinator's left out."""
    jobs = [job for job in definition.cluster.job if job.name in JOBS]
    return {(job.name, task): job.tasks[task] for job in jobs for task in sorted(job.tasks)}


def _connected_addresses() -> Addresses:
    found: Addresses = {}
    definition = server_definition()
    for (job, _), address in ({} if definition is None else _addresses_by_task(definition)).items():
        found.setdefault(job, []).append(address)
    return found


def _new_strategy(cluster: Any, addresses: Addresses) -> Any:
    """Return a strategy with a resolver of its own.

    TensorFlow's resolver of TF_CONFIG refuses a task of job "chief" without an address in the cluster. That task adds
    no information: the process that connects is the coordinator.
    """
    tf = load_tensorflow()
    own_address = coordinator_address(cluster)
    if own_address is not None and is_taken(port_of(own_address)):  # TensorFlow would crash in the next attempt
        raise ClusterError(
            f"the coordinator cannot listen at {own_address}, the address of job {COORDINATOR!r}: another process has "
            f"the port, or an earlier connection of this one; leave job {COORDINATOR!r} out for a free port"
        )
    jobs = addresses if own_address is None else addresses | {COORDINATOR: [own_address]}
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(jobs), rpc_layer=getattr(cluster, "rpc_layer", None) or "grpc"
    )
    return tf.distribute.experimental.ParameterServerStrategy(resolver)

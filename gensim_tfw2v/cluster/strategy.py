"""The user's description of a cluster → TensorFlow's strategy, which connects this process to the tasks."""

from __future__ import annotations

import copy
from typing import Any

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
from gensim_tfw2v.runtime.private_tensorflow import server_definition, server_definition_in_two_steps
from gensim_tfw2v.runtime.tensorflow import load_tensorflow


def strategy_for(cluster: Any, addresses: Addresses) -> Any:
    """Return a strategy for this cluster: the user's own one if this process is still connected to its tasks.

    TensorFlow listens for other tasks, but no task ever calls the coordinator, so its port is kept to this machine.
    """
    tf = load_tensorflow()
    own_resolver = resolver_of(cluster)
    ports, strategy = own_port(), cluster
    try:
        if own_resolver is None or _connected_addresses() != addresses:
            with server_definition_in_two_steps(_coordinator_alone, _keep_port_to_this_machine):
                strategy = _new_strategy(cluster if own_resolver is None else own_resolver, addresses)
    except tf.errors.OpError as error:
        tasks = [address for job in JOBS for address in addresses[job]]
        raise ClusterError(f"cannot connect to {', '.join(tasks)}: {brief(error)}") from error
    keep_to_this_machine(ports | own_port())  # if there are two ports, TensorFlow may listen at the former
    return strategy


def _coordinator_alone(definition: Any) -> Any:
    """Return a definition of tasks without those that this process is about to connect to."""
    alone = copy.deepcopy(definition)
    for job in [job for job in alone.cluster.job if job.name in JOBS]:
        alone.cluster.job.remove(job)
    return alone


def _keep_port_to_this_machine() -> None:
    """Keep the port to this machine before TensorFlow connects to other tasks, which may take long."""
    keep_to_this_machine(own_port())


def own_port() -> set[int]:
    """Return the port at which TensorFlow says that this process listens, if it does."""
    definition = server_definition()
    jobs = () if definition is None else definition.cluster.job
    own = [job.tasks[definition.task_index] for job in jobs if job.name == definition.job_name]
    return {port_of(address) for address in own}


def _connected_addresses() -> Addresses:
    """Return the tasks that TensorFlow is connected to, by job."""
    definition = server_definition()
    jobs = () if definition is None else definition.cluster.job
    return {job.name: [job.tasks[task] for task in sorted(job.tasks)] for job in jobs if job.name in JOBS}


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

"""The user's description of a cluster → TensorFlow's strategy, which connects this process to the tasks."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
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
from gensim_tfw2v.runtime.tensorflow import load_tensorflow


def strategy_for(cluster: Any, addresses: Addresses) -> Any:
    """Return a strategy for this cluster: the user's own, if this process is still connected to its tasks.

    TensorFlow listens for other tasks, but no task ever calls the coordinator, so its port is kept to this machine.
    """
    tf = load_tensorflow()
    own_resolver = resolver_of(cluster)
    ports, strategy = own_port(), cluster
    try:
        if own_resolver is None or _connected_addresses() != addresses:
            with _python_running():
                strategy = _new_strategy(cluster if own_resolver is None else own_resolver, addresses)
    except tf.errors.OpError as error:
        tasks = [address for job in JOBS for address in addresses[job]]
        raise ClusterError(f"cannot connect to {', '.join(tasks)}: {brief(error)}") from error
    keep_to_this_machine(ports | own_port())  # of two such, TensorFlow may listen at the former
    return strategy


@contextlib.contextmanager
def _python_running() -> Iterator[None]:
    """Let other threads of Python run while TensorFlow connects to tasks, of which one may stop at that moment.

    TensorFlow holds Python's lock when it sets a definition of tasks, and not when it changes one. So it is given a
    definition of the coordinator alone, and then the others.
    """
    from tensorflow.python.eager import context

    set_definition = context.set_server_def

    def set_in_two_steps(definition: Any) -> None:
        alone = copy.deepcopy(definition)
        for job in [job for job in alone.cluster.job if job.name in JOBS]:
            alone.cluster.job.remove(job)
        set_definition(alone)
        context.ensure_initialized()
        keep_to_this_machine(own_port())  # before it may take long
        context.update_server_def(definition)

    context.set_server_def = set_in_two_steps
    try:
        yield
    finally:
        context.set_server_def = set_definition


def own_port() -> set[int]:
    """Return the port at which TensorFlow says that this process listens, if it does."""
    from tensorflow.python.eager import context

    definition = context.context()._server_def
    jobs = () if definition is None else definition.cluster.job
    own = [job.tasks[definition.task_index] for job in jobs if job.name == definition.job_name]
    return {port_of(address) for address in own}


def _connected_addresses() -> Addresses:
    """Return the tasks that TensorFlow is connected to, by job."""
    from tensorflow.python.eager import context

    definition = context.context()._server_def
    jobs = () if definition is None else definition.cluster.job
    return {job.name: [job.tasks[task] for task in sorted(job.tasks)] for job in jobs if job.name in JOBS}


def _new_strategy(cluster: Any, addresses: Addresses) -> Any:
    """Return a strategy with a resolver of its own.

    TensorFlow's resolver of TF_CONFIG refuses a task of job "chief" without an address in the cluster. That task says
    nothing new: whoever connects is the coordinator.
    """
    tf = load_tensorflow()
    own_address = coordinator_address(cluster)
    if own_address is not None and is_taken(port_of(own_address)):  # in the next attempt TensorFlow would crash
        raise ClusterError(
            f"the coordinator cannot listen at {own_address}, the address of job {COORDINATOR!r}: another process has "
            f"the port, or an earlier connection of this one; leave job {COORDINATOR!r} out for a free port"
        )
    jobs = addresses if own_address is None else addresses | {COORDINATOR: [own_address]}
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(jobs), rpc_layer=getattr(cluster, "rpc_layer", None) or "grpc"
    )
    return tf.distribute.experimental.ParameterServerStrategy(resolver)

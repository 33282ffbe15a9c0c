"""A cluster whose tasks are actors of Ray."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from typing import Any

from gensim_tfw2v.cluster.connection import disconnect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import await_answers
from gensim_tfw2v.cluster.interfaces import LOOPBACK_ADDRESS
from gensim_tfw2v.cluster.local import check_sizes, free_addresses, task_command, task_environment
from gensim_tfw2v.cluster.specification import JOBS, OF_TF_CONFIG, Addresses, DescribedTasks, named_tasks
from gensim_tfw2v.runtime.extras import MissingPackageError

_START_SECONDS = 120.0
_MOST_RESTARTS = 100  # of each actor


class RayCluster(DescribedTasks):
    """Actors that run tasks: a value for ``cluster=``. A ``with`` block stops them at its end."""

    def __init__(self, addresses: Addresses, actors: list[Any], group: Any) -> None:
        super().__init__(addresses)
        self._actors, self._group = actors, group

    def stop(self) -> None:
        """End all tasks, and give what they held back to Ray."""
        import ray

        disconnect(self.addresses)
        for actor in self._actors:
            ray.kill(actor)  # its task ends with it
        ray.util.remove_placement_group(self._group)

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def ray_cluster(ps: int = 1, workers: int = 1, cores: int = 1, allow_network: bool = False) -> RayCluster:
    """Start a cluster on the machines of Ray, and return a value for ``cluster=``.

    Each task is an actor. Ray starts it again, at the same address, if it dies. All tasks end with this process, with
    ``stop()``, or with a ``with`` block. This needs the extra ``ray``.

    Parameters
    ----------
    ps : int
        Number of parameter servers, which hold the vectors; each takes one core of Ray's.
    workers : int
        Number of workers, which train.
    cores : int
        Cores that each worker takes from Ray, and with which it trains a block side by side.
    allow_network : bool
        Spread the tasks over Ray's machines, where nothing is encrypted and whoever reaches a task's port can run code.
        Give it to `TFWord2Vec` as well. Default: all tasks are on this machine's loopback.

    Examples
    --------
    >>> from gensim_tfw2v import TFWord2Vec, ray_cluster
    >>> with ray_cluster(ps=2, workers=4, cores=8, allow_network=True) as cluster:  # doctest: +SKIP
    ...     model = TFWord2Vec(corpus_file="corpus.txt", cluster=cluster, allow_network=True)
    """
    check_sizes(ps, workers, cores)
    try:
        import ray
    except ImportError:
        raise MissingPackageError("ray_cluster()", "ray", "ray") from None
    if not ray.is_initialized():
        ray.init()
    cluster = _started(ps, workers, cores, allow_network)
    try:
        await_answers(named_tasks(cluster.addresses, JOBS), _START_SECONDS)
    except BaseException:
        cluster.stop()
        raise
    return cluster


def _started(ps: int, workers: int, cores: int, allow_network: bool) -> RayCluster:
    """Return a cluster whose tasks may not answer yet."""
    import ray

    needed = [1] * ps + [cores] * workers  # cores of each task, servers first
    group = _placed(needed, allow_network)
    found = ray.get([_in_bundle(_free_address, group, place, 0).remote(allow_network) for place in range(len(needed))])
    addresses = {"ps": found[:ps], "worker": found[ps:]}
    actors = []
    for place, own_cores in enumerate(needed):
        job, task = ("ps", place) if place < ps else ("worker", place - ps)
        actor = _in_bundle(_Task, group, place, own_cores, max_restarts=_MOST_RESTARTS)
        actors.append(actor.remote(job, task, addresses, own_cores, allow_network))
    return RayCluster(addresses, actors, group)


class _Task:
    """An actor with a process that is one task of the cluster. Both end together."""

    def __init__(self, job: str, task: int, addresses: Addresses, cores: int, allow_network: bool) -> None:
        command = task_command(job, task, OF_TF_CONFIG, cores)
        if allow_network:
            command.append("--allow-network")
        self._process = subprocess.Popen(command, env=task_environment() | {"TF_CONFIG": json.dumps(addresses)})
        threading.Thread(target=self._end_with_process, daemon=True).start()

    def _end_with_process(self) -> None:
        self._process.wait()
        os._exit(1)  # Ray starts the actor again


def _free_address(allow_network: bool) -> str:
    import ray

    (address,) = free_addresses(1, ray.util.get_node_ip_address() if allow_network else LOOPBACK_ADDRESS)
    return address


def _placed(cores: list[int], allow_network: bool) -> Any:
    import ray

    # Every machine of Ray has a resource of its address.
    here = {} if allow_network else {f"node:{ray.util.get_node_ip_address()}": 0.001}
    bundles = [{"CPU": number, **here} for number in cores]
    group = ray.util.placement_group(bundles, strategy="SPREAD" if allow_network else "STRICT_PACK")
    if not group.wait(timeout_seconds=_START_SECONDS):
        ray.util.remove_placement_group(group)
        where = "its machines" if allow_network else "this machine (allow_network=True uses others)"
        raise ClusterError(f"Ray has not {sum(cores)} free cores on {where}")
    return group


def _in_bundle(program: Any, group: Any, place: int, cores: int, **options: Any) -> Any:
    """Return a function or class that Ray runs where a task's bundle is."""
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    where = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=place)
    return ray.remote(program).options(num_cpus=cores, scheduling_strategy=where, **options)

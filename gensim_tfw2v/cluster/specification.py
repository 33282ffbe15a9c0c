"""The user's description of a cluster → the addresses of its tasks."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v.cluster import slurm
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.interfaces import LOOPBACK_ADDRESS, MOST_PORT, host_of

Addresses = dict[str, list[str]]
JOBS = ("ps", "worker")
VACANT = ""  # in place of an address: a worker's number that no task has
COORDINATOR = "chief"  # as TensorFlow calls the coordinator's job
OF_TF_CONFIG, OF_SLURM = "env", "slurm"  # descriptions that are in the environment of this process
IN_ENVIRONMENT = (OF_TF_CONFIG, OF_SLURM)
_FORMS = (
    "a dict or ClusterSpec of 'ps' and 'worker' addresses, the path of a JSON file of these, a cluster resolver, a "
    "ParameterServerStrategy, 'env' or 'slurm'"
)


@dataclass(frozen=True)
class OwnTask:
    """The task that a process runs: "ps" or "worker", and the position of its address in that job's list."""

    job: str
    number: int
    cluster: Mapping[str, Sequence[str]]  # addresses by job
    joins: bool = False  # the coordinator does not know it yet; the cluster has its address and the first server's

    @property
    def name(self) -> str:
        """The name in messages; the coordinator gives a worker that joins its number."""
        return self.job if self.joins else f"{self.job} {self.number}"

    @property
    def address(self) -> str:
        """The address; raise ClusterError if the cluster has no such task."""
        found = self.cluster.get(self.job, ())
        if not 0 <= self.number < len(found):
            raise ClusterError(
                f"the cluster has no task {self.number} of job {self.job!r}: it has {len(found)} of them"
            )
        return found[self.number]


class DescribedTasks:
    """Tasks with known addresses: a value for ``cluster``, because it has what a cluster resolver has."""

    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses

    def cluster_spec(self) -> DescribedTasks:
        """Return this object, which has the `as_dict` of a TensorFlow ClusterSpec."""
        return self

    def as_dict(self) -> Addresses:
        """Return the addresses by job."""
        return self.addresses


def addresses_of(cluster: Any) -> Addresses:
    """Return the addresses by job; raise TypeError or ValueError if this is not a cluster of both jobs."""
    addresses = _checked(_jobs_of(cluster), cluster)
    coordinator_address(cluster)  # raises an error if it is wrong
    return addresses


def coordinator_address(cluster: Any) -> str | None:
    """Return the address of job "chief" in TF_CONFIG or a cluster resolver, where the coordinator must listen.

    It is None if there is no such job. Other descriptions do not say where the coordinator listens.
    """
    if cluster != OF_TF_CONFIG and not hasattr(resolver_of(cluster) or cluster, "task_type"):
        return None
    jobs = _jobs_of(cluster)
    found = _tasks_of(jobs, COORDINATOR)
    if not found:
        return None
    if isinstance(found, str) or len(found) != 1:
        raise ValueError(f"cluster: job {COORDINATOR!r} is the coordinator, one host:port in a list, got {found!r}")
    check_addresses([*found, *(address for job in JOBS for address in _tasks_of(jobs, job))])
    return str(found[0])


def resolver_of(cluster: Any) -> Any:
    """Return the resolver that a strategy was made with, None if this is not a strategy."""
    # The public property of a ParameterServerStrategy is None.
    return getattr(cluster, "cluster_resolver", None) or getattr(cluster, "_cluster_resolver", None)


def is_in_environment(cluster: Any) -> bool:
    """Return whether this value of ``cluster`` says where in the environment the cluster is described."""
    return isinstance(cluster, str) and cluster in IN_ENVIRONMENT


def read_environment(name: str = OF_TF_CONFIG) -> Addresses:
    """Return the addresses in the environment variable TF_CONFIG, or those of a Slurm job."""
    return _checked(_jobs_of(name), "TF_CONFIG" if name == OF_TF_CONFIG else "the Slurm job")


def read_file(path: Path) -> Addresses:
    """Return the addresses in a JSON file: {"ps": [...], "worker": [...]}, or the form of TF_CONFIG."""
    return _checked(_jobs_in_file(path), str(path))


def _jobs_of(cluster: Any) -> Mapping[str, Any]:
    """Return the tasks of each job in a description of a cluster, unchecked."""
    if is_in_environment(cluster):
        if cluster == OF_SLURM:
            return slurm.addresses_in_job()
        if not (text := os.environ.get("TF_CONFIG")):
            raise ValueError("cluster is 'env', and the environment variable TF_CONFIG is not set")
        return _jobs_in(text, "TF_CONFIG")
    if isinstance(cluster, str | os.PathLike):
        return _jobs_in_file(Path(cluster))
    found = resolver_of(cluster) or cluster
    if hasattr(found, "cluster_spec"):
        found = found.cluster_spec()
    if hasattr(found, "as_dict"):
        found = found.as_dict()
    if not isinstance(found, Mapping):
        raise TypeError(f"cluster must be {_FORMS}, got {cluster!r}")
    return {str(job): found[job] for job in found}


def _jobs_in_file(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        names = " or ".join(map(repr, IN_ENVIRONMENT))
        raise FileNotFoundError(
            f"cluster: there is no file {str(path)!r}; give the path of a JSON file of addresses, or {names}"
        ) from None
    return _jobs_in(text, str(path))


def _jobs_in(text: str, origin: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"cluster: {origin} is not JSON: {error}") from None
    cluster = found.get("cluster", found) if isinstance(found, dict) else found
    if not isinstance(cluster, dict):
        raise ValueError(f"cluster: {origin} holds no cluster but {found!r}")
    return cluster


def _checked(jobs: Mapping[str, Any], origin: Any) -> Addresses:
    addresses: Addresses = {}
    for job in JOBS:
        tasks = _tasks_of(jobs, job)
        if isinstance(tasks, str) or not isinstance(tasks, Sequence) or not tasks:
            raise ValueError(f"cluster must have addresses of job {job!r}, got {origin!r}")
        addresses[job] = list(tasks)
    check_addresses([address for job in JOBS for address in addresses[job]])
    return addresses


def _tasks_of(jobs: Mapping[str, Any], job: str) -> Any:
    """Return the tasks of a job: a list in their order, if the description is right."""
    tasks = jobs.get(job)
    if isinstance(tasks, Mapping):  # TensorFlow's sparse form: {0: address, ...}, with numbers as text in JSON
        tasks = [tasks[number] for number in sorted(tasks, key=_task_number)]
    return tasks


def check_addresses(addresses: Sequence[Any]) -> None:
    """Raise ValueError if an address is malformed, or given twice."""
    for address in addresses:
        host, _, port = address.rpartition(":") if isinstance(address, str) else ("", "", "")
        if not host or not port.isascii() or not port.isdigit() or int(port) > MOST_PORT:
            raise ValueError(f"cluster: {address!r} is not an address of the form host:port")
    twice = next((address for address in addresses if addresses.count(address) > 1), None)
    if twice is not None:
        raise ValueError(f"cluster: {twice!r} cannot be the address of two tasks")


def named_tasks(addresses: Addresses, jobs: Sequence[str]) -> dict[str, str]:
    """Return the addresses of the tasks of some jobs by "job number"."""
    return {
        f"{job} {task}": address for job in jobs for task, address in enumerate(addresses[job]) if address != VACANT
    }


def workers_beside(worker: int, addresses: Sequence[str]) -> int:
    """Return how many of the workers at these addresses have the host of this one, itself included."""
    hosts = [host_of(address).lower() for address in addresses]
    # The usual names of a machine's loopback are one host.
    hosts = ["localhost" if host in (LOOPBACK_ADDRESS, "::1") else host for host in hosts]
    return hosts.count(hosts[worker])


def port_of(address: str) -> int:
    """Return the port of an address of the form host:port."""
    return int(address.rpartition(":")[2])


def _task_number(key: Any) -> int:
    try:
        return int(key)
    except (TypeError, ValueError):
        raise ValueError(f"cluster: {key!r} is not the number of a task") from None


def own_task(name: str = OF_TF_CONFIG) -> tuple[str, int]:
    """Return the job and number of this process in TF_CONFIG or a Slurm job; raise ClusterError if it is no server."""
    if name == OF_SLURM:
        return slurm.own_task_in_job()
    try:
        task = json.loads(os.environ.get("TF_CONFIG", ""))["task"]
        job = str(task["type"])
        number = 0 if job == COORDINATOR else int(task["index"])
    except (ValueError, KeyError, TypeError):
        raise ClusterError("TF_CONFIG names no task of this process; give --job and --task") from None
    if job == COORDINATOR:
        raise ClusterError(
            f"TF_CONFIG makes this process the {COORDINATOR}, which is the coordinator and not a server: train in it "
            "with `tfw2v train --cluster env` or cluster='env'"
        )
    return job, number

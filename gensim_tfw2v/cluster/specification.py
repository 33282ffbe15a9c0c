"""The user's description of a cluster → the addresses of its tasks."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gensim_tfw2v.cluster.errors import ClusterError

Addresses = dict[str, list[str]]
JOBS = ("ps", "worker")
_MOST_PORT = 2**16 - 1
_FORMS = "a dict or ClusterSpec of 'ps' and 'worker' addresses, a cluster resolver, a ParameterServerStrategy or 'env'"


def addresses_of(cluster: Any) -> Addresses:
    """Return the addresses by job; raise TypeError or ValueError if this is not a cluster of both jobs."""
    if cluster == "env":
        return read_environment()
    resolver = resolver_of(cluster) or cluster
    if hasattr(resolver, "cluster_spec"):
        resolver = resolver.cluster_spec()
    if hasattr(resolver, "as_dict"):
        resolver = resolver.as_dict()
    if not isinstance(resolver, Mapping):
        raise TypeError(f"cluster must be {_FORMS}, got {cluster!r}")
    return _checked({str(job): resolver[job] for job in resolver}, cluster)


def resolver_of(cluster: Any) -> Any:
    """Return the resolver that a strategy was made with, None if this is not a strategy."""
    # The public property of a ParameterServerStrategy is None.
    return getattr(cluster, "cluster_resolver", None) or getattr(cluster, "_cluster_resolver", None)


def read_environment() -> Addresses:
    """Return the addresses in the environment variable TF_CONFIG."""
    text = os.environ.get("TF_CONFIG")
    if not text:
        raise ValueError("cluster is 'env', and the environment variable TF_CONFIG is not set")
    return _from_json(text, "TF_CONFIG")


def read_file(path: Path) -> Addresses:
    """Return the addresses in a JSON file: {"ps": [...], "worker": [...]}, or the form of TF_CONFIG."""
    return _from_json(path.read_text(encoding="utf-8"), str(path))


def _from_json(text: str, origin: str) -> Addresses:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"cluster: {origin} is not JSON: {error}") from None
    cluster = found.get("cluster", found) if isinstance(found, dict) else found
    if not isinstance(cluster, dict):
        raise ValueError(f"cluster: {origin} holds no cluster but {found!r}")
    return _checked(cluster, origin)


def _checked(jobs: Mapping[str, Any], origin: Any) -> Addresses:
    addresses: Addresses = {}
    for job in JOBS:
        tasks = jobs.get(job)
        if isinstance(tasks, Mapping):  # TensorFlow's sparse form: {0: address, ...}
            tasks = [tasks[number] for number in sorted(tasks, key=_task_number)]
        if isinstance(tasks, str) or not isinstance(tasks, Sequence) or not tasks:
            raise ValueError(f"cluster must have addresses of job {job!r}, got {origin!r}")
        for address in tasks:
            if not isinstance(address, str) or not _is_address(address):
                raise ValueError(f"cluster: {address!r} is not an address of the form host:port")
        addresses[job] = list(tasks)
    every = [address for job in JOBS for address in addresses[job]]
    twice = next((address for address in every if every.count(address) > 1), None)
    if twice is not None:
        raise ValueError(f"cluster: {twice!r} cannot be the address of two tasks")
    return addresses


def _is_address(text: str) -> bool:
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit() and int(port) <= _MOST_PORT


def _task_number(key: Any) -> int:
    """Return the number that a task has in TensorFlow's sparse form, which is text in JSON."""
    try:
        return int(key)
    except (TypeError, ValueError):
        raise ValueError(f"cluster: {key!r} is not the number of a task") from None


def own_task() -> tuple[str, int]:
    """Return the job and number that TF_CONFIG gives to this process."""
    try:
        task = json.loads(os.environ.get("TF_CONFIG", ""))["task"]
        return str(task["type"]), int(task["index"])
    except (ValueError, KeyError, TypeError):
        raise ClusterError("TF_CONFIG names no task of this process; give --job and --task") from None
def port_of(address: str) -> int:
    """Return the port of an address of the form host:port."""
    return int(address.rpartition(":")[2])



"""A job of the scheduler Slurm → the addresses of a cluster's tasks, and which of them this process is.

Slurm describes a job to its processes in environment variables. All tasks of the job become tasks of the cluster.
Their order is that of the nodes, and on a node that of Slurm's local numbers, however Slurm distributes the tasks.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping

from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.interfaces import LOOPBACK_ADDRESS, MOST_PORT

SERVERS_VARIABLE = "TFW2V_PS"
PORT_VARIABLE = "TFW2V_PORT"
_COUNTS, _ONE = "SLURM_TASKS_PER_NODE", "1"  # and the number of tasks where Slurm does not set it
# Ports follow from the job's number, so that jobs on one node have ports of their own. They end below 32768, where
# Linux begins to choose ports for programs that ask for any.
_FIRST_PORT, _JOBS, _PORTS_OF_JOB = 10_000, 1_000, 20

_IN_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)
_TASK_COUNT = re.compile(r"(\d+)(?:\(x(\d+)\))?", re.ASCII)


def addresses_in_job(environment: Mapping[str, str] = os.environ) -> dict[str, list[str]]:
    """Return the addresses by job of the cluster that the tasks of this Slurm job form.

    The first tasks are parameter servers, one or as many as TFW2V_PS says, and the others workers. If the job has a
    single node, its tasks are on loopback.
    """
    hosts, counts = _nodes(environment), _task_counts(environment)
    if len(hosts) != len(counts):
        raise ValueError(
            f"cluster is 'slurm', and this process is in a step on some of the job's nodes: the job has {len(hosts)} "
            f"nodes, and {_COUNTS}={environment.get(_COUNTS, _ONE)!r} counts tasks on {len(counts)}; "
            "start the tasks with one `srun` on all nodes"
        )
    first = _first_port(environment)
    if first + max(counts) - 1 > MOST_PORT:
        raise ValueError(f"{PORT_VARIABLE}={first} leaves no ports for {max(counts)} tasks on a node")
    if len(hosts) == 1:
        hosts = [LOOPBACK_ADDRESS]
    tasks = [f"{host}:{first + number}" for host, count in zip(hosts, counts, strict=True) for number in range(count)]
    servers = _whole_number(environment, SERVERS_VARIABLE, "1", least=1)
    if servers >= len(tasks):
        raise ValueError(
            f"{SERVERS_VARIABLE}={servers} makes servers of all {len(tasks)} tasks of the Slurm job, and a cluster "
            "needs workers: ask for more with --ntasks"
        )
    return {"ps": tasks[:servers], "worker": tasks[servers:]}


def own_task_in_job(environment: Mapping[str, str] = os.environ) -> tuple[str, int]:
    """Return the job and number of this process in the cluster; raise ClusterError if `srun` has not started it."""
    if "SLURM_LOCALID" not in environment or "SLURM_STEP_ID" not in environment:
        raise ClusterError("Slurm gives this process no task: start it with `srun`, or give --job and --task")
    addresses = addresses_in_job(environment)
    node = _whole_number(environment, "SLURM_NODEID", "")
    position = sum(_task_counts(environment)[:node]) + _whole_number(environment, "SLURM_LOCALID", "")
    servers = len(addresses["ps"])
    return ("ps", position) if position < servers else ("worker", position - servers)


def cores_of_task(environment: Mapping[str, str] = os.environ) -> int:
    """Return how many cores Slurm gives to each task: one, unless the job asks for more with --cpus-per-task."""
    return _whole_number(environment, "SLURM_CPUS_PER_TASK", "1", least=1)


def expand_node_list(text: str) -> list[str]:
    """Return the names of nodes in Slurm's short form: ``"node[01-03,7],login1"`` names five nodes.

    A name may have several brackets; the last one counts fastest. Numbers keep their leading zeros.
    """
    names = []
    try:
        for part in re.split(r",(?![^\[]*\])", text):  # commas that are in no brackets
            pieces = _IN_BRACKETS.split(part.strip())  # fixed text and the contents of brackets in turn
            choices = [[piece] if place % 2 == 0 else _numbers(piece) for place, piece in enumerate(pieces)]
            names += ["".join(name) for name in itertools.product(*choices)]
        if not all(names) or any("[" in name or "]" in name for name in names):
            raise ValueError("a bracket that is not closed, or no name")
    except ValueError:
        raise ValueError(f"SLURM_JOB_NODELIST={text!r} is no list of nodes such as 'node[01-03,7],login1'") from None
    return names


def expand_task_counts(text: str) -> list[int]:
    """Return the number of tasks on each node, given Slurm's short form: ``"2(x3),1"`` is 2, 2, 2, 1."""
    counts: list[int] = []
    for part in text.split(","):
        found = _TASK_COUNT.fullmatch(part)
        if found is None or not int(found[1]):
            raise ValueError(f"{_COUNTS}={text!r} is no list of task counts such as '2(x3),1'")
        counts += [int(found[1])] * int(found[2] or 1)
    return counts


def _numbers(ranges: str) -> list[str]:
    """Return the numbers in brackets, each as wide as the first one of its range."""
    numbers = []
    for one in ranges.split(","):
        found = _RANGE.fullmatch(one.strip())
        if found is None or int(found[2] or found[1]) < int(found[1]):
            raise ValueError(f"{one!r} is no range")
        first, last = found[1], found[2] or found[1]
        numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return numbers


def _nodes(environment: Mapping[str, str]) -> list[str]:
    nodes = environment.get("SLURM_JOB_NODELIST")
    if not nodes:
        raise ValueError("cluster is 'slurm', and this process is in no Slurm job: SLURM_JOB_NODELIST is not set")
    return expand_node_list(nodes)


def _task_counts(environment: Mapping[str, str]) -> list[int]:
    return expand_task_counts(environment.get(_COUNTS, _ONE))


def _first_port(environment: Mapping[str, str]) -> int:
    if environment.get(PORT_VARIABLE):
        return _whole_number(environment, PORT_VARIABLE, "", least=1)
    job = _whole_number(environment, "SLURM_JOB_ID", "0")
    return _FIRST_PORT + job % _JOBS * _PORTS_OF_JOB


def _whole_number(environment: Mapping[str, str], name: str, default: str, least: int = 0) -> int:
    text = environment.get(name, default)
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise ValueError(f"{name}={text!r} is not a whole number of {least} or more")
    return int(text)

"""`tfw2v cluster`: which tasks of a cluster answer, and their state; or have a worker leave. And --cluster itself."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import add_allow_network, add_switch, add_value
from gensim_tfw2v.cli.columns import lines_of_columns
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.exposure import check_allowed
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.specification import (
    JOBS,
    OF_TF_CONFIG,
    Addresses,
    is_in_environment,
    named_tasks,
    read_environment,
    read_file,
)

DESCRIPTION = """status: show the state of a cluster's tasks. The exit code is 0 if all of them answer, else 1.
drain: have a worker train its block to the end and then end itself. The exit code is 0 once it has ended."""
_STATE, _DETAILS = ("task", "address", "state"), ("process", "tensorflow", "package")
_COLUMNS = (*_STATE, *_DETAILS, "memory MB", "cpu s", "cores", "blocks", "runs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v cluster`."""
    parser.add_argument("action", choices=("status", "drain"), help="what to do")
    meaning = "drain: the address of the worker that is to leave"
    parser.add_argument("worker", metavar="HOST:PORT", nargs="?", help=meaning)
    add_cluster_argument(parser)
    add_allow_network(parser)
    add_switch(parser, "--json", "print JSON", "a table")


def add_cluster_argument(parser: argparse.ArgumentParser) -> None:
    """Declare --cluster."""
    meaning = (
        'JSON file of addresses, {"ps": [...], "worker": [...]}; env stands for the environment variable TF_CONFIG, '
        "slurm for the tasks of this Slurm job"
    )
    add_value(parser, "--cluster", "FILE", str, None, meaning, "env where TF_CONFIG is set")


def addresses_from(arguments: argparse.Namespace, others: str = "") -> Addresses:
    """Return the addresses that --cluster, or else TF_CONFIG, names; the error also asks for the flags `others`."""
    if arguments.cluster is None and not os.environ.get("TF_CONFIG"):
        raise CommandError(
            f'no cluster is named: give --cluster FILE{others}, where FILE holds {{"ps": ["host:port", ...], '
            '"worker": [...]}, or set the environment variable TF_CONFIG'
        )
    cluster = OF_TF_CONFIG if arguments.cluster is None else arguments.cluster
    with refusing(ValueError, OSError):
        return read_environment(cluster) if is_in_environment(cluster) else read_file(Path(cluster))


def run(arguments: argparse.Namespace) -> None:
    """Print the state of every task, or have a worker leave."""
    if arguments.action == "drain":
        _drain(arguments)
    elif arguments.worker is not None:
        raise CommandError(f"status takes no address of a worker, got {arguments.worker!r}; give --cluster FILE")
    else:
        _status(arguments)


def _drain(arguments: argparse.Namespace) -> None:
    from gensim_tfw2v.cluster.draining import drain

    if arguments.worker is None:
        raise CommandError("drain needs the address of a worker: tfw2v cluster drain HOST:PORT")
    with refusing(ClusterError, ValueError, exit_code=1):
        drain(arguments.worker, arguments.allow_network)
    print(f"the worker at {arguments.worker} has left")


def _status(arguments: argparse.Namespace) -> None:
    addresses = addresses_from(arguments)
    tasks = named_tasks(addresses, JOBS)
    with refusing(ClusterError):
        check_allowed(tasks, arguments.allow_network)
    silent = {name for name, address in tasks.items() if not answers(address)}
    described: dict[str, Any] = {}
    failure = f"no answer from {', '.join(sorted(silent))}" if silent else ""
    if not silent:  # TensorFlow connects to all tasks of a cluster or to none
        from gensim_tfw2v.cluster.connection import connect
        from gensim_tfw2v.cluster.descriptions import check_versions

        try:
            described = connect(addresses, any_version=True, allow_network=arguments.allow_network).describe_all()
            check_versions(described)
        except ClusterError as error:
            failure = str(error)
    if arguments.json:
        states = {
            name: {"address": address, "answers": name not in silent, **described.get(name, {})}
            for name, address in tasks.items()
        }
        print(json.dumps(states, indent=2))
    else:
        rows = [_row(name, address, name not in silent, described.get(name)) for name, address in tasks.items()]
        print(*lines_of_columns([_COLUMNS, *rows], at_left=len(_COLUMNS)), sep="\n")
    if failure:
        raise CommandError(failure, exit_code=1)


def _row(name: str, address: str, does_answer: bool, found: Mapping[str, Any] | None) -> Sequence[str]:
    state = "answers" if does_answer else "silent"
    if found is None:
        return (name, address, state, *["-"] * (len(_COLUMNS) - len(_STATE)))
    cpu, memory = found["figures"][:2]
    process = f"{found['host']}/{found['process']}"
    cores = str(found.get("cores", 1)) if name.startswith("worker") else "-"  # servers train no blocks
    numbers = (f"{memory / 1e6:,.0f}", f"{cpu:.1f}", cores, str(found["blocks"]), str(len(found["runs"])))
    return (name, address, state, process, found["tensorflow"], found["package"], *numbers)

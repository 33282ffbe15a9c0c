"""`tfw2v cluster`: which tasks of a cluster answer, and their state; or have a worker leave."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from gensim_tfw2v.cli.arguments import add_allow_network
from gensim_tfw2v.cli.cluster_argument import add_cluster_argument, addresses_from
from gensim_tfw2v.cli.columns import lines_of_columns
from gensim_tfw2v.cli.errors import CommandError

DESCRIPTION = """status: show the state of a cluster's tasks. The exit code is 0 if all of them answer, else 1.
drain: have a worker train its block to the end and then end itself. The exit code is 0 once it has ended."""
_STATE, _DETAILS = ("task", "address", "state"), ("process", "tensorflow", "package")
_COLUMNS = (*_STATE, *_DETAILS, "memory MB", "cpu s", "cores", "blocks", "runs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v cluster`."""
    parser.add_argument("action", choices=("status", "drain"), help="what to do")
    parser.add_argument(
        "worker", metavar="HOST:PORT", nargs="?", help="drain: the address of the worker that is to leave"
    )
    add_cluster_argument(parser)
    add_allow_network(parser)
    parser.add_argument("--json", action="store_true", help="print JSON (default: a table)")


def run(arguments: argparse.Namespace) -> None:
    """Print the state of every task, or have a worker leave."""
    if arguments.action == "drain":
        _drain(arguments)
    elif arguments.worker is not None:
        raise CommandError(f"status takes no address of a worker, got {arguments.worker!r}; give --cluster FILE")
    else:
        _status(arguments)


def _drain(arguments: argparse.Namespace) -> None:
    from gensim_tfw2v.cluster.errors import ClusterError
    from gensim_tfw2v.cluster.notices import drain

    if arguments.worker is None:
        raise CommandError("drain needs the address of a worker: tfw2v cluster drain HOST:PORT")
    try:
        drain(arguments.worker, arguments.allow_network)
    except (ClusterError, ValueError) as error:
        raise CommandError(str(error), exit_code=1) from error
    print(f"the worker at {arguments.worker} has left")


def _status(arguments: argparse.Namespace) -> None:
    from gensim_tfw2v.cluster.errors import ClusterError
    from gensim_tfw2v.cluster.exposure import check_allowed
    from gensim_tfw2v.cluster.health import answers

    addresses = addresses_from(arguments)
    tasks = {f"{job} {task}": address for job, found in addresses.items() for task, address in enumerate(found)}
    try:
        check_allowed(tasks, arguments.allow_network)
    except ClusterError as error:
        raise CommandError(str(error)) from error
    silent = {name for name, address in tasks.items() if not answers(address)}
    described: dict[str, Any] = {}
    failure = None
    if not silent:  # TensorFlow connects to all tasks of a cluster or to none
        from gensim_tfw2v.cluster.connection import connect
        from gensim_tfw2v.cluster.task import check_versions

        try:
            described = connect(addresses, any_version=True, allow_network=arguments.allow_network).describe_all()
            check_versions(described)
        except ClusterError as error:
            failure = str(error)
    _show(tasks, silent, described, arguments.json)
    if silent:
        raise CommandError(f"no answer from {', '.join(sorted(silent))}", exit_code=1)
    if failure:
        raise CommandError(failure, exit_code=1)


def _show(tasks: Mapping[str, str], silent: set[str], described: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        states = {
            name: {"address": address, "answers": name not in silent, **described.get(name, {})}
            for name, address in tasks.items()
        }
        print(json.dumps(states, indent=2))
        return
    rows = [_row(name, address, name not in silent, described.get(name)) for name, address in tasks.items()]
    print(*lines_of_columns([_COLUMNS, *rows], at_left=len(_COLUMNS)), sep="\n")


def _row(name: str, address: str, does_answer: bool, found: Mapping[str, Any] | None) -> Sequence[str]:
    state = "answers" if does_answer else "silent"
    if found is None:
        return (name, address, state, *["-"] * (len(_COLUMNS) - len(_STATE)))
    cpu, memory = found["figures"][:2]
    process = f"{found['host']}/{found['process']}"
    cores = str(found.get("cores", 1)) if name.startswith("worker") else "-"  # servers train no blocks
    numbers = (f"{memory / 1e6:,.0f}", f"{cpu:.1f}", cores, str(found["blocks"]), str(len(found["runs"])))
    return (name, address, state, process, found["tensorflow"], found["package"], *numbers)

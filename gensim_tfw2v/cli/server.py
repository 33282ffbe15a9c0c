"""`tfw2v server`: runs one task of a cluster."""

from __future__ import annotations

import argparse

from gensim_tfw2v.cli.arguments import add_allow_network, whole_number
from gensim_tfw2v.cli.cluster_argument import add_cluster_argument, addresses_from
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.slurm import cores_of_task
from gensim_tfw2v.cluster.specification import OF_SLURM, OF_TF_CONFIG, Addresses, address_of, addresses_of, own_task

DESCRIPTION = """Run one task of a cluster until it is stopped: a parameter server, which holds a part of the vectors,
or a worker, which trains blocks of the corpus. With --join, a worker joins a training that runs. A worker that gets
SIGTERM trains its block to the end if the training lets workers leave. Whoever reaches a task's port can run code as
this user. The port answers only this machine, or with --allow-network the network interface of its address."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v server`."""
    by_default = "(default: as TF_CONFIG or Slurm says)"
    parser.add_argument("--job", choices=("ps", "worker"), help=f"kind of task {by_default}")
    parser.add_argument("--task", metavar="I", type=whole_number(0), help=f"number of the task, from 0 {by_default}")
    add_cluster_argument(parser)
    parser.add_argument(
        "--join",
        metavar="HOST:PORT",
        help="join a training with --max-workers as a worker that its cluster does not list; HOST:PORT is the address "
        "of the cluster's first server (default: run a task of --cluster)",
    )
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="with --join, and without a default: where this worker listens, as all tasks and the coordinator reach it",
    )
    parser.add_argument(
        "--with-parent",
        metavar="PID",
        type=whole_number(1),
        help="end with the process PID, which must have started this one (default: run until stopped)",
    )
    parser.add_argument(
        "--cores",
        metavar="N",
        type=whole_number(1),
        help="cores of a worker that train a block side by side (default: those that this process may use, shared "
        "equally by the cluster's workers on this host; with --cluster slurm those that Slurm gives to the task)",
    )
    parser.add_argument(
        "--gpu",
        metavar="N",
        type=whole_number(0),
        help="number of the GPU that a worker trains on, from 0, where the coordinator asks for --device gpu (default: "
        "those that CUDA_VISIBLE_DEVICES names, or none)",
    )
    add_allow_network(parser)
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="if this system cannot keep the port to one network interface, open it on all (default: refuse)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="only check whether the task runs and answers: the exit code is 0 if it does, else 1 (default: run it)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the task, or check it."""
    _check_join(arguments)
    joins = arguments.join is not None
    cluster = _joined(arguments) if joins else addresses_from(arguments, others=", --job and --task")
    try:
        job, task = ("worker", 0) if joins else _task_of(arguments)
        if arguments.check:
            _check(job, task, cluster)
            return
        from gensim_tfw2v.placement.server import serve

        serve(
            job,
            task,
            cluster,
            arguments.with_parent,
            arguments.allow_network,
            arguments.insecure,
            _cores_of(arguments),
            joins,
            arguments.gpu,
        )
    except (ValueError, OSError, ClusterError) as error:
        raise CommandError(str(error)) from error


def _check_join(arguments: argparse.Namespace) -> None:
    """Raise CommandError if flags do not go with --join, or are missing beside it."""
    if (arguments.join is None) != (arguments.address is None):
        raise CommandError("--join and --address belong together: --address says where the worker that joins listens")
    if arguments.join is not None:
        for flag in ("job", "task", "cluster"):
            if getattr(arguments, flag) is not None:
                raise CommandError(f"--{flag} does not go with --join: the worker is no task of a cluster's list")


def _joined(arguments: argparse.Namespace) -> Addresses:
    """Return the two tasks that a worker that joins knows: the first server, and itself."""
    try:
        return addresses_of({"ps": [arguments.join], "worker": [arguments.address]})
    except ValueError as error:
        raise CommandError(str(error)) from error


def _task_of(arguments: argparse.Namespace) -> tuple[str, int]:
    """Return the job and number of the task: those of the flags, or else those that the environment says."""
    if arguments.job is not None and arguments.task is not None:
        return arguments.job, arguments.task
    job, task = own_task(OF_SLURM if arguments.cluster == OF_SLURM else OF_TF_CONFIG)
    return arguments.job or job, task if arguments.task is None else arguments.task


def _cores_of(arguments: argparse.Namespace) -> int | None:
    """Return how many cores a worker trains with, None for its share of those that this process may use."""
    return cores_of_task() if arguments.cores is None and arguments.cluster == OF_SLURM else arguments.cores


def _check(job: str, task: int, cluster: Addresses) -> None:
    """Raise CommandError if the task does not answer. TensorFlow is not loaded, so that checks are cheap."""
    address = address_of(job, task, cluster)
    if not answers(address):
        raise CommandError(f"no answer from {job} {task} at {address}", exit_code=1)

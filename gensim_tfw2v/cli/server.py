"""`tfw2v server`: runs one task of a cluster."""

from __future__ import annotations

import argparse

from gensim_tfw2v.cli.arguments import add_allow_network, add_switch, add_value, whole_number
from gensim_tfw2v.cli.cluster import add_cluster_argument, addresses_from
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.slurm import cores_of_task
from gensim_tfw2v.cluster.specification import OF_SLURM, OF_TF_CONFIG, OwnTask, addresses_of, own_task

DESCRIPTION = """Run one task of a cluster until it is stopped: a parameter server, which holds a part of the vectors,
or a worker, which trains blocks of the corpus. With --join, a worker joins a training that runs. A worker that gets
SIGTERM trains its block to the end if the training lets workers leave. Whoever reaches a task's port can run code as
this user. The port answers only this machine, or with --allow-network the network interface of its address."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v server`."""
    by_default = "as TF_CONFIG or Slurm says"
    parser.add_argument("--job", choices=("ps", "worker"), help=f"kind of task (default: {by_default})")
    add_value(parser, "--task", "I", whole_number(0), None, "number of the task, from 0", by_default)
    add_cluster_argument(parser)
    meaning = (
        "join a training with --max-workers as a worker that its cluster does not list; HOST:PORT is the address of "
        "the cluster's first server"
    )
    add_value(parser, "--join", "HOST:PORT", str, None, meaning, "run a task of --cluster")
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="with --join, and without a default: where this worker listens, as all tasks and the coordinator reach it",
    )
    meaning = "end with the process PID, which must have started this one"
    add_value(parser, "--with-parent", "PID", whole_number(1), None, meaning, "run until stopped")
    shown = (
        "those that this process may use, shared equally by the cluster's workers on this host; with --cluster slurm "
        "those that Slurm gives to the task"
    )
    meaning = "cores of a worker that train a block side by side"
    add_value(parser, "--cores", "N", whole_number(1), None, meaning, shown)
    meaning = "number of the GPU that a worker trains on, from 0, where the coordinator asks for --device gpu"
    add_value(parser, "--gpu", "N", whole_number(0), None, meaning, "those that CUDA_VISIBLE_DEVICES names, or none")
    add_allow_network(parser)
    meaning = "if this system cannot keep the port to one network interface, open it on all"
    add_switch(parser, "--insecure", meaning, "refuse")
    meaning = "only check whether the task runs and answers: the exit code is 0 if it does, else 1"
    add_switch(parser, "--check", meaning, "run it")


def run(arguments: argparse.Namespace) -> None:
    """Run the task, or check it."""
    joins = arguments.join is not None
    if joins != (arguments.address is not None):
        raise CommandError("--join and --address belong together: --address says where the worker that joins listens")
    for flag in ("job", "task", "cluster") if joins else ():
        if getattr(arguments, flag) is not None:
            raise CommandError(f"--{flag} does not go with --join: the worker is no task of a cluster's list")
    with refusing(ValueError, OSError, ClusterError):
        if joins:  # the worker knows two tasks: the first server, and itself
            tasks = {"ps": [arguments.join], "worker": [arguments.address]}
            task = OwnTask("worker", 0, addresses_of(tasks), joins=True)
        else:
            cluster = addresses_from(arguments, others=", --job and --task")
            task = OwnTask(*_task_of(arguments), cluster)
        if arguments.check:  # without TensorFlow, so that checks are cheap
            if not answers(task.address):
                raise CommandError(f"no answer from {task.job} {task.number} at {task.address}", exit_code=1)
            return
        from gensim_tfw2v.placement.server import serve

        by_slurm = arguments.cores is None and arguments.cluster == OF_SLURM
        cores = cores_of_task() if by_slurm else arguments.cores
        serve(task, arguments.with_parent, arguments.allow_network, arguments.insecure, cores, arguments.gpu)


def _task_of(arguments: argparse.Namespace) -> tuple[str, int]:
    """Return the job and number of the task: those of the flags, or else those that the environment says."""
    if arguments.job is not None and arguments.task is not None:
        return arguments.job, arguments.task
    job, task = own_task(OF_SLURM if arguments.cluster == OF_SLURM else OF_TF_CONFIG)
    return arguments.job or job, task if arguments.task is None else arguments.task

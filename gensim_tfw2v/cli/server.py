"""`tfw2v server`: runs one task of a cluster."""

from __future__ import annotations

import argparse

from gensim_tfw2v.cli.arguments import add_allow_network, whole_number
from gensim_tfw2v.cli.cluster_argument import add_cluster_argument, addresses_from
from gensim_tfw2v.cli.errors import CommandError

DESCRIPTION = """Run one task of a cluster until it is stopped: a parameter server, which holds a part of the vectors,
or a worker, which trains blocks of the corpus. Whoever reaches its port can run code as this user. The port
answers only this machine, or with --allow-network the network interface of its address."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v server`."""
    parser.add_argument("--job", choices=("ps", "worker"), help="kind of task (default: as TF_CONFIG says)")
    parser.add_argument(
        "--task", metavar="I", type=whole_number(0), help="number of the task, from 0 (default: as TF_CONFIG says)"
    )
    add_cluster_argument(parser)
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
        "equally by the cluster's workers on this host)",
    )
    add_allow_network(parser)
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="if this system cannot keep the port to one network interface, open it on all (default: refuse)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the task."""
    from gensim_tfw2v.cluster.errors import ClusterError
    from gensim_tfw2v.cluster.specification import own_task
    from gensim_tfw2v.placement.server import serve

    cluster = addresses_from(arguments, others=", --job and --task")
    try:
        if arguments.job is None or arguments.task is None:
            job, task = own_task()
        job = arguments.job or job
        task = arguments.task if arguments.task is not None else task
        serve(
            job,
            task,
            cluster,
            arguments.with_parent,
            arguments.allow_network,
            arguments.insecure,
            arguments.cores,
        )
    except (ValueError, OSError, ClusterError) as error:
        raise CommandError(str(error)) from error

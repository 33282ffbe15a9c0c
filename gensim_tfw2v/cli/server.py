"""`tfw2v server`: runs one task of a cluster."""

from __future__ import annotations

import argparse

from gensim_tfw2v.cli.arguments import whole_number
from gensim_tfw2v.cli.cluster_argument import add_cluster_argument, addresses_from
from gensim_tfw2v.cli.errors import CommandError

DESCRIPTION = """Run one task of a cluster until it is stopped: a parameter server, which holds a part of the vectors,
or a worker, which trains blocks of the corpus. The port is open on every network interface, and whoever
reaches it can run code as this user: keep it closed to others."""


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
        help="end when the process PID, which started this one, ends (default: do not)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the task."""
    from gensim_tfw2v.cluster.errors import ClusterError
    from gensim_tfw2v.cluster.specification import own_task
    from gensim_tfw2v.placement.parameter_servers.server import serve

    cluster = addresses_from(arguments, others=", --job and --task")
    try:
        if arguments.job is None or arguments.task is None:
            job, task = own_task()
        job = arguments.job or job
        task = arguments.task if arguments.task is not None else task
        serve(job, task, cluster, parent=arguments.with_parent)
    except (ValueError, OSError, ClusterError) as error:
        raise CommandError(str(error)) from error

"""The flag --cluster of the commands about a cluster's tasks → the addresses of the tasks."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cluster.specification import OF_TF_CONFIG, Addresses, is_in_environment, read_environment, read_file


def add_cluster_argument(parser: argparse.ArgumentParser) -> None:
    """Declare --cluster."""
    parser.add_argument(
        "--cluster",
        metavar="FILE",
        help='JSON file of addresses, {"ps": [...], "worker": [...]}; env stands for the environment variable '
        "TF_CONFIG, slurm for the tasks of this Slurm job (default: env where TF_CONFIG is set)",
    )


def addresses_from(arguments: argparse.Namespace, others: str = "") -> Addresses:
    """Return the addresses that --cluster, or else TF_CONFIG, names; the error also asks for the flags `others`."""
    if arguments.cluster is None and not os.environ.get("TF_CONFIG"):
        raise CommandError(
            f'no cluster is named: give --cluster FILE{others}, where FILE holds {{"ps": ["host:port", ...], '
            '"worker": [...]}, or set the environment variable TF_CONFIG'
        )
    cluster = OF_TF_CONFIG if arguments.cluster is None else arguments.cluster
    try:
        return read_environment(cluster) if is_in_environment(cluster) else read_file(Path(cluster))
    except (ValueError, OSError) as error:
        raise CommandError(str(error)) from error

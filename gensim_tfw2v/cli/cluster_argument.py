"""The flag --cluster of the commands about a cluster's tasks → the addresses of the tasks."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cluster.specification import Addresses, read_environment, read_file


def add_cluster_argument(parser: argparse.ArgumentParser) -> None:
    """Declare --cluster."""
    parser.add_argument(
        "--cluster",
        metavar="FILE",
        help='JSON file of addresses, {"ps": [...], "worker": [...]}; env stands for the environment variable '
        "TF_CONFIG (default: env where TF_CONFIG is set)",
    )


def addresses_from(arguments: argparse.Namespace, others: str = "") -> Addresses:
    """Return the addresses that --cluster, or else TF_CONFIG, names; the error also asks for the flags `others`."""
    if arguments.cluster is None and not os.environ.get("TF_CONFIG"):
        raise CommandError(
            f'no cluster is named: give --cluster FILE{others}, where FILE holds {{"ps": ["host:port", ...], '
            '"worker": [...]}, or set the environment variable TF_CONFIG'
        )
    try:
        return read_environment() if arguments.cluster in (None, "env") else read_file(Path(arguments.cluster))
    except (ValueError, OSError) as error:
        raise CommandError(str(error)) from error

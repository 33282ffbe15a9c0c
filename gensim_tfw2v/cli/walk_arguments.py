"""Flags that say how random walks are drawn, and the walks on a list of edges that is named on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import positive_number, whole_number
from gensim_tfw2v.cli.errors import CommandError

WALK_FLAGS = ("walks_per_node", "walk_length", "p", "q", "directed", "resample")  # arguments of RandomWalks


def add_walk_arguments(parser: argparse._ActionsContainer) -> None:
    """Declare the flags of all commands that draw walks. Those that are not given are None."""
    add = parser.add_argument
    add(
        "--walks-per-node",
        metavar="N",
        type=whole_number(1),
        help="walks that begin at each node (default: 10)",
    )
    add("--walk-length", metavar="N", type=whole_number(1), help="nodes of a walk (default: 80)")
    add("--p", metavar="X", type=positive_number, help="above 1, walks seldom step back (default: 1)")
    add("--q", metavar="X", type=positive_number, help="above 1, walks stay near; below 1, they go far (default: 1)")
    add(
        "--directed",
        action="store_const",
        const=True,
        help="edges lead only from the first node to the second (default: both ways)",
    )


def add_resample(parser: argparse._ActionsContainer) -> None:
    """Declare the flag for commands that read the walks in several passes."""
    parser.add_argument(
        "--resample",
        action="store_const",
        const=True,
        help="draw new walks in each epoch (default: the same walks again)",
    )


def check_no_flags(arguments: argparse.Namespace) -> None:
    """Raise an error if one of the flags is given."""
    for name in WALK_FLAGS:
        if getattr(arguments, name) is not None:
            raise CommandError(f"--{name.replace('_', '-')} needs --edges, which makes CORPUS a list of edges")


def walks_on(edges: Path, arguments: argparse.Namespace) -> Any:
    """Return the walks on a list of edges."""
    from gensim_tfw2v.walks.random_walks import RandomWalks

    given = {name: value for name in WALK_FLAGS if (value := getattr(arguments, name, None)) is not None}
    return RandomWalks(edges, **given, seed=arguments.seed, workers=arguments.workers)

"""`tfw2v walks`: writes random walks on a graph as a corpus of text; and the flags of walks, which `train` has too."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gensim_tfw2v.arguments.argument import flag_of
from gensim_tfw2v.cli.arguments import add_switch, add_value, cores, positive_number, whole_number
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.inputs import check_apart, check_corpus
from gensim_tfw2v.files.models import check_writable
from gensim_tfw2v.files.whole_files import written_file

DESCRIPTION = """Draw random walks on a graph, and write one on each line. EDGES has two nodes on each line, and a
weight if all lines have one, between white space. `tfw2v train EDGES --edges` trains on walks without a file."""
_FLAGS = ("walks_per_node", "walk_length", "p", "q", "directed", "resample")  # arguments of RandomWalks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v walks`."""
    parser.add_argument("edges", metavar="EDGES", type=Path, help="text file of edges, plain or .gz, .bz2 or .xz")
    parser.add_argument("--output", "-o", metavar="FILE", type=Path, required=True, help="text file to write")
    add_walk_arguments(parser)
    add_value(parser, "--seed", "N", whole_number(0), 1, "seed of random numbers")
    add_value(parser, "--workers", "N", cores, None, "cores to use, with the same walks", "all")
    add_switch(parser, "--force", "overwrite an existing FILE", "refuse")
    add_switch(parser, "--quiet", "print no summary")


def add_walk_arguments(parser: argparse._ActionsContainer) -> None:
    """Declare the flags of all commands that draw walks. Those that are not given are None."""
    add_value(parser, "--walks-per-node", "N", whole_number(1), None, "walks that begin at each node", "10")
    add_value(parser, "--walk-length", "N", whole_number(1), None, "nodes of a walk", "80")
    add_value(parser, "--p", "X", positive_number, None, "above 1, walks seldom step back", "1")
    add_value(parser, "--q", "X", positive_number, None, "above 1, walks stay near; below 1, they go far", "1")
    meaning = "edges lead only from the first node to the second (default: both ways)"
    parser.add_argument("--directed", action="store_const", const=True, help=meaning)


def check_edges(arguments: argparse.Namespace) -> None:
    """Raise an error if CORPUS of `tfw2v train` cannot be a list of edges, or if walks have flags and it is none."""
    if arguments.edges:
        if not arguments.corpus.is_file():
            raise CommandError(f"--edges needs a file of edges, and corpus {str(arguments.corpus)!r} is a folder")
        return
    for name in _FLAGS:
        if getattr(arguments, name) is not None:
            raise CommandError(f"{flag_of(name)} needs --edges, which makes CORPUS a list of edges")


def walks_on(edges: Path, arguments: argparse.Namespace) -> Any:
    """Return the walks on a list of edges."""
    from gensim_tfw2v.walks.random_walks import RandomWalks

    given = {name: value for name in _FLAGS if (value := getattr(arguments, name, None)) is not None}
    return RandomWalks(edges, **given, seed=arguments.seed, workers=arguments.workers)


def run(arguments: argparse.Namespace) -> None:
    """Write the walks and print a summary."""
    check_corpus(arguments.edges)
    if arguments.edges.is_dir():
        raise CommandError(f"edges {str(arguments.edges)!r} are a folder; name a file")
    check_apart(arguments.edges, arguments.output)
    check_writable(arguments.output, arguments.force)
    walks, nodes = walks_on(arguments.edges, arguments), 0
    with written_file(arguments.output) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
        for drawn in walks.drawn():
            file.writelines(f"{' '.join(walk)}\n" for walk in drawn.as_lists(walks.nodes))
            nodes += drawn.ids.size
    if not arguments.quiet:
        print(f"{arguments.output}: {len(walks):,} walks with {nodes:,} nodes, on a graph of {len(walks.nodes):,}")

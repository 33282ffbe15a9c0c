"""`tfw2v walks`: writes random walks on a graph as a corpus of text."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import whole_number
from gensim_tfw2v.cli.corpora import check_apart, check_corpus
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.walk_arguments import add_walk_arguments, walks_on
from gensim_tfw2v.files.models import check_writable
from gensim_tfw2v.files.whole_files import written_file

DESCRIPTION = """Draw random walks on a graph, and write one on each line. EDGES has two nodes on each line, and a
weight if all lines have one, between white space. `tfw2v train EDGES --edges` trains on walks without a file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v walks`."""
    parser.add_argument("edges", metavar="EDGES", type=Path, help="text file of edges, plain or .gz, .bz2 or .xz")
    parser.add_argument("--output", "-o", metavar="FILE", type=Path, required=True, help="text file to write")
    add_walk_arguments(parser)
    parser.add_argument(
        "--seed", metavar="N", type=whole_number(0), default=1, help="seed of random numbers (default: %(default)s)"
    )
    parser.add_argument(
        "--workers", metavar="N", type=whole_number(1), help="cores to use, with the same walks (default: all)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing FILE (default: refuse)")
    parser.add_argument("--quiet", action="store_true", help="print no summary (default: no)")


def run(arguments: argparse.Namespace) -> None:
    """Write the walks and print a summary."""
    check_corpus(arguments.edges)
    if arguments.edges.is_dir():
        raise CommandError(f"edges {str(arguments.edges)!r} are a folder; name a file")
    check_apart(arguments.edges, arguments.output)
    check_writable(arguments.output, arguments.force)
    walks = walks_on(arguments.edges, arguments)
    with written_file(arguments.output) as unfinished:
        nodes = _write(walks, unfinished)
    if not arguments.quiet:
        print(f"{arguments.output}: {len(walks):,} walks with {nodes:,} nodes, on a graph of {len(walks.nodes):,}")


def _write(walks: Any, path: Path) -> int:
    """Write walks to a file, and return how many nodes these have."""
    written = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for drawn in walks.drawn():
            file.writelines(f"{' '.join(walk)}\n" for walk in drawn.as_lists(walks.nodes))
            written += drawn.ids.size
    return written

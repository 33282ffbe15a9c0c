"""`tfw2v merge`: merges the vectors of several models into one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from gensim_tfw2v.cli.arguments import add_switch, add_value, whole_number
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.inputs import add_format_arguments, vectors_at
from gensim_tfw2v.files.models import check_writable
from gensim_tfw2v.merging import METHODS

DESCRIPTION = """Merge the vectors of models that trained apart into one file with the words of all of them. A word that
some models lack gets its vector from the others."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v merge`."""
    add = parser.add_argument
    add("models", metavar="MODEL", type=Path, nargs="+", help="two or more files that gensim or word2vec can write")
    meaning = "file to write: .kv (keyed vectors), .txt or .vec (word2vec text) or .bin (word2vec binary)"
    add("--output", metavar="FILE", type=Path, required=True, help=meaning)
    add(
        "--method",
        choices=METHODS,
        default="alir",
        help="alir: rotate the models onto each other and take means; pca: principal components of all; concatenate: "
        "side by side; average: means without rotation (default: %(default)s)",
    )
    shown = "the largest MODEL's; with concatenate the sum"
    add_value(parser, "--vector-size", "N", whole_number(1), None, "size of the merged vectors", shown)
    add_format_arguments(parser)
    add_switch(parser, "--force", "overwrite an existing FILE", "refuse")
    add_switch(parser, "--quiet", "print no progress and no summary")


def run(arguments: argparse.Namespace) -> None:
    """Merge, write the vectors and print a summary. Wrong arguments raise an error before merging."""
    if len(arguments.models) < 2:
        raise CommandError(f"one MODEL alone, {str(arguments.models[0])!r}, cannot be merged; name two or more")
    from gensim_tfw2v.files.vectors import vector_format_of, write_vectors

    vector_format_of(arguments.output)
    check_writable(arguments.output, arguments.force)
    keyed_vectors = [vectors_at(path, arguments) for path in arguments.models]
    from gensim_tfw2v.model.merged_vectors import merge_vectors

    progress = False if arguments.quiet else None
    with refusing(ValueError):
        merged = merge_vectors(keyed_vectors, arguments.method, arguments.vector_size, progress=progress)
    write_vectors(merged, arguments.output)
    if not arguments.quiet:
        sizes = " + ".join(f"{len(vectors):,}" for vectors in keyed_vectors)
        print(f"{arguments.output}: {len(merged):,} words of {merged.vector_size} numbers from {sizes}")

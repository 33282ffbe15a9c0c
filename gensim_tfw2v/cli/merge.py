"""`tfw2v merge`: merges the vectors of several models into one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from gensim_tfw2v.cli.arguments import whole_number
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.models import add_format_arguments, vectors_at
from gensim_tfw2v.files.models import check_writable
from gensim_tfw2v.merging import METHODS

DESCRIPTION = """Merge the vectors of models that trained apart into one file with the words of all of them. A word that
some models lack gets its vector from the others."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v merge`."""
    add = parser.add_argument
    add("models", metavar="MODEL", type=Path, nargs="+", help="two or more files that gensim or word2vec can write")
    add(
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="file to write: .kv (keyed vectors), .txt or .vec (word2vec text) or .bin (word2vec binary)",
    )
    add(
        "--method",
        choices=METHODS,
        default="alir",
        help="alir: rotate the models onto each other and take means; pca: principal components of all; concatenate: "
        "side by side; average: means without rotation (default: %(default)s)",
    )
    add(
        "--vector-size",
        metavar="N",
        type=whole_number(1),
        help="size of the merged vectors (default: the largest MODEL's; with concatenate the sum)",
    )
    add_format_arguments(parser)
    add("--force", action="store_true", help="overwrite an existing FILE (default: refuse)")
    add("--quiet", action="store_true", help="print no progress and no summary (default: no)")


def run(arguments: argparse.Namespace) -> None:
    """Merge, write the vectors and print a summary. Wrong arguments raise an error before merging."""
    if len(arguments.models) < 2:
        raise CommandError(f"one MODEL alone, {str(arguments.models[0])!r}, cannot be merged; name two or more")
    from gensim_tfw2v.files.vectors import vector_format_of, write_vectors

    vector_format_of(arguments.output)
    check_writable(arguments.output, arguments.force)
    keyed_vectors = [vectors_at(path, arguments) for path in arguments.models]
    from gensim_tfw2v.model.merged_vectors import merge_vectors

    try:
        merged = merge_vectors(
            keyed_vectors, arguments.method, arguments.vector_size, progress=False if arguments.quiet else None
        )
    except ValueError as error:
        raise CommandError(str(error)) from error
    write_vectors(merged, arguments.output)
    if not arguments.quiet:
        print(f"{arguments.output}: {len(merged):,} words of {merged.vector_size} numbers from {_sizes(keyed_vectors)}")


def _sizes(keyed_vectors: list[object]) -> str:
    """Return how many words each model has."""
    return " + ".join(f"{len(vectors):,}" for vectors in keyed_vectors)  # type: ignore[arg-type]

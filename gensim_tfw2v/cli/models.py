"""MODEL on a command line → its vectors."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.files.formats import FORMATS, ModelFileError
from gensim_tfw2v.files.models import read_vectors


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that say how MODEL is read."""
    parser.add_argument("--format", choices=FORMATS, help="format of MODEL (default: what its content shows)")
    parser.add_argument(
        "--safe",
        action="store_true",
        help="refuse a MODEL that can run code, as gensim's own formats can; open .npz files as well (default: no)",
    )


def vectors_of(arguments: argparse.Namespace) -> Any:
    """Return the vectors of MODEL."""
    return vectors_at(arguments.model, arguments)


def vectors_at(path: Path, arguments: argparse.Namespace) -> Any:
    """Return the vectors in a file, read as the arguments of the format say."""
    if not arguments.safe:
        return read_vectors(path, arguments.format)
    if arguments.format:
        raise CommandError("--safe finds the format itself; leave out --format")
    from gensim_tfw2v.files.safe_vectors import load_vectors_safely

    try:
        return load_vectors_safely(path)
    except FileNotFoundError as error:
        raise ModelFileError(f"model {str(path)!r} is not there") from error

"""`tfw2v export`: writes a model's vectors as a folder for the Hugging Face Hub."""

from __future__ import annotations

import argparse
from pathlib import Path

from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.models import add_format_arguments, vectors_of

DESCRIPTION = """Write a model's vectors to a new folder that model2vec and sentence-transformers open: safetensors, a
tokenizer and a model card. Upload it to the Hugging Face Hub as it is."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v export`."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="gensim model, keyed vectors or word2vec file")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder to write, which must not exist yet")
    add_format_arguments(parser)
    parser.add_argument(
        "--lowercase", action="store_true", help="texts become lower case before words are looked up (default: no)"
    )
    parser.add_argument("--license", metavar="ID", help="licence in the model card, such as mit (default: none)")
    parser.add_argument("--language", metavar="ID", help="language in the model card, such as en (default: none)")
    parser.add_argument("--description", metavar="TEXT", help="text in the model card (default: none)")
    parser.add_argument("--quiet", action="store_true", help="print no summary (default: no)")


def run(arguments: argparse.Namespace) -> None:
    """Write the folder and print a summary."""
    from gensim_tfw2v.files.pretrained import export_pretrained

    vectors = vectors_of(arguments)
    settings = {name: getattr(arguments, name) for name in ("lowercase", "license", "language", "description")}
    try:
        export_pretrained(vectors, arguments.folder, **settings)
    except (FileExistsError, FileNotFoundError) as error:
        raise CommandError(str(error)) from error
    if not arguments.quiet:
        print(f"{arguments.folder}: {len(vectors):,} words, {vectors.vector_size} dimensions")

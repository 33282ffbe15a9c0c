"""`tfw2v export`: writes a model's vectors as a folder for the Hugging Face Hub, or for a database."""

from __future__ import annotations

import argparse
from pathlib import Path

from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.models import add_format_arguments, vectors_of

DESCRIPTION = """Write a model's vectors to a new folder. For the hub, model2vec and sentence-transformers open it:
safetensors, a tokenizer and a model card. Upload it to the Hugging Face Hub as it is. For pgvector and qdrant, it has
rows in bulk, and a file that loads them."""
_OF_CARD = ("license", "language", "description")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v export`."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="gensim model, keyed vectors or word2vec file")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder to write, which must not exist yet")
    parser.add_argument(
        "--for", dest="target", choices=("hub", "pgvector", "qdrant"), default="hub", help="reader (default: hub)"
    )
    add_format_arguments(parser)
    parser.add_argument(
        "--lowercase", action="store_true", help="texts become lower case before words are looked up (default: no)"
    )
    parser.add_argument("--license", metavar="ID", help="licence in the model card, such as mit (default: none)")
    parser.add_argument("--language", metavar="ID", help="language in the model card, such as en (default: none)")
    parser.add_argument("--description", metavar="TEXT", help="text in the model card (default: none)")
    parser.add_argument("--table", metavar="NAME", help="table of pgvector's rows (default: words)")
    parser.add_argument("--quiet", action="store_true", help="print no summary (default: no)")


def run(arguments: argparse.Namespace) -> None:
    """Write the folder and print a summary."""
    from gensim_tfw2v.files.databases import check_table, export_pgvector, export_qdrant
    from gensim_tfw2v.files.pretrained import export_pretrained

    _check_flags(arguments)
    table = "words" if arguments.table is None else arguments.table
    try:
        check_table(table)
    except ValueError as error:
        raise CommandError(f"--{error}") from error
    vectors = vectors_of(arguments)
    try:
        if arguments.target == "pgvector":
            export_pgvector(vectors, arguments.folder, table=table)
        elif arguments.target == "qdrant":
            export_qdrant(vectors, arguments.folder)
        else:
            card = {name: getattr(arguments, name) for name in _OF_CARD}
            export_pretrained(vectors, arguments.folder, lowercase=arguments.lowercase, **card)
    except (FileExistsError, FileNotFoundError) as error:
        raise CommandError(str(error)) from error
    if not arguments.quiet:
        print(f"{arguments.folder}: {len(vectors):,} words, {vectors.vector_size} dimensions")


def _check_flags(arguments: argparse.Namespace) -> None:
    """Raise an error for a flag that is for another reader."""
    for name, target in {"lowercase": "hub", **dict.fromkeys(_OF_CARD, "hub"), "table": "pgvector"}.items():
        if getattr(arguments, name) not in (None, False) and arguments.target != target:
            raise CommandError(f"--{name} goes with --for {target}, not with --for {arguments.target}")

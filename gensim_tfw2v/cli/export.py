"""`tfw2v export`: writes a model's vectors as a folder for the Hugging Face Hub, or for a database."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import add_switch, add_value
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.inputs import add_documents, add_format_arguments, vectors_at

DESCRIPTION = """Write a model's vectors to a new folder. For the hub, model2vec and sentence-transformers open it:
safetensors, a tokenizer and a model card. Upload it to the Hugging Face Hub as it is. For pgvector and qdrant, it has
rows in bulk, and a file that loads them."""
_OF_CARD = ("license", "language", "description")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v export`."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="gensim model, keyed vectors or word2vec file")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder to write, which must not exist yet")
    add_targets(parser, "hub", "hub")
    add_documents(parser)
    add_format_arguments(parser)
    add_switch(parser, "--quiet", "print no summary")


def run(arguments: argparse.Namespace) -> None:
    """Write the folder and print a summary."""
    check_targets(arguments)
    vectors = vectors_at(arguments.model, arguments, arguments.documents)
    write_target(vectors, arguments.folder, arguments, arguments.documents)
    if not arguments.quiet:
        kind = "documents" if arguments.documents else "words"
        print(f"{arguments.folder}: {len(vectors):,} {kind}, {vectors.vector_size} dimensions")


def add_targets(parser: argparse.ArgumentParser, default: str | None, shown: str) -> None:
    """Declare the flags that say for which reader a folder is written, and what it has."""
    targets = ("hub", "pgvector", "qdrant")
    parser.add_argument("--for", dest="target", choices=targets, default=default, help=f"reader (default: {shown})")
    add_switch(parser, "--lowercase", "texts become lower case before words are looked up")
    add_value(parser, "--license", "ID", str, None, "licence in the model card, such as mit", "none")
    add_value(parser, "--language", "ID", str, None, "language in the model card, such as en", "none")
    add_value(parser, "--description", "TEXT", str, None, "text in the model card", "none")
    add_value(parser, "--table", "NAME", str, None, "table of pgvector's rows", "words")


def check_targets(arguments: argparse.Namespace) -> None:
    """Raise an error for a flag that does not go with the reader."""
    from gensim_tfw2v.files.databases import check_table

    for name, target in {"lowercase": "hub", **dict.fromkeys(_OF_CARD, "hub"), "table": "pgvector"}.items():
        if getattr(arguments, name) not in (None, False) and arguments.target != target:
            found = "without it" if arguments.target is None else f"not with --for {arguments.target}"
            raise CommandError(f"--{name} goes with --for {target}, {found}")
    with refusing(ValueError, prefix="--"):
        check_table(_table(arguments))


def _table(arguments: argparse.Namespace) -> str:
    return "words" if arguments.table is None else str(arguments.table)


def write_target(vectors: Any, folder: Path, arguments: argparse.Namespace, of_documents: bool) -> None:
    """Write vectors to a new folder for the reader that the arguments name."""
    from gensim_tfw2v.files.databases import export_pgvector, export_qdrant
    from gensim_tfw2v.files.pretrained import export_pretrained

    with refusing(FileExistsError, FileNotFoundError):
        if arguments.target == "pgvector":
            export_pgvector(vectors, folder, table=_table(arguments))
        elif arguments.target == "qdrant":
            export_qdrant(vectors, folder)
        else:
            card = {name: getattr(arguments, name) for name in _OF_CARD}
            export_pretrained(vectors, folder, lowercase=arguments.lowercase, **card, of_documents=of_documents)

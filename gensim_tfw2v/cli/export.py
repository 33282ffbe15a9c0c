"""`tfw2v export`: writes a model's vectors as a folder for the Hugging Face Hub, or for a database."""

from __future__ import annotations

import argparse
from pathlib import Path

from gensim_tfw2v.cli.arguments import add_switch, add_value
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.inputs import add_format_arguments, vectors_at

DESCRIPTION = """Write a model's vectors to a new folder. For the hub, model2vec and sentence-transformers open it:
safetensors, a tokenizer and a model card. Upload it to the Hugging Face Hub as it is. For pgvector and qdrant, it has
rows in bulk, and a file that loads them."""
_OF_CARD = ("license", "language", "description")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v export`."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="gensim model, keyed vectors or word2vec file")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder to write, which must not exist yet")
    targets = ("hub", "pgvector", "qdrant")
    parser.add_argument("--for", dest="target", choices=targets, default="hub", help="reader (default: hub)")
    add_format_arguments(parser)
    add_switch(parser, "--lowercase", "texts become lower case before words are looked up")
    add_value(parser, "--license", "ID", str, None, "licence in the model card, such as mit", "none")
    add_value(parser, "--language", "ID", str, None, "language in the model card, such as en", "none")
    add_value(parser, "--description", "TEXT", str, None, "text in the model card", "none")
    add_value(parser, "--table", "NAME", str, None, "table of pgvector's rows", "words")
    add_switch(parser, "--quiet", "print no summary")


def run(arguments: argparse.Namespace) -> None:
    """Write the folder and print a summary."""
    from gensim_tfw2v.files.pgvector import check_table, export_pgvector
    from gensim_tfw2v.files.pretrained import export_pretrained
    from gensim_tfw2v.files.qdrant import export_qdrant

    for name, target in {"lowercase": "hub", **dict.fromkeys(_OF_CARD, "hub"), "table": "pgvector"}.items():
        if getattr(arguments, name) not in (None, False) and arguments.target != target:
            raise CommandError(f"--{name} goes with --for {target}, not with --for {arguments.target}")
    table = "words" if arguments.table is None else arguments.table
    with refusing(ValueError, prefix="--"):
        check_table(table)
    vectors = vectors_at(arguments.model, arguments)
    with refusing(FileExistsError, FileNotFoundError):
        if arguments.target == "pgvector":
            export_pgvector(vectors, arguments.folder, table=table)
        elif arguments.target == "qdrant":
            export_qdrant(vectors, arguments.folder)
        else:
            card = {name: getattr(arguments, name) for name in _OF_CARD}
            export_pretrained(vectors, arguments.folder, lowercase=arguments.lowercase, **card)
    if not arguments.quiet:
        print(f"{arguments.folder}: {len(vectors):,} words, {vectors.vector_size} dimensions")

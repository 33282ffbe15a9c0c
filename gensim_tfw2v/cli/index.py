"""`tfw2v index`: writes an index that finds the neighbours of words quickly, also among millions."""

from __future__ import annotations

import argparse
from pathlib import Path

from gensim_tfw2v.cli.arguments import add_switch
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.inputs import add_documents, add_format_arguments, vectors_at
from gensim_tfw2v.files.formats import INDEX_ENGINES
from gensim_tfw2v.files.models import check_writable

_SAMPLE = 200  # words whose neighbours are compared with those of the model
DESCRIPTION = """Write an index of MODEL's vectors, with which `tfw2v neighbours --index FILE` finds neighbours without
comparing all words. FILE is in the format of the engine. FILE.words.json beside it has the words."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v index`."""
    add = parser.add_argument
    add("model", metavar="MODEL", type=Path, help="gensim model, keyed vectors or word2vec file")
    meaning = "library that finds neighbours, an extra of this package"
    add("--engine", choices=INDEX_ENGINES, required=True, help=meaning)
    add("--output", "-o", metavar="FILE", type=Path, required=True, help="file to write")
    add_switch(parser, "--force", "overwrite an existing FILE", "refuse")
    add_documents(parser)
    add_format_arguments(parser)
    add("--quiet", "-q", action="store_true", help="print no summary (default: no)")


def run(arguments: argparse.Namespace) -> None:
    """Write the index, and print how many of the nearest words it finds."""
    from gensim_tfw2v.integrations.index_engines import check_engine
    from gensim_tfw2v.integrations.neighbour_index import build_index, recall, words_of

    check_engine(arguments.engine)
    if arguments.output.resolve() == arguments.model.resolve():
        raise CommandError(f"output {str(arguments.output)!r} is the model itself")
    for file in (arguments.output, words_of(arguments.output)):
        check_writable(file, arguments.force)
    vectors = vectors_at(arguments.model, arguments, arguments.documents)
    index = build_index(vectors, arguments.engine)
    index.save(arguments.output)
    if not arguments.quiet:
        words = vectors.index_to_key[:: max(1, len(vectors) // _SAMPLE)][:_SAMPLE]
        print(
            f"{arguments.output}: {len(vectors):,} words, {vectors.vector_size} dimensions, "
            f"recall at 10 {recall(index, vectors, words):.3f} ({len(words)} words)"
        )

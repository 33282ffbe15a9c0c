"""`tfw2v projector`: writes a model's vectors for TensorBoard's projector."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import add_switch, add_value, whole_number
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.inputs import add_documents, add_format_arguments, vectors_at
from gensim_tfw2v.files.models import read_model, recognise_format
from gensim_tfw2v.tensorboard.options import PROJECTOR_WORDS

DESCRIPTION = """Write vectors of MODEL to a folder where TensorBoard's projector finds them: those of the most frequent
words, or of the words in a list."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v projector`."""
    add = parser.add_argument
    add("model", metavar="MODEL", type=Path, help="gensim model, keyed vectors, or word2vec text or binary file")
    add("--logdir", metavar="FOLDER", type=Path, required=True, help="folder to write to, made if it is missing")
    add_value(parser, "--top", "N", whole_number(1), PROJECTOR_WORDS, "write the N most frequent words")
    add("--words", metavar="FILE", type=Path, help="write the words of this file instead, one word a line")
    add("--name", default="vectors", help="name of the vectors in the projector (default: %(default)s)")
    add_switch(parser, "--output-vectors", "write a gensim model's output vectors as well")
    add_documents(parser)
    add_format_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the vectors and print the command that shows them."""
    from gensim_tfw2v.tensorboard.projector import export_projector

    if arguments.safe and arguments.output_vectors:
        raise CommandError("--output-vectors needs a whole gensim model, which --safe refuses; leave one of them out")
    if arguments.documents and arguments.output_vectors:
        raise CommandError("--output-vectors are those of words, and --documents have none; leave one of them out")
    words = None if arguments.words is None else _read_words(arguments.words)
    vectors = vectors_at(arguments.model, arguments, arguments.documents)
    outputs = _output_vectors(arguments.model, arguments.format) if arguments.output_vectors else None
    kind = "tag" if arguments.documents else "word"
    options = {"top": arguments.top, "words": words, "name": arguments.name}
    try:
        export_projector(vectors, arguments.logdir, **options, output_vectors=outputs, heading=kind)
    except (KeyError, ValueError) as error:
        raise CommandError(str(error.args[0])) from error
    count = min(arguments.top, len(vectors)) if words is None else len(words)
    print(f"{count:,} {kind}s written; show them with: tfw2v tensorboard {arguments.logdir}")


def _read_words(path: Path) -> list[str]:
    with refusing(OSError, UnicodeDecodeError, prefix=f"cannot read words from {str(path)!r}: "):
        return [line for line in path.read_text(encoding="utf8").split("\n") if line]


def _output_vectors(path: Path, file_format: str | None) -> Any:
    found = file_format or recognise_format(path)
    if found not in ("gensim", "keyed-vectors"):
        raise CommandError(
            f"model {str(path)!r} is word2vec {found}, which has no output vectors; "
            "name the gensim model that it was made from, or leave out --output-vectors"
        )
    outputs = getattr(read_model(path), "syn1neg", None)
    if outputs is None:
        raise CommandError(f"model {str(path)!r} has no output vectors of negative sampling")
    return outputs

"""`tfw2v infer`: writes vectors of new documents, which a trained Doc2Vec model infers."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import add_switch, add_tags, add_value, cores, real_number, whole_number
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.export import add_targets, check_targets, write_target
from gensim_tfw2v.cli.inputs import check_apart, check_corpus, check_documents_file, open_documents, text_errors_named
from gensim_tfw2v.files.models import check_writable, keyed_documents
from gensim_tfw2v.files.whole_files import check_new_folder

DESCRIPTION = """Infer the vectors of the documents in CORPUS, a text with a document a line, by MODEL, which
`tfw2v train --documents` or gensim's Doc2Vec has written. MODEL stays as it is. VECTORS is a file of vectors, or with
--for a new folder, as `tfw2v export` writes one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v infer`."""
    add = parser.add_argument
    add("model", metavar="MODEL", type=Path, help="gensim model with vectors of documents")
    add("corpus", metavar="CORPUS", type=Path, help="text with a document a line, plain or compressed")
    meaning = "file to write; its suffix sets the format: .txt, .vec text; .bin binary; .kv keyed vectors"
    add("--output", "-o", metavar="VECTORS", type=Path, required=True, help=meaning)
    add_tags(parser)
    add_value(parser, "--epochs", "N", whole_number(1), None, "passes over the documents", "those of the training")
    add_value(parser, "--alpha", "X", real_number(0), None, "first learning rate", "that of the training")
    add_value(parser, "--min-alpha", "X", real_number(0), None, "last learning rate", "that of the training")
    add_value(parser, "--workers", "N", cores, None, "cores to use, -1 for all", "those of the training")
    add_targets(parser, None, "none; VECTORS is a file")
    add_switch(parser, "--force", "overwrite an existing VECTORS", "refuse")
    add_switch(parser, "--quiet", "print no summary")


def run(arguments: argparse.Namespace) -> None:
    """Infer the vectors, write them and print a summary."""
    from gensim_tfw2v import TFDoc2Vec
    from gensim_tfw2v.cli.beginning import loaded_model
    from gensim_tfw2v.files.vectors import vector_format_of, write_vectors
    from gensim_tfw2v.model.arguments import core_count

    check_targets(arguments)
    check_corpus(arguments.corpus)
    check_documents_file(arguments.corpus)
    check_apart(arguments.corpus, arguments.output)
    if arguments.target is None:
        vector_format_of(arguments.output)
        check_writable(arguments.output, arguments.force)
    elif arguments.force:
        raise CommandError("--force is for a file; with --for, VECTORS is a folder that must not exist yet")
    else:
        with refusing(FileExistsError, FileNotFoundError):
            check_new_folder(arguments.output.absolute())
    if not arguments.model.is_file():
        raise CommandError(f"model {str(arguments.model)!r} is not there")
    kind = "model with vectors of documents, such as `tfw2v train --documents --output posts.model` writes"
    model = loaded_model(TFDoc2Vec, arguments.model, f"model {str(arguments.model)!r}", kind)
    if arguments.workers is not None:
        model.workers = core_count(arguments.workers, None)
    rates = {name: getattr(arguments, name) for name in ("epochs", "alpha", "min_alpha")}
    started = time.perf_counter()
    with text_errors_named(arguments.corpus), refusing(ValueError, exit_code=1):
        corpus = open_documents(arguments.corpus, arguments.tags)
        tags = _tags(arguments)
        vectors = model.infer_corpus(corpus.get("corpus_iterable"), corpus.get("corpus_file"), **rates)
    seconds = time.perf_counter() - started
    found = keyed_documents(range(len(vectors)) if tags is None else tags, vectors)
    if arguments.target is None:
        write_vectors(found, arguments.output)
    else:
        write_target(found, arguments.output, arguments, of_documents=True)
    if not arguments.quiet:
        print(f"{arguments.output}: {len(vectors):,} documents, {model.vector_size} dimensions, in {seconds:.1f} s")


def _tags(arguments: argparse.Namespace) -> list[str] | None:
    """Return the first tag of each document, None if lines have no tags; raise CommandError if two have the same."""
    if not arguments.tags:
        return None
    tags: dict[str, None] = {}
    documents: Any = open_documents(arguments.corpus, has_tags=True)["corpus_iterable"]
    for document in documents:
        tag = document.tags[0]
        if tag in tags:
            raise CommandError(
                f"two documents of corpus {str(arguments.corpus)!r} have the first tag {tag!r}; give each one of "
                "its own, or leave out --tags to have numbers of lines"
            )
        tags[tag] = None
    return list(tags)

"""`tfw2v encode`: writes a corpus of text as a folder of ids, which workers can read themselves."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import Any

from gensim_tfw2v import tuning
from gensim_tfw2v.cli.arguments import add_allow_network, add_column, add_switch, add_value, whole_number
from gensim_tfw2v.cli.cluster import addresses_from
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.inputs import check_corpus

DESCRIPTION = """Write a corpus of text as ids to a new folder. `tfw2v train` and corpus_file= accept the folder in
place of the text. Workers of a cluster read the folder themselves if all of them see it under the same path."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v encode`."""
    meaning = "text file, plain or .gz, .bz2 or .xz, table, or folder of such files"
    parser.add_argument("corpus", metavar="CORPUS", type=Path, help=meaning)
    add_column(parser)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder to write, which must not exist yet")
    encoders = parser.add_mutually_exclusive_group()
    meaning = "processes that read the text for one that encodes"
    add_value(encoders, "--workers", "N", whole_number(1), None, meaning, "one for each core")
    meaning = "processes that encode sections of the text side by side, in about twice the space on the disk"
    encoders.add_argument("--processes", metavar="N", type=whole_number(1), help=meaning)
    encoders.add_argument(
        "--cluster",
        metavar="FILE",
        help="the same by the workers of a cluster, which must see CORPUS and FOLDER under the same paths: a JSON file "
        "of addresses; env for the environment variable TF_CONFIG; or slurm for the tasks of this Slurm job",
    )
    add_allow_network(parser)
    shown = "67108864, a quarter of a gigabyte"
    add_value(parser, "--shard-words", "N", whole_number(1), None, "words after which a file of ids ends", shown)
    add_switch(parser, "--quiet", "print no progress and no summary")


def run(arguments: argparse.Namespace) -> None:
    """Encode the corpus and print a summary."""
    from gensim_tfw2v.corpus.encode import encode_corpus, encode_with
    from gensim_tfw2v.corpus.shards import is_encoded
    from gensim_tfw2v.training.display import ScanBar, wants_bar

    corpus, folder = arguments.corpus, arguments.folder
    if is_encoded(corpus):
        raise CommandError(f"corpus {str(corpus)!r} is encoded already")
    check_corpus(corpus, arguments.column)
    bar = ScanBar() if wants_bar(False if arguments.quiet else None) else None
    shard_words = arguments.shard_words or tuning.SHARD_WORDS
    options: dict[str, Any] = {"shard_words": shard_words, "progress": bar, "column": arguments.column}
    with (
        refusing(FileExistsError, FileNotFoundError),
        contextlib.nullcontext() if bar is None else contextlib.closing(bar),
    ):
        if arguments.cluster is None:
            processes = {"workers": arguments.workers, "processes": arguments.processes}
            encoded = encode_corpus(corpus, folder, **processes, **options)
        else:
            from gensim_tfw2v.placement.calls.encoding_workers import worker_encoders

            encoders = worker_encoders(addresses_from(arguments), arguments.allow_network)
            encoded = encode_with(encoders, corpus, folder, **options)
    if not arguments.quiet:
        words, sentences = f"{encoded.words:,} words", f"{encoded.sentences:,} sentences"
        print(f"{folder}: {words} in {sentences}, shards: {len(encoded.shards)}")

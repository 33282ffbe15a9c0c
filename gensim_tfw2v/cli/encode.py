"""`tfw2v encode`: writes a corpus of text as a folder of ids, which workers can read themselves."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gensim_tfw2v import tuning
from gensim_tfw2v.cli.arguments import add_allow_network, add_column, whole_number
from gensim_tfw2v.cli.cluster_argument import addresses_from
from gensim_tfw2v.cli.errors import CommandError

if TYPE_CHECKING:
    from gensim_tfw2v.corpus.shards import EncodedCorpus

DESCRIPTION = """Write a corpus of text as ids to a new folder. `tfw2v train` and corpus_file= accept the folder in
place of the text. Workers of a cluster read the folder themselves if all of them see it under the same path."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v encode`."""
    parser.add_argument(
        "corpus",
        metavar="CORPUS",
        type=Path,
        help="text file, plain or .gz, .bz2 or .xz, table, or folder of such files",
    )
    add_column(parser)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder to write, which must not exist yet")
    encoders = parser.add_mutually_exclusive_group()
    encoders.add_argument(
        "--workers",
        metavar="N",
        type=whole_number(1),
        default=None,
        help="processes that read the text for one that encodes (default: one for each core)",
    )
    encoders.add_argument(
        "--processes",
        metavar="N",
        type=whole_number(1),
        default=None,
        help="processes that encode sections of the text side by side, in about twice the space on the disk",
    )
    encoders.add_argument(
        "--cluster",
        metavar="FILE",
        help="the same by the workers of a cluster, which must see CORPUS and FOLDER under the same paths: a JSON file "
        "of addresses; env for the environment variable TF_CONFIG; or slurm for the tasks of this Slurm job",
    )
    add_allow_network(parser)
    parser.add_argument(
        "--shard-words",
        metavar="N",
        type=whole_number(1),
        default=None,
        help="words after which a file of ids ends (default: 67108864, a quarter of a gigabyte)",
    )
    parser.add_argument("--quiet", action="store_true", help="print no progress and no summary (default: no)")


def run(arguments: argparse.Namespace) -> None:
    """Encode the corpus and print a summary."""
    from gensim_tfw2v.cli.corpora import check_corpus
    from gensim_tfw2v.corpus.shards import is_encoded
    from gensim_tfw2v.training.display import ScanBar, wants_bar

    if is_encoded(arguments.corpus):
        raise CommandError(f"corpus {str(arguments.corpus)!r} is encoded already")
    check_corpus(arguments.corpus, arguments.column)
    bar = ScanBar() if wants_bar(False if arguments.quiet else None) else None
    try:
        encoded = _encode(
            arguments,
            shard_words=arguments.shard_words or tuning.SHARD_WORDS,
            progress=bar,
            column=arguments.column,
        )
    except (FileExistsError, FileNotFoundError) as error:
        raise CommandError(str(error)) from error
    finally:
        if bar is not None:
            bar.close()
    if not arguments.quiet:
        print(
            f"{arguments.folder}: {encoded.words:,} words in {encoded.sentences:,} sentences, "
            f"shards: {len(encoded.shards)}"
        )


def _encode(arguments: argparse.Namespace, **options: Any) -> EncodedCorpus:
    """Encode the corpus here or on a cluster."""
    from gensim_tfw2v.corpus.encode import encode_corpus, encode_with

    corpus, folder = arguments.corpus, arguments.folder
    if arguments.cluster is None:
        return encode_corpus(corpus, folder, workers=arguments.workers, processes=arguments.processes, **options)
    from gensim_tfw2v.placement.calls.encoding_workers import worker_encoders

    encoders = worker_encoders(addresses_from(arguments), arguments.allow_network)
    return encode_with(encoders, corpus, folder, **options)

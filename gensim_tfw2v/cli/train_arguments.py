"""The arguments of `tfw2v train`: every setting of gensim's Word2Vec that a command line can hold, and ours.

Their destinations are the names of TFWord2Vec's constructor arguments, to be handed on as they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import byte_size, positive_number, real_number, whole_number
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cluster.specification import read_file
from gensim_tfw2v.files.formats import FORMATS
from gensim_tfw2v.model.arguments import DTYPES, MOST_SEED, MOST_WINDOW
from gensim_tfw2v.tensorboard.options import PROJECTOR_CHOICES, TensorBoardLog

# Flags that say what to log, and the names of TensorBoardLog's arguments.
_LOG_OPTIONS = {
    "log_pairs": "pairs",
    "log_analogies": "analogies",
    "log_probe": "probes",
    "log_projector": "projector",
    "log_trace": "trace_seconds",
}
DESCRIPTION = """Train word vectors on CORPUS and write them to MODEL. CORPUS is a text file of one sentence a
line with words separated by spaces, plain or .gz/.bz2, or a folder of such files. Settings mean what they do
in gensim."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v train`."""
    _add_files(parser)
    for add_group in (
        _add_model,
        _add_objective,
        _add_vocabulary,
        _add_learning,
        _add_run,
        _add_own,
        _add_cluster,
        _add_log,
        _add_tuning,
    ):
        add_group(parser)


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The constructor arguments among the parsed arguments."""
    elsewhere = {"corpus", "output", "format", "force", "quiet", "debug", "command", *_LOG_OPTIONS}
    settings = {name: value for name, value in vars(arguments).items() if name not in elsewhere}
    settings["logdir"] = _log_of(arguments)
    if arguments.cluster not in (None, "env"):
        try:
            settings["cluster"] = read_file(Path(arguments.cluster))
        except (OSError, ValueError) as error:
            raise CommandError(f"--cluster {arguments.cluster!r}: {error}") from error
    return settings | ({"progress": False} if arguments.quiet else {})


def _log_of(arguments: argparse.Namespace) -> TensorBoardLog | None:
    chosen = {name: getattr(arguments, flag) for flag, name in _LOG_OPTIONS.items()}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if arguments.logdir is not None:
        return TensorBoardLog(arguments.logdir, **chosen)
    if chosen:
        flag = next(flag for flag, name in _LOG_OPTIONS.items() if name in chosen)
        raise CommandError(f"--{flag.replace('_', '-')} says what to log, but there is no --logdir")
    return None


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", metavar="CORPUS", type=Path, help="text file, .gz or .bz2 file, or folder of files")
    add = parser.add_argument
    add(
        "--output",
        "-o",
        metavar="MODEL",
        type=Path,
        required=True,
        help="file to write; its suffix sets the format: "
        ".txt, .vec text; .bin binary; .kv keyed vectors; others a gensim model that can be trained on",
    )
    add("--format", choices=FORMATS, help="format to write (default: by the suffix of MODEL)")
    add("--force", action="store_true", help="overwrite MODEL if it is there (default: refuse)")


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    add = group.add_argument
    add(
        "--vector-size",
        metavar="N",
        type=whole_number(1),
        default=100,
        help="dimensions (default: %(default)s)",
    )
    kind = group.add_mutually_exclusive_group()
    kind.add_argument("--sg", dest="sg", action="store_const", const=1, default=0, help="skip-gram (default: CBOW)")
    kind.add_argument("--cbow", dest="sg", action="store_const", const=0, help="CBOW (this is the default)")
    add(
        "--window",
        metavar="N",
        type=whole_number(1, MOST_WINDOW),
        default=5,
        help="largest distance between a word and its context (default: %(default)s)",
    )
    add(
        "--shrink-windows",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="draw each window's size from 1 to --window (default: yes)",
    )


def _add_objective(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("objective").add_argument
    add(
        "--negative",
        metavar="N",
        type=whole_number(0),
        default=5,
        help="negative samples, 0 for none (default: %(default)s)",
    )
    add(
        "--ns-exponent",
        metavar="X",
        type=real_number(),
        default=0.75,
        help="exponent of word counts in negative sampling, may be negative (default: %(default)s)",
    )
    _add_switch(add, "--hs", 0, "hierarchical softmax")
    _add_switch(add, "--cbow-mean", 1, "CBOW takes the sum (0) or the mean (1) of the context")


def _add_switch(add: Callable[..., Any], flag: str, default: int, meaning: str) -> None:
    """Declare a flag that is 0 or 1."""
    help_text = f"{meaning} (default: {default})"
    add(flag, metavar="{0,1}", type=int, choices=(0, 1), default=default, help=help_text)


def _add_vocabulary(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("vocabulary").add_argument
    add(
        "--min-count",
        metavar="N",
        type=whole_number(0),
        default=5,
        help="leave out words that occur less often (default: %(default)s)",
    )
    add(
        "--max-vocab-size",
        metavar="N",
        type=whole_number(0),
        default=None,
        help="while counting, prune rare words above this many, 0 for no limit (default: no limit)",
    )
    add(
        "--max-final-vocab",
        metavar="N",
        type=whole_number(1),
        default=None,
        help="raise --min-count until at most this many words are left (default: no limit)",
    )
    add(
        "--sample",
        metavar="X",
        type=real_number(0),
        default=1e-3,
        help="words with a larger share of the corpus are thinned out, 0 for none (default: %(default)s)",
    )
    _add_switch(add, "--sorted-vocab", 1, "sort words by falling count")
    _add_switch(add, "--null-word", 0, "add a null word to the vocabulary")


def _add_learning(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("learning").add_argument
    add(
        "--epochs",
        metavar="N",
        type=whole_number(1),
        default=5,
        help="passes over the corpus (default: %(default)s)",
    )
    add(
        "--alpha",
        metavar="X",
        type=real_number(0),
        default=0.025,
        help="first learning rate (default: %(default)s)",
    )
    add(
        "--min-alpha",
        metavar="X",
        type=real_number(0),
        default=0.0001,
        help="last learning rate (default: %(default)s)",
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("run").add_argument
    add(
        "--workers",
        metavar="N",
        type=whole_number(1),
        default=3,
        help="cores to use; with 1, runs with one seed are equal (default: %(default)s)",
    )
    add(
        "--seed",
        metavar="N",
        type=whole_number(0, MOST_SEED),
        default=1,
        help="seed of random numbers (default: %(default)s)",
    )
    add(
        "--batch-words",
        metavar="N",
        type=whole_number(1),
        default=10_000,
        help="gensim's batch size, taken for compatibility (default: %(default)s)",
    )
    add(
        "--compute-loss",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="keep gensim's cumulative loss in the model (default: no)",
    )
    add("--comment", metavar="TEXT", default=None, help="comment kept in the model (default: none)")


def _add_own(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("progress and memory")
    add = group.add_argument
    shown = group.add_mutually_exclusive_group()
    shown.add_argument(
        "--progress",
        action="store_true",
        default=None,
        help="show a progress bar (default: on a terminal; elsewhere log lines)",
    )
    shown.add_argument("--quiet", "-q", action="store_true", help="no progress, no log, no summary (default: no)")
    add(
        "--cache-memory",
        metavar="BYTES",
        type=byte_size,
        default=2**28,
        help="memory that the encoded corpus may take, as 500000, 512M or 2G (default: 256M)",
    )
    add(
        "--cache-disk",
        metavar="BYTES",
        type=byte_size,
        default=0,
        help="disk space that it may take instead (default: %(default)s)",
    )
    add(
        "--cache-dir",
        metavar="FOLDER",
        default=None,
        help="where that space is (default: the temporary folder)",
    )


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("cluster").add_argument
    add(
        "--cluster",
        metavar="FILE",
        default=None,
        help='train over the tasks in a JSON file, {"ps": [...], "worker": [...]}, or in TF_CONFIG if FILE is env '
        "(default: in this process)",
    )
    add(
        "--cluster-timeout",
        metavar="SECONDS",
        type=positive_number,
        default=120.0,
        help="time after which another worker gets a block that is not finished (default: %(default)s)",
    )
    add(
        "--cluster-overlap",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="pull the rows of a worker's next block while it trains (default: with very many blocks only)",
    )
    add(
        "--cluster-dtype",
        choices=DTYPES,
        help="numbers that rows travel as (default: bfloat16, with --workers 1 float32)",
    )
    add(
        "--vectors-on-servers",
        action="store_true",
        help="never hold the vectors here: for those that are larger than this machine's memory (default: no)",
    )


def _add_log(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("TensorBoard").add_argument
    add("--logdir", metavar="FOLDER", default=None, help="log the training for TensorBoard there (default: no log)")
    add(
        "--log-pairs",
        metavar="FILE",
        action="append",
        help="score on this file of word pairs as training goes on; may be repeated (default: what gensim brings)",
    )
    add(
        "--log-analogies",
        metavar="FILE",
        action="append",
        help="score on this file of analogies; may be repeated (default: none, because they take seconds)",
    )
    add(
        "--log-probe",
        metavar="WORD",
        action="append",
        help="show the neighbours of this word; may be repeated (default: some frequent and some middling words)",
    )
    add(
        "--log-projector",
        choices=PROJECTOR_CHOICES,
        help="when to write vectors for the projector (default: end)",
    )
    add(
        "--log-trace",
        metavar="SECONDS",
        type=real_number(0),
        help="take a tf.profiler trace of this length (default: none)",
    )


def _add_tuning(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("tuning, best left alone").add_argument
    add(
        "--batch-tokens",
        metavar="N",
        type=whole_number(1),
        help="words whose gradients use the same version of the vectors (default: by the vocabulary's size)",
    )
    add(
        "--run-tokens",
        metavar="N",
        type=whole_number(1),
        help="consecutive words that share contexts and negative words "
        "(default: by the window, the vocabulary and the vector size)",
    )
    add(
        "--shared-negatives",
        metavar="N",
        type=whole_number(1),
        help="negative words drawn for each such run (default: by the vocabulary's size)",
    )
    add(
        "--update-bound",
        metavar="X",
        type=positive_number,
        help="longest step that a batch may move a vector by, in multiples of alpha "
        "(default: 20, or 7 for skip-gram with hierarchical softmax alone)",
    )
    add(
        "--compute-dtype",
        choices=DTYPES,
        help="numbers that skip-gram's products are of (default: bfloat16 where the processor multiplies it fast)",
    )

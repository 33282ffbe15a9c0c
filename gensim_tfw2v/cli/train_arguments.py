"""The arguments of `tfw2v train`: every setting of gensim's Word2Vec that a command line can hold, and ours.

Their destinations are the names of TFWord2Vec's constructor arguments, so that they can be passed on as they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gensim_tfw2v.arguments.argument import (
    CHECKPOINT_FLAGS,
    FLAG_GROUPS,
    LEARNING_FLAGS,
    TENSORBOARD_FLAGS,
    Argument,
    Flag,
)
from gensim_tfw2v.arguments.rules import Choice
from gensim_tfw2v.cli.arguments import ReadRule, add_column, add_progress, reader_of, whole_number
from gensim_tfw2v.cli.corpora import check_corpus, open_corpus
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.log_arguments import LOG_OPTIONS, add_log_arguments, log_of
from gensim_tfw2v.cli.walk_arguments import WALK_FLAGS, add_resample, add_walk_arguments
from gensim_tfw2v.cluster.specification import is_in_environment, read_file
from gensim_tfw2v.files.formats import FORMATS
from gensim_tfw2v.model.arguments import rule_of
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS

DESCRIPTION = """Train word vectors on CORPUS and write them to MODEL. CORPUS is a text file with one sentence a line
and spaces between words, plain or compressed (.gz, .bz2, .xz), or a table (.parquet, .arrow, .feather). It may also be
a folder of such files, or a folder that `tfw2v encode` wrote. Settings mean the same as in gensim."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v train`."""
    _add_files(parser)
    for add_group in (
        _add_walks,
        _add_model,
        _add_objective,
        _add_vocabulary,
        _add_learning,
        _add_run,
        _add_progress,
        _add_own,
    ):
        add_group(parser)


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The constructor arguments among the parsed arguments."""
    elsewhere = {"corpus", "output", "format", "force", "quiet", "debug", "command", "resume", "start"}
    elsewhere |= {"weights", "edges", *LOG_OPTIONS, *WALK_FLAGS}
    settings = {name: value for name, value in vars(arguments).items() if name not in elsewhere}
    settings["logdir"] = log_of(arguments)
    if arguments.cluster is not None and not is_in_environment(arguments.cluster):
        try:
            settings["cluster"] = read_file(Path(arguments.cluster))
        except (OSError, ValueError) as error:
            raise CommandError(f"--cluster {arguments.cluster!r}: {error}") from error
    if isinstance(arguments.validation, Path):
        check_corpus(arguments.validation, arguments.column)
        (settings["validation"],) = open_corpus(arguments.validation, arguments.column).values()
    return settings | ({"progress": False} if arguments.quiet else {})


def default_settings() -> dict[str, Any]:
    """The settings of a command line without flags."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return vars(parser.parse_args(["corpus", "--output", "model"]))


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", metavar="CORPUS", type=Path, help="text file, plain or compressed, table, or folder")
    add_column(parser)
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
    add(
        "--from",
        dest="start",
        metavar="MODEL",
        type=Path,
        help="train a saved gensim model further, with its vocabulary and its settings (default: a new model)",
    )
    add("--force", action="store_true", help="overwrite an existing MODEL (default: refuse)")


def _add_walks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("walks on graphs")
    group.add_argument(
        "--edges",
        action="store_true",
        help="CORPUS is a list of edges, two nodes a line: train on random walks (default: a corpus of sentences)",
    )
    add_walk_arguments(group)
    add_resample(group)


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    add = group.add_argument
    add(
        "--vector-size",
        metavar="N",
        type=reader_of(rule_of("vector_size")),
        default=100,
        help="numbers in each vector (default: %(default)s)",
    )
    kind = group.add_mutually_exclusive_group()
    kind.add_argument("--sg", dest="sg", action="store_const", const=1, default=0, help="skip-gram (default: CBOW)")
    kind.add_argument("--cbow", dest="sg", action="store_const", const=0, help="CBOW (the default)")
    add(
        "--window",
        metavar="N",
        type=reader_of(rule_of("window")),
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
        type=reader_of(rule_of("negative")),
        default=5,
        help="negative words for each pair, 0 for none (default: %(default)s)",
    )
    add(
        "--ns-exponent",
        metavar="X",
        type=reader_of(rule_of("ns_exponent")),
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
        type=reader_of(rule_of("max_vocab_size")),
        default=None,
        help="while counting, prune rare words above this many distinct ones, 0 for no limit (default: no limit)",
    )
    add(
        "--max-final-vocab",
        metavar="N",
        type=reader_of(rule_of("max_final_vocab")),
        default=None,
        help="raise --min-count until at most this many words are left (default: no limit)",
    )
    add(
        "--sample",
        metavar="X",
        type=reader_of(rule_of("sample")),
        default=1e-3,
        help="drop some occurrences of words with a larger share of the corpus, 0 to keep all (default: %(default)s)",
    )
    _add_switch(add, "--sorted-vocab", 1, "sort words by falling count")
    _add_switch(add, "--null-word", 0, "add a null word to the vocabulary")


def _add_learning(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(LEARNING_FLAGS)
    add = group.add_argument
    add(
        "--epochs",
        metavar="N",
        type=reader_of(rule_of("epochs")),
        default=5,
        help="passes over the corpus (default: %(default)s)",
    )
    add(
        "--alpha",
        metavar="X",
        type=reader_of(rule_of("alpha")),
        default=0.025,
        help="first learning rate (default: %(default)s)",
    )
    add(
        "--min-alpha",
        metavar="X",
        type=reader_of(rule_of("min_alpha")),
        default=0.0001,
        help="last learning rate (default: %(default)s)",
    )
    _add_own_flags(group)


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("run").add_argument
    add(
        "--workers",
        metavar="N",
        type=reader_of(rule_of("workers")),
        default=3,
        help="cores to use; with 1, or with --reproducible, two runs with one seed are equal (default: %(default)s)",
    )
    add(
        "--seed",
        metavar="N",
        type=reader_of(rule_of("seed")),
        default=1,
        help="seed of random numbers (default: %(default)s)",
    )
    add(
        "--batch-words",
        metavar="N",
        type=reader_of(rule_of("batch_words")),
        default=10_000,
        help="raw words of a block; 10000 means a number chosen by the corpus (default: %(default)s)",
    )
    add(
        "--compute-loss",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="keep gensim's cumulative loss in the model (default: no)",
    )
    add("--comment", metavar="TEXT", default=None, help="comment kept in the model (default: none)")


def _add_progress(parser: argparse.ArgumentParser) -> None:
    add_progress(parser.add_argument_group("progress"), "log lines", "no progress, no log, no summary")


def _add_own(parser: argparse.ArgumentParser) -> None:
    """Declare the groups of flags that only the class's own arguments have."""
    groups = {name: parser.add_argument_group(name) for name in FLAG_GROUPS}
    for group in groups.values():
        _add_own_flags(group)
    groups[CHECKPOINT_FLAGS].add_argument(
        "--resume",
        action="store_true",
        help="resume from the newest checkpoint in --checkpoint-dir, or start if there is none; all other arguments "
        "must stay the same (default: start)",
    )
    add_log_arguments(groups[TENSORBOARD_FLAGS])


def _add_own_flags(group: argparse._ArgumentGroup) -> None:
    """Declare the flags of the class's own arguments that belong to this group."""
    for argument in OWN_ARGUMENTS:
        if argument.flag is not None and argument.flag.group == group.title:
            group.add_argument(f"--{argument.name.replace('_', '-')}", **_options_of(argument, argument.flag))


def _options_of(argument: Argument, flag: Flag) -> dict[str, Any]:
    """Return the options of argparse for a flag."""
    meaning = flag.help or argument.help[0].lower() + argument.help[1:]
    default = flag.default or argument.default_help or ("no" if flag.is_switch else "%(default)s")
    options: dict[str, Any] = {"default": argument.default, "help": f"{meaning} (default: {default})"}
    if flag.is_switch:
        return options | {"action": "store_true"}
    if flag.has_negation:
        return options | {"action": argparse.BooleanOptionalAction}
    if isinstance(argument.rule, Choice):
        return options | {"choices": tuple(argument.rule.words)}
    read = reader_of(argument.rule) if isinstance(argument.rule, ReadRule) else None
    return options | {"metavar": flag.metavar, "type": read}

"""The arguments of `tfw2v train`: every setting of gensim's classes that a command line can hold, and ours.

Their destinations are the names of TFWord2Vec's constructor arguments, so that they can be passed on as they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gensim_tfw2v.arguments.argument import (
    CHECKPOINT_FLAGS,
    FLAG_GROUPS,
    LEARNING_FLAGS,
    TENSORBOARD_FLAGS,
    Argument,
    Flag,
    flag_of,
)
from gensim_tfw2v.arguments.rules import Choice
from gensim_tfw2v.cli.arguments import (
    add_column,
    add_progress,
    add_switch,
    add_tags,
    add_value,
    reader_of,
    real_number,
    whole_number,
)
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.inputs import check_corpus, open_corpus
from gensim_tfw2v.cli.walks import add_walk_arguments
from gensim_tfw2v.cluster.specification import is_in_environment, read_file
from gensim_tfw2v.files.formats import FORMATS
from gensim_tfw2v.model.arguments import core_count, rule_of
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS
from gensim_tfw2v.tensorboard.options import PROJECTOR_CHOICES, TensorBoardLog

DESCRIPTION = """Train word vectors on CORPUS and write them to MODEL. CORPUS is a text file with one sentence a line
and spaces between words, plain or compressed (.gz, .bz2, .xz), or a table (.parquet, .arrow, .feather). It may also be
a folder of such files, or a folder that `tfw2v encode` wrote. Settings mean the same as in gensim."""


class _Default(int):
    """A number that stands for no flag: it tells the default from the same number that a user has given."""


# gensim's arguments by groups of flags: name, metavar, default and meaning, and how help shows the default if it does
# not show the value. Without a metavar, a flag takes 0 or 1, or has a negation if its default is a bool. sg has two.
_OF_GENSIM: dict[str, tuple[tuple[Any, ...], ...]] = {
    "model": (
        ("vector_size", "N", 100, "numbers in each vector"),
        ("sg",),
        ("window", "N", 5, "largest distance between a word and its context"),
        ("shrink_windows", None, True, "draw each window's size from 1 to --window", "yes"),
    ),
    "objective": (
        ("negative", "N", 5, "negative words for each pair, 0 for none"),
        ("ns_exponent", "X", 0.75, "exponent of word counts in negative sampling, may be negative"),
        ("hs", None, 0, "hierarchical softmax"),
        ("cbow_mean", None, 1, "CBOW takes the sum (0) or the mean (1) of the context"),
    ),
    "n-grams (with --subwords)": (
        ("min_n", "N", 3, "characters of the shortest n-grams"),
        ("max_n", "N", 6, "characters of the longest n-grams; below --min-n, words have none"),
        ("bucket", "N", 2_000_000, "vectors that n-grams share, -1 for as many as words have n-grams"),
    ),
    "documents (with --documents)": (
        ("dm", None, 1, "distributed memory (1), or a distributed bag of words (0)"),
        ("dm_mean", None, None, "with --dm 1, take the sum (0) or the mean (1) of the context", "as --cbow-mean"),
        ("dm_concat", None, 0, "with --dm 1, concatenate the vectors of the document and of the context"),
        ("dm_tag_count", "N", 1, "tags that each document has, with --dm-concat 1"),
        ("dbow_words", None, 0, "with --dm 0, train vectors of words by skip-gram as well"),
    ),
    "vocabulary": (
        ("min_count", "N", 5, "leave out words that occur less often"),
        (
            "max_vocab_size",
            "N",
            None,
            "while counting, prune rare words above this many distinct ones, 0 for no limit",
            "no limit",
        ),
        ("max_final_vocab", "N", None, "raise --min-count until at most this many words are left", "no limit"),
        ("sample", "X", 1e-3, "drop some occurrences of words with a larger share of the corpus, 0 to keep all"),
        ("sorted_vocab", None, 1, "sort words by falling count"),
        ("null_word", None, 0, "add a null word to the vocabulary"),
    ),
    LEARNING_FLAGS: (
        ("epochs", "N", _Default(5), "passes over the corpus", "5, with --documents 10"),
        ("alpha", "X", 0.025, "first learning rate"),
        ("min_alpha", "X", 0.0001, "last learning rate"),
    ),
    "run": (
        ("workers", "N", 3, "cores to use, -1 for all; with 1, or with --reproducible, runs with one seed are equal"),
        ("seed", "N", 1, "seed of random numbers"),
        ("batch_words", "N", 10_000, "raw words of a block; 10000 means a number chosen by the corpus"),
        ("compute_loss", None, False, "keep gensim's cumulative loss in the model", "no"),
        ("comment", "TEXT", None, "comment kept in the model", "none"),
    ),
}
_SUBWORDS, _DOCUMENTS = "n-grams (with --subwords)", "documents (with --documents)"
# Switches that choose a class: the group of its own flags, and gensim's arguments that it does not take.
_CLASSES = {"subwords": (_SUBWORDS, ("compute_loss", "comment")), "documents": (_DOCUMENTS, ("sg", "null_word"))}
_EPOCHS_OF_DOCUMENTS = 10  # gensim's default
# Settings that a saved model has already.
_GROUPS_OF_MODEL = ("model", "objective", _SUBWORDS, _DOCUMENTS, "vocabulary")
OF_MODEL = frozenset(row[0] for group in _GROUPS_OF_MODEL for row in _OF_GENSIM[group])
_READERS = {"min_count": whole_number(0), "comment": str}  # others are of the argument's rule
_DEFAULTS = {"sg": 0} | {row[0]: row[2] for rows in _OF_GENSIM.values() for row in rows if len(row) > 1}
_SETTINGS = [row[0] for rows in _OF_GENSIM.values() for row in rows]
_NOT_OF_FLAGS = ("weights", "cache", "checkpoints")  # a file's numbers, and what has a flag for each of its fields
_SETTINGS += [argument.name for argument in OWN_ARGUMENTS if argument.name not in _NOT_OF_FLAGS]
# Destinations of flags, and the names of TensorBoardLog's arguments.
_LOG_OPTIONS = {"log_pairs": "pairs", "log_analogies": "analogies", "log_probe": "probes"}
_LOG_OPTIONS |= {"log_projector": "projector", "log_trace": "trace_seconds"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v train`."""
    _add_files(parser)
    walks = parser.add_argument_group("walks on graphs")
    meaning = "CORPUS is a list of edges, two nodes a line: train on random walks"
    add_switch(walks, "--edges", meaning, "a corpus of sentences")
    add_walk_arguments(walks)
    meaning = "draw new walks in each epoch (default: the same walks again)"
    walks.add_argument("--resample", action="store_const", const=True, help=meaning)
    for name in _OF_GENSIM:
        _add_settings(parser, name)
    add_progress(parser.add_argument_group("progress"), "log lines", "no progress, no log, no summary")
    groups = {name: _add_settings(parser, name) for name in FLAG_GROUPS}
    meaning = "resume from the newest checkpoint in --checkpoint-dir, or start if there is none; all other arguments "
    add_switch(groups[CHECKPOINT_FLAGS], "--resume", f"{meaning}must stay the same", "start")
    _add_log(groups[TENSORBOARD_FLAGS])


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The constructor arguments among the parsed arguments."""
    settings = {name: getattr(arguments, name) for name in _SETTINGS}
    for switch, (group, not_taken) in _CLASSES.items():
        is_on = getattr(arguments, switch)
        for name in not_taken if is_on else [row[0] for row in _OF_GENSIM[group]]:
            if settings.pop(name) != _DEFAULTS[name]:
                raise CommandError(
                    f"{flag_of(name)} {'does not go with' if is_on else 'is for'} --{switch}; leave it out"
                )
    of_documents = arguments.documents and isinstance(arguments.epochs, _Default)
    settings["epochs"] = _EPOCHS_OF_DOCUMENTS if of_documents else int(arguments.epochs)  # as checkpoints hold it
    if (dm_mean := settings.pop("dm_mean", None)) is not None:
        settings["cbow_mean"] = dm_mean  # under which models and checkpoints have it
    settings["logdir"] = _log_of(arguments)
    settings["workers"] = core_count(arguments.workers, arguments.cluster)
    if arguments.cluster is not None and not is_in_environment(arguments.cluster):
        with refusing(OSError, ValueError, prefix=f"--cluster {arguments.cluster!r}: "):
            settings["cluster"] = read_file(Path(arguments.cluster))
    if isinstance(arguments.validation, Path):
        check_corpus(arguments.validation, arguments.column)
        (settings["validation"],) = open_corpus(arguments.validation, arguments.column).values()
    return settings | ({"progress": False} if arguments.quiet else {})


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
    meaning = "train a saved gensim model further, with its vocabulary and its settings (default: a new model)"
    add("--from", dest="start", metavar="MODEL", type=Path, help=meaning)
    add_switch(parser, "--force", "overwrite an existing MODEL", "refuse")


def _add_settings(parser: argparse.ArgumentParser, name: str) -> argparse._ArgumentGroup:
    """Declare a group of flags: those of gensim's arguments, and of the class's own."""
    group = parser.add_argument_group(name)
    if name == _SUBWORDS:
        add_switch(group, "--subwords", "train vectors of words and their n-grams, as gensim's FastText", "words alone")
    elif name == _DOCUMENTS:
        meaning = "train vectors of documents, a line each, as gensim's Doc2Vec; files of vectors have those"
        add_switch(group, "--documents", meaning, "words alone")
        add_tags(group)
    for row in _OF_GENSIM.get(name, ()):
        if row[0] == "sg":
            kind = group.add_mutually_exclusive_group()
            kind.add_argument("--sg", action="store_const", const=1, default=0, help="skip-gram (default: CBOW)")
            kind.add_argument("--cbow", dest="sg", action="store_const", const=0, help="CBOW (the default)")
        else:
            group.add_argument(flag_of(row[0]), **_options_of_gensims(*row))
    for argument in OWN_ARGUMENTS:
        if argument.flag is not None and argument.flag.group == name:
            group.add_argument(flag_of(argument.name), **_options_of(argument, argument.flag))
    return group


def _options_of_gensims(
    name: str, metavar: str | None, default: Any, meaning: str, shown: str = "%(default)s"
) -> dict[str, Any]:
    """Return the options of argparse for a flag of one of gensim's arguments."""
    options: dict[str, Any] = {"default": default, "help": f"{meaning} (default: {shown})"}
    if isinstance(default, bool):
        return options | {"action": argparse.BooleanOptionalAction}
    if metavar is None:
        return options | {"type": int, "choices": (0, 1)}
    read = _READERS[name] if name in _READERS else reader_of(rule_of(name))
    return options | {"metavar": metavar, "type": read}


def _options_of(argument: Argument, flag: Flag) -> dict[str, Any]:
    """Return the options of argparse for a flag of one of the class's own arguments."""
    meaning = flag.help or argument.help[0].lower() + argument.help[1:]
    default = flag.default or argument.default_help or ("no" if flag.is_switch else "%(default)s")
    options: dict[str, Any] = {"default": argument.default, "help": f"{meaning} (default: {default})"}
    if flag.is_switch:
        return options | {"action": "store_true"}
    if flag.has_negation:
        return options | {"action": argparse.BooleanOptionalAction}
    if isinstance(argument.rule, Choice):
        return options | {"choices": tuple(argument.rule.words)}
    return options | {"metavar": flag.metavar, "type": reader_of(argument.rule)}


def _add_log(group: argparse._ArgumentGroup) -> None:
    """Declare the flags that say what to log."""
    for flag, metavar, meaning, default in (
        ("--log-pairs", "FILE", "score on this file of word pairs during training", "the sets in gensim"),
        ("--log-analogies", "FILE", "score on this file of analogies, which takes seconds", "none"),
        ("--log-probe", "WORD", "show the neighbours of this word", "ten words"),
    ):
        meaning = f"{meaning}; may be repeated (default: {default})"
        group.add_argument(flag, metavar=metavar, action="append", help=meaning)
    meaning = "when to write vectors for the projector (default: end)"
    group.add_argument("--log-projector", choices=PROJECTOR_CHOICES, help=meaning)
    meaning = "take a tf.profiler trace of this length"
    add_value(group, "--log-trace", "SECONDS", real_number(0), None, meaning, "none")


def _log_of(arguments: argparse.Namespace) -> TensorBoardLog | None:
    """Return the log that the flags ask for, None for no log."""
    chosen = {flag: value for flag in _LOG_OPTIONS if (value := getattr(arguments, flag)) is not None}
    if arguments.logdir is not None:
        return TensorBoardLog(arguments.logdir, **{_LOG_OPTIONS[flag]: value for flag, value in chosen.items()})
    if chosen:
        raise CommandError(f"{flag_of(next(iter(chosen)))} says what to log, but there is no --logdir")
    return None

"""The command line `tfw2v`: runs its commands and reports every error on stderr, in one line each."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from gensim_tfw2v import __version__
from gensim_tfw2v.cli import (
    cluster,
    encode,
    evaluate,
    export,
    index,
    merge,
    neighbours,
    plan,
    projector,
    server,
    tensorboard,
    train,
    train_arguments,
    tune,
    walks,
)
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.files.formats import ModelFileError
from gensim_tfw2v.runtime.extras import MissingPackageError

USAGE, FAILURE, INTERRUPTED = 2, 1, 130
RUN = {
    "train": train.run,
    "encode": encode.run,
    "evaluate": evaluate.run,
    "neighbours": neighbours.run,
    "projector": projector.run,
    "tensorboard": tensorboard.run,
    "server": server.run,
    "cluster": cluster.run,
    "merge": merge.run,
    "walks": walks.run,
    "export": export.run,
    "plan": plan.run,
    "tune": tune.run,
    "index": index.run,
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all errors of `tfw2v`."""

    def error(self, message: str) -> NoReturn:
        """Raise an error that says what is wrong with the arguments."""
        raise CommandError(f"{message} (see {self.prog} --help)", exit_code=USAGE)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands. It imports neither gensim nor TensorFlow, so that help is fast."""
    parser = Parser(prog="tfw2v", description="gensim's Word2Vec, trained by TensorFlow.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"tfw2v {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, help_text, module in (
        ("train", "train word vectors on a corpus", train_arguments),
        ("encode", "write a corpus as ids, which train faster than text", encode),
        ("evaluate", "score a model on word similarities and analogies", evaluate),
        ("neighbours", "print the words nearest to a word, or to a sum of words", neighbours),
        ("projector", "write a model's vectors for TensorBoard's projector", projector),
        ("tensorboard", "start TensorBoard for this machine only", tensorboard),
        ("server", "run a parameter server or a worker of a cluster", server),
        ("cluster", "show the state of a cluster's tasks, or have a worker leave", cluster),
        ("merge", "merge the vectors of models that trained apart", merge),
        ("walks", "write random walks on a graph as a corpus", walks),
        ("export", "write vectors as a folder for the Hugging Face Hub", export),
        ("plan", "say what a training takes, and which tasks to start", plan),
        ("tune", "search the settings that suit a corpus", tune),
        ("index", "write an index that finds neighbours among millions of words", index),
    ):
        command = commands.add_parser(name, help=help_text, description=module.DESCRIPTION, allow_abbrev=False)
        module.add_arguments(command)
        command.add_argument("--debug", action="store_true", help="show a stack trace for an error (default: no)")
    return parser


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = build_parser()
    arguments, rest = parser.parse_known_args(argv)
    # argparse takes the words of `neighbours` from one place only, and returns those after a flag as unknown.
    if rest and arguments.command == "neighbours" and not any(word.startswith("-") for word in rest):
        arguments.words += rest
    elif rest:
        parser.error(f"unknown arguments: {' '.join(rest)}")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return its exit code."""
    debug = "--debug" in (sys.argv[1:] if argv is None else argv)
    try:
        arguments = parse_arguments(argv)
        RUN[arguments.command](arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("tfw2v: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has ended, as `head` does. Nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except Exception as error:
        if debug:
            raise
        return _report(_lines(error), _exit_code(error))
    return 0


def _exit_code(error: Exception) -> int:
    if isinstance(error, CommandError):
        return error.exit_code
    return USAGE if isinstance(error, ModelFileError | MissingPackageError) else FAILURE


def _lines(error: Exception) -> list[str]:
    """Return the messages of an error, each in one line, with the type of an unexpected error."""
    if isinstance(error, CommandError) and error.args:
        return [" ".join(str(message).split()) for message in error.args]
    return [_one_line(error)]


def _one_line(error: Exception) -> str:
    message = " ".join(str(error).split())
    if isinstance(error, MissingPackageError | ValueError | TypeError | RuntimeError | OSError) and message:
        return message
    return f"{type(error).__name__}: {message} (--debug shows where)"


def _report(messages: Sequence[str], exit_code: int) -> int:
    for message in messages:
        print(f"tfw2v: error: {message}", file=sys.stderr)
    return exit_code

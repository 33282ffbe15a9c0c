"""The command line `tfw2v`: runs its commands and reports every error on stderr, in one line each."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from gensim_tfw2v import __version__
from gensim_tfw2v.cli import (
    cluster,
    encode,
    evaluate,
    export,
    index,
    infer,
    merge,
    neighbours,
    plan,
    projector,
    server,
    tensorboard,
    train,
    tune,
    walks,
)
from gensim_tfw2v.cli.arguments import add_switch
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.files.formats import ModelFileError
from gensim_tfw2v.runtime.extras import MissingPackageError

USAGE, FAILURE, INTERRUPTED = 2, 1, 130
COMMANDS: dict[str, tuple[ModuleType, str]] = {
    "train": (train, "train word vectors on a corpus"),
    "encode": (encode, "write a corpus as ids, which train faster than text"),
    "evaluate": (evaluate, "score a model on word similarities and analogies"),
    "neighbours": (neighbours, "print the words nearest to a word, or to a sum of words"),
    "projector": (projector, "write a model's vectors for TensorBoard's projector"),
    "tensorboard": (tensorboard, "start TensorBoard for this machine only"),
    "server": (server, "run a parameter server or a worker of a cluster"),
    "cluster": (cluster, "show the state of a cluster's tasks, or have a worker leave"),
    "merge": (merge, "merge the vectors of models that trained apart"),
    "walks": (walks, "write random walks on a graph as a corpus"),
    "export": (export, "write vectors as a folder for the Hugging Face Hub, or for a database"),
    "infer": (infer, "infer vectors of new documents by a Doc2Vec model"),
    "plan": (plan, "say what a training takes, and which tasks to start"),
    "tune": (tune, "search the settings that suit a corpus"),
    "index": (index, "write an index that finds neighbours among millions of words"),
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
    for name, (module, help_text) in COMMANDS.items():
        command = commands.add_parser(name, help=help_text, description=module.DESCRIPTION, allow_abbrev=False)
        module.add_arguments(command)
        add_switch(command, "--debug", "show a stack trace for an error")
    return parser


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = build_parser()
    arguments, rest = parser.parse_known_args(argv)
    # argparse takes the words of `neighbours` from one place only, and returns those after a flag as unknown.
    if rest and arguments.command == "neighbours" and not any(word.startswith("-") for word in rest):
        arguments.words += rest
    elif rest:
        raise CommandError(
            f"unknown arguments: {' '.join(rest)} (see tfw2v {arguments.command} --help)", exit_code=USAGE
        )
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return its exit code."""
    debug = "--debug" in (sys.argv[1:] if argv is None else argv)
    try:
        arguments = parse_arguments(argv)
        COMMANDS[arguments.command][0].run(arguments)
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
        for message in _lines(error):
            print(f"tfw2v: error: {message}", file=sys.stderr)
        return _exit_code(error)
    return 0


def _exit_code(error: Exception) -> int:
    if isinstance(error, CommandError):
        return error.exit_code
    return USAGE if isinstance(error, ModelFileError | MissingPackageError) else FAILURE


def _lines(error: Exception) -> list[str]:
    """Return the messages of an error, each in one line, with the type of an unexpected error."""
    if isinstance(error, CommandError) and error.args:
        return [" ".join(str(message).split()) for message in error.args]
    message = " ".join(str(error).split())
    if isinstance(error, MissingPackageError | ValueError | TypeError | RuntimeError | OSError) and message:
        return [message]
    return [f"{type(error).__name__}: {message} (--debug shows where)"]

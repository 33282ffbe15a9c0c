"""The flags of `tfw2v train` that say what to log for TensorBoard."""

from __future__ import annotations

import argparse

from gensim_tfw2v.cli.arguments import real_number
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.tensorboard.options import PROJECTOR_CHOICES, TensorBoardLog

# Destinations of these flags, and the names of TensorBoardLog's arguments.
LOG_OPTIONS = {
    "log_pairs": "pairs",
    "log_analogies": "analogies",
    "log_probe": "probes",
    "log_projector": "projector",
    "log_trace": "trace_seconds",
}


def add_log_arguments(group: argparse._ArgumentGroup) -> None:
    """Declare the flags that say what to log."""
    add = group.add_argument
    add(
        "--log-pairs",
        metavar="FILE",
        action="append",
        help="score on this file of word pairs during training; may be repeated (default: the sets in gensim)",
    )
    add(
        "--log-analogies",
        metavar="FILE",
        action="append",
        help="score on this file of analogies, which takes seconds; may be repeated (default: none)",
    )
    add(
        "--log-probe",
        metavar="WORD",
        action="append",
        help="show the neighbours of this word; may be repeated (default: ten words)",
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


def log_of(arguments: argparse.Namespace) -> TensorBoardLog | None:
    """Return the log that the flags ask for, None for no log."""
    chosen = {name: getattr(arguments, flag) for flag, name in LOG_OPTIONS.items()}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if arguments.logdir is not None:
        return TensorBoardLog(arguments.logdir, **chosen)
    if chosen:
        flag = next(flag for flag, name in LOG_OPTIONS.items() if name in chosen)
        raise CommandError(f"--{flag.replace('_', '-')} says what to log, but there is no --logdir")
    return None

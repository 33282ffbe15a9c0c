"""Starts the log of a model's training."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gensim_tfw2v.cluster.specification import JOBS
from gensim_tfw2v.evaluation.scoring import check_analogies, check_pairs
from gensim_tfw2v.tensorboard.event_files import check_logdir
from gensim_tfw2v.tensorboard.log_writer import LoggedTraining, LogWriter
from gensim_tfw2v.tensorboard.options import TensorBoardLog

# The settings that are compared most come first: the table of the HParams tab shows five.
HYPERPARAMETERS = (
    "epochs", "alpha", "vector_size", "window", "sg", "hs", "negative", "shrink_windows", "cbow_mean", "min_alpha",
    "sample", "ns_exponent", "min_count", "workers", "seed",
)  # fmt: skip
_FRACTIONS = {"alpha", "min_alpha", "sample", "ns_exponent"}
_DIGITS = 12  # most whole numbers are shorter


def check_log(options: TensorBoardLog | None) -> None:
    """Raise an OSError or ValueError that names a folder or file that logging cannot use."""
    if options is None:
        return
    for path in options.pairs or ():
        check_pairs(path)
    for path in options.analogies:
        check_analogies(path)
    check_logdir(options.logdir)


def start_log(
    options: TensorBoardLog, vocabulary: Any, hyperparameters: Mapping[str, Any], training: LoggedTraining
) -> LogWriter:
    """Return the writer of a training's log, after writing everything that is known before training.

    Parameters
    ----------
    options : TensorBoardLog
        What to log, and where. The workers of a cluster are traced unless the options name others.
    vocabulary : KeyedVectors
        The words of the model that is about to be trained.
    hyperparameters : mapping
        The model's `HYPERPARAMETERS`.
    training : LoggedTraining
        The training.
    """

    def graph() -> bytes:
        from gensim_tfw2v.steps.arguments import graph_definition

        return graph_definition(training.settings)

    cluster = training.addresses
    settings = {name: hyperparameters[name] for name in HYPERPARAMETERS} | {"words": len(vocabulary)}
    settings |= {f"cluster_{job}": len(cluster[job]) if cluster else 0 for job in JOBS}
    shown = {name: _shown(name, value) for name, value in settings.items()}
    if cluster and not options.trace_hosts:
        options = replace(options, trace_hosts=cluster["worker"])
    return LogWriter(options, vocabulary, shown, graph, training)


def _shown(name: str, value: Any) -> str | float:
    """Return a setting in the form that the HParams tab should show.

    The tab shows numbers with five digits: 5 as 5.0000, and a million as 1.0000e+6. It shows texts as they are, but
    sorts them as texts. Spaces in front, which pages do not show, put whole numbers in order.
    """
    if name in _FRACTIONS:
        return float(value)
    return f"{int(value):{_DIGITS}}" if isinstance(value, numbers.Integral) else str(value)

"""Starts the log of a model's training."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gensim_tfw2v.cluster.specification import JOBS, Addresses
from gensim_tfw2v.evaluation.scoring import check_analogies, check_pairs
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.tensorboard.event_file import check_logdir
from gensim_tfw2v.tensorboard.log_writer import LoggedModel, LogWriter
from gensim_tfw2v.tensorboard.options import TensorBoardLog
from gensim_tfw2v.training.progress import EpochPosition

# Those that people compare most come first: the table of the HParams tab shows five.
_HYPERPARAMETERS = (
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
    model: Any,
    options: TensorBoardLog,
    settings: StepSettings,
    tables: Callable[[], ModelTables],
    cluster: Addresses | None,
    folder: str | None = None,
    begun: Sequence[EpochPosition] = (),
    can_be_resumed: bool = False,
) -> LogWriter:
    """Return the writer of a training's log, with all that is known before training already written.

    Parameters
    ----------
    model : TFWord2Vec
        The model that is about to be trained.
    options : TensorBoardLog
        What to log, and where.
    settings : StepSettings
        Settings of the step whose graph is shown.
    tables : callable
        Returns a copy of the current tables, also during training.
    cluster : mapping, optional
        Addresses of the cluster that trains. Its workers are traced unless the options name others.
    folder, begun, can_be_resumed
        As for `LogWriter`.
    """

    def graph() -> bytes:
        from gensim_tfw2v.steps.arguments import graph_definition

        return graph_definition(settings)

    settings_by_name = {name: getattr(model, name) for name in _HYPERPARAMETERS}
    settings_by_name["words"] = len(model.wv)
    settings_by_name |= {f"cluster_{job}": len(cluster[job]) if cluster else 0 for job in JOBS}
    hyperparameters = {name: _shown(name, value) for name, value in settings_by_name.items()}
    if cluster and not options.trace_hosts:
        options = replace(options, trace_hosts=cluster["worker"])
    return LogWriter(options, LoggedModel(model.wv, hyperparameters, graph, tables), folder, begun, can_be_resumed)


def _shown(name: str, value: Any) -> str | float:
    """Return a setting as the HParams tab is to show it.

    The tab shows numbers with five digits: 5 as 5.0000, and a million as 1.0000e+6. It shows texts as they are, but
    sorts them as texts. Spaces in front, which pages do not show, put whole numbers in order.
    """
    if name in _FRACTIONS:
        return float(value)
    return f"{int(value):{_DIGITS}}" if isinstance(value, numbers.Integral) else str(value)

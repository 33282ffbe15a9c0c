"""Starts the log of a model's training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gensim_tfw2v.cluster.specification import JOBS, Addresses
from gensim_tfw2v.evaluation.scoring import check_analogies, check_pairs
from gensim_tfw2v.placement.interface import ModelTables
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.tensorboard.event_file import check_logdir
from gensim_tfw2v.tensorboard.log_writer import LoggedModel, LogWriter
from gensim_tfw2v.tensorboard.options import TensorBoardLog

_HYPERPARAMETERS = (
    "sg", "hs", "negative", "vector_size", "window", "shrink_windows", "cbow_mean", "alpha", "min_alpha", "sample",
    "ns_exponent", "min_count", "epochs", "workers", "seed",
)  # fmt: skip


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
    """

    def graph() -> bytes:
        from gensim_tfw2v.steps.arguments import graph_definition

        return graph_definition(settings)

    hyperparameters = {name: _plain(getattr(model, name)) for name in _HYPERPARAMETERS}
    hyperparameters["words"] = len(model.wv)
    hyperparameters |= {f"cluster_{job}": len(cluster[job]) if cluster else 0 for job in JOBS}
    if cluster and not options.trace_hosts:
        options = replace(options, trace_hosts=cluster["worker"])
    return LogWriter(options, LoggedModel(model.wv, hyperparameters, graph, tables))


def _plain(value: Any) -> Any:
    """Return a setting as the HParams tab accepts it: a number or a text."""
    if isinstance(value, bool):
        return int(value)  # the tab cannot filter by booleans
    return value if isinstance(value, int | float | str) else str(value)

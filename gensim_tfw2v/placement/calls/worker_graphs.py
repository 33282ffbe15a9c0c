"""The functions by which the coordinator calls a worker, traced in graphs that the worker has."""

from __future__ import annotations

from typing import Any, NamedTuple

from gensim_tfw2v.placement.tasks.block_report import TableRows


class WorkerGraphs(NamedTuple):
    """Concrete functions: the second without overlap, the others with it."""

    register_model: Any  # (name, handle of a `WorkerModel`'s bytes on the first server) → True
    train: Any = None  # (handles, request) → report
    stage: Any = None  # (handles, request) → staged
    finish: Any = None  # (handles, staged) → report
    finish_and_stage: Any = None  # (handles, staged, request) → report, staged
    exchanged: type[Any] = TableRows  # what the reports have of the exchange with servers

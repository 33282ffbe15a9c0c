"""What the workers of a design run on servers' tables: its graphs, and the variables on servers that these take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.placement.calls.tickets import Tickets
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.tasks.block_report import TableRows
from gensim_tfw2v.placement.tasks.cluster_metrics import ClusterMetrics

Graph = Callable[..., Any]
"""A concrete function of TensorFlow."""
Handle = Any
"""TensorFlow's resource handle of a variable."""


class WorkerGraphs(NamedTuple):
    """Concrete functions: `train` is for training without overlap, the ones after it for training with overlap."""

    register_model: Graph  # (name, `Program.model`) → True
    train: Graph | None = None  # (handles, request) → report
    stage: Graph | None = None  # (handles, request) → staged
    finish: Graph | None = None  # (handles, staged) → report
    finish_and_stage: Graph | None = None  # (handles, staged, request) → report, staged
    exchanged: type[Any] = TableRows  # what reports contain about the exchange with servers


@dataclass(frozen=True)
class TrainedTables:
    """The tables of a training on servers, with the tickets that decide which of their changes count."""

    tables: RemoteTables
    version: Handle  # blocks pushed so far, on the first server
    tickets: Tickets


class Program(ABC):
    """The graphs of a design's workers, and what the design keeps on servers for them beside the model's tables.

    Whenever tables are loaded, a training calls `keep` and then `begin`. From then on the threads of workers use
    `graphs`, `model` and `handles_of`.

    Attributes
    ----------
    graphs : WorkerGraphs
        What workers run.
    model : handle or tuple of handles
        Handle of the bytes of the `WorkerModel`, on each server that needs them.
    """

    graphs: WorkerGraphs
    model: Handle | tuple[Handle, ...]

    @abstractmethod
    def keep(self, tables: RemoteTables, model: UInt8Array) -> None:
        """Make variables beside these filled tables, or reset them to their first values; this calls servers."""

    @abstractmethod
    def begin(self, trained: TrainedTables) -> None:
        """Trace the graphs for these tables, and take their handles."""

    @abstractmethod
    def new_metrics(self) -> ClusterMetrics:
        """Return the object that adds up the workers' reports, once the program has begun."""

    @abstractmethod
    def handles_of(self, place: int | None) -> tuple[Any, ...]:
        """Return the handles, a NamedTuple, that a worker's graphs take for a job with this place."""

    def empty(self) -> None:
        """Free what is kept beside tables that outlive the training; this calls servers. By default, do nothing."""
        return

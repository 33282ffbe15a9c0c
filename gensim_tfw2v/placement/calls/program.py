"""What a design's workers run on tables of servers: its graphs, and the variables on servers that they take."""

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
    """Concrete functions: the second without overlap, the others with it."""

    register_model: Graph  # (name, `Program.model`) → True
    train: Graph | None = None  # (handles, request) → report
    stage: Graph | None = None  # (handles, request) → staged
    finish: Graph | None = None  # (handles, staged) → report
    finish_and_stage: Graph | None = None  # (handles, staged, request) → report, staged
    exchanged: type[Any] = TableRows  # what the reports have of the exchange with servers


@dataclass(frozen=True)
class TrainedTables:
    """The tables of a training on servers, and what says which changes of them count."""

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
        Of the bytes of the `WorkerModel`, on each server that is to have them.
    """

    graphs: WorkerGraphs
    model: Handle | tuple[Handle, ...]

    @abstractmethod
    def keep(self, tables: RemoteTables, model: UInt8Array) -> None:
        """Make variables beside these filled tables, or give them their first values again; this calls servers."""

    @abstractmethod
    def begin(self, trained: TrainedTables) -> None:
        """Trace the graphs for these tables, and take their handles."""

    @abstractmethod
    def new_metrics(self) -> ClusterMetrics:
        """Return what adds up the reports of workers, once the program has begun."""

    @abstractmethod
    def handles_of(self, place: int | None) -> tuple[Any, ...]:
        """Return the handles, a NamedTuple, that a worker's graphs take for a job with this place."""

    def empty(self) -> None:
        """Free what is kept beside tables that outlive the training; this calls servers. Nothing by default."""
        return

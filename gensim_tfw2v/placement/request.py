"""What a design receives, where and how a training is to run, and what it returns."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.cluster.specification import Addresses
from gensim_tfw2v.placement.block_size import InFlightLimits
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.runtime.devices import THE_CPU, Device
from gensim_tfw2v.steps.settings import StepSettings

if TYPE_CHECKING:
    from gensim_tfw2v.cluster.connection import Connection


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """The model's arguments that say how it is to be trained, in this process or on a cluster."""

    distribution: str  # the design's name
    workers: int  # threads of this process; on a cluster, 1 means that blocks are trained one after the other
    skip_gram: bool
    tree: bool  # hierarchical softmax is trained
    negative: int = 0  # 0: no negative sampling
    device: str | None = None  # of this process, or of each worker; None: it is chosen
    seed: int | None = None
    reproducible: bool = False  # vectors do not depend on the number of threads or workers
    bags: bool = False  # words are bags of rows, which graphs that draw blocks cannot make
    timeout: float  # seconds after which a worker counts as hung
    dtype: str | None = None  # number format on the network; None: the design chooses
    allow_network: bool = False
    of_design: Mapping[str, Any] = field(default_factory=dict)
    """Values of the arguments that this design has and others do not, by name."""


@dataclass(frozen=True)
class CorpusSize:
    """How much there is to train, and in which pieces if that is decided."""

    total_words: int  # raw words of the corpus, 0 if not known
    epochs: int
    batch_words: int | None = None  # the user's own block size
    chunk_words: int | None = None  # of the chunks of a training that is resumed
    is_encoded: bool = False  # workers read the corpus themselves


@dataclass(frozen=True)
class ClusterRequest:
    """A training to place on a cluster."""

    connection: Connection
    size: CorpusSize
    limits: InFlightLimits
    options: TrainingOptions
    device: Device = THE_CPU  # of each worker

    @property
    def one_by_one(self) -> bool:
        """Whether blocks are trained one after the other."""
        return self.options.workers == 1

    @property
    def has_changing_workers(self) -> bool:
        """Whether workers may join and leave while it runs."""
        return self.options.of_design.get("max_workers") is not None

    @property
    def cores(self) -> int:
        """The most cores of a worker that may train a block; 1 if another device than its CPU trains."""
        return 1 if self.one_by_one or self.device != THE_CPU else max(self.connection.cores())

    @property
    def least_cores(self) -> int:
        """The cores that every worker has for a block. They decide its size, so that it suits the smallest worker."""
        return min(self.connection.cores(self.cores))


@dataclass(frozen=True)
class LocalRequest:
    """A training to place in this process."""

    size: CorpusSize
    options: TrainingOptions
    device: Device = THE_CPU

    @property
    def workers(self) -> int:
        """The number of threads that the model's arguments ask for."""
        return self.options.workers

    @property
    def tree(self) -> bool:
        """Whether hierarchical softmax is trained."""
        return self.options.tree


class Draws(enum.Enum):
    """Where subsampling, windows and negatives are drawn."""

    HOST = "host"  # by this process's own code
    DEVICE = "device"  # by the graph that trains


@dataclass(frozen=True)
class PlacementChoice:
    """Where a training runs."""

    block_words: int  # raw words of a chunk
    negative_pool: int | None  # draws for the negatives of a block; None: a draw for each of its runs
    make: Callable[[StepSettings, BlockMaker], Placement]
    addresses: Addresses | None = None  # of the cluster's tasks by job; None: this process
    cores: int = 1  # that train on the same tables, or on one copy of their rows, side by side
    device: Device | None = None  # that trains; None: the CPUs of a cluster's workers
    draws: Draws = Draws.HOST
    exchanged_batches: int | None = None  # for which tasks exchange messages side by side; None: batches need none
    uses_kernel: bool = True  # blocks are trained by the steps of a kernel, which may move rows run by run

"""What is asked of a design: where and how a training is to run, and what answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.cluster.specification import Addresses
from gensim_tfw2v.placement.block_size import InFlightLimits
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.steps.settings import StepSettings

if TYPE_CHECKING:
    from gensim_tfw2v.cluster.connection import Connection


@dataclass(frozen=True)
class ClusterOptions:
    """The model's arguments that say how to train on a cluster, under their names without `cluster_`."""

    timeout: float
    overlap: bool | None
    dtype: str | None
    allow_network: bool = False
    distribution: str | None = None  # None: the default
    round_words: int | None = None
    backup_workers: int = 0
    skip_gram: bool = True
    submodels: int | None = None
    sampling: str | None = None
    sampling_rate: float | None = None
    merge: str | None = None
    lbfgs_history: int | None = None
    seed: int | None = None  # the model's


@dataclass(frozen=True)
class CorpusSize:
    """How much there is to train, and in which pieces if that is decided."""

    total_words: int  # raw words of the corpus, 0 if not known
    epochs: int
    batch_words: int | None = None  # the user's own block size
    chunk_words: int | None = None  # of the chunks of a training that is resumed


@dataclass(frozen=True)
class ClusterRequest:
    """A training that is to be placed on a cluster."""

    connection: Connection
    size: CorpusSize
    one_by_one: bool  # one block in flight
    limits: InFlightLimits
    options: ClusterOptions


@dataclass(frozen=True)
class LocalRequest:
    """A training that is to be placed in this process."""

    workers: int  # threads
    size: CorpusSize
    tree: bool  # hierarchical softmax is trained
    options: ClusterOptions


@dataclass(frozen=True)
class PlacementChoice:
    """Where a training runs."""

    block_words: int  # raw words of a chunk
    negative_pool: int | None  # draws for the negatives of a block; None: a draw for each of its runs
    make: Callable[[StepSettings, BlockMaker], Placement]
    addresses: Addresses | None = None  # of the cluster's tasks by job; None: this process

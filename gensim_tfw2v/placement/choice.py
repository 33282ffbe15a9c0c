"""The model's arguments and its corpus → the placement, the blocks in flight and their size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.cluster.specification import Addresses
from gensim_tfw2v.placement.block_size import (
    blocks_overlap,
    choose_block_words,
    choose_negative_pool,
    choose_sharing,
    most_local_block_words,
)
from gensim_tfw2v.placement.interface import Placement
from gensim_tfw2v.placement.parameter_servers.shared_rows import RowSharing
from gensim_tfw2v.runtime.tensorflow import usable_cores
from gensim_tfw2v.steps.settings import StepSettings


@dataclass(frozen=True)
class ClusterOptions:
    """The model's arguments `cluster_timeout`, `cluster_overlap`, `cluster_dtype` and `allow_network`."""

    timeout: float
    overlap: bool | None
    dtype: str | None
    allow_network: bool = False


@dataclass(frozen=True)
class PlacementChoice:
    """Where a training runs."""

    block_words: int
    negative_pool: int | None
    make: Callable[[StepSettings, BlockMaker], Placement]
    addresses: Addresses | None = None  # of the cluster's tasks by job; None: this process


def choose_placement(
    cluster: Any,
    workers: int,
    total_words: int,
    epochs: int,
    batch_words: int | None,
    share_rows: bool,
    tree: bool,
    options: ClusterOptions,
) -> PlacementChoice:
    """Return this process if `cluster` is None, or else the cluster, to which it connects.

    Parameters
    ----------
    workers : int
        The model's argument: threads of this process. On a cluster, 1 means that blocks are trained one after the
        other, even if `options` ask for overlap.
    total_words : int
        Raw words of the corpus, 0 if not known.
    epochs : int
        Passes over the corpus.
    batch_words : int, optional
        The user's own block size.
    share_rows : bool
        Whether blocks in flight on a cluster share rows while they are trained.
    tree : bool
        Whether hierarchical softmax is trained.
    """
    if cluster is None:
        threads = min(workers, usable_cores())
        block_words = choose_block_words(total_words, threads, batch_words, most_words=most_local_block_words(tree))
        return PlacementChoice(block_words, None, _local(workers))
    return _on_cluster(cluster, workers == 1, total_words, epochs, batch_words, share_rows, options)


def _local(workers: int) -> Callable[[StepSettings, BlockMaker], Placement]:
    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.local import LocalPlacement

        return LocalPlacement(settings, maker, workers)

    return make


def _on_cluster(
    cluster: Any,
    one_by_one: bool,
    total_words: int,
    epochs: int,
    batch_words: int | None,
    share_rows: bool,
    options: ClusterOptions,
) -> PlacementChoice:
    """Connect to the cluster, and return its placement; `one_by_one` means one block in flight."""
    from gensim_tfw2v.cluster.connection import connect

    connection = connect(cluster, allow_network=options.allow_network)

    def block_words_of(in_flight: int) -> int:
        return choose_block_words(total_words, in_flight, batch_words, in_flight, share_rows)

    concurrency = 1 if one_by_one else connection.workers
    overlap = options.overlap
    if overlap is None:
        overlap = blocks_overlap(total_words, block_words_of(concurrency), connection.workers)
    if overlap and not one_by_one:  # a block that is pulled while another is trained lacks that one's changes
        concurrency = 2 * connection.workers
    block_words = block_words_of(concurrency)
    sharing = RowSharing(*choose_sharing(block_words, total_words, concurrency, share_rows))
    # Blocks in flight lack each other's changes, which are far larger than rounding errors.
    row_type = options.dtype or ("float32" if one_by_one else "bfloat16")

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.parameter_servers.placement import ClusterPlacement

        total_blocks = epochs * total_words / block_words
        return ClusterPlacement(
            settings, maker, connection, concurrency, options.timeout, total_blocks, row_type, sharing
        )

    pool = choose_negative_pool(block_words)
    return PlacementChoice(block_words, pool, make, connection.addresses)

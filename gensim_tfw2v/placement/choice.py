"""The model's arguments and its corpus → the placement and the size of its chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import choose_block_words, most_local_block_words
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN, DESIGNS
from gensim_tfw2v.placement.interface import Placement
from gensim_tfw2v.placement.request import ClusterOptions, ClusterRequest, CorpusSize, PlacementChoice
from gensim_tfw2v.runtime.tensorflow import usable_cores
from gensim_tfw2v.steps.settings import StepSettings


def choose_placement(
    cluster: Any, workers: int, size: CorpusSize, can_share_rows: bool, tree: bool, options: ClusterOptions
) -> PlacementChoice:
    """Return this process if `cluster` is None, or else the cluster, to which it connects.

    Parameters
    ----------
    workers : int
        The model's argument: threads of this process. On a cluster, 1 means that blocks are trained one after the
        other, even if `options` ask for overlap.
    can_share_rows : bool
        Whether blocks in flight on a cluster may share rows while they are trained.
    tree : bool
        Whether hierarchical softmax is trained.
    """
    if cluster is None:
        chosen = size.chunk_words or size.batch_words
        threads = min(workers, usable_cores())
        words = choose_block_words(size.total_words, threads, chosen, most_words=most_local_block_words(tree))
        return PlacementChoice(words, None, _local(workers))
    from gensim_tfw2v.cluster.connection import connect

    connection = connect(cluster, allow_network=options.allow_network)
    request = ClusterRequest(connection, size, workers == 1, can_share_rows, options)
    return DESIGNS[options.distribution or DEFAULT_DESIGN].choose(request)


def _local(workers: int) -> Callable[[StepSettings, BlockMaker], Placement]:
    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.local import LocalPlacement

        return LocalPlacement(settings, maker, workers)

    return make

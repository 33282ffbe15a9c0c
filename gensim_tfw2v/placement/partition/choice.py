"""A training in this process or on a cluster → sub-models, the sizes of their shares, and where they train."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.cluster.health import raise_if_no_worker_answers
from gensim_tfw2v.placement.block_size import choose_block_words, most_local_block_words
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.partition.draws import Partition
from gensim_tfw2v.placement.request import ClusterRequest, CorpusSize, LocalRequest, PlacementChoice
from gensim_tfw2v.runtime.tensorflow import usable_cores
from gensim_tfw2v.steps.settings import StepSettings

LOCAL_SUBMODELS = 2


def why_not(arguments: Mapping[str, Any]) -> str | None:
    """Return why this design cannot train a model with these arguments, None if it can."""
    if arguments.get("merge") == "concatenate":
        return (
            "cannot train with merge='concatenate', which would make vectors longer than vector_size; train models "
            "apart and call merge_vectors(..., method='concatenate')"
        )
    if freeze := arguments.get("freeze"):
        return (
            f"cannot train with {freeze=}: merging rotates all vectors of the sub-models; leave freeze out, or choose "
            "another distribution"
        )
    if arguments.get("sampling") == "equal" and arguments.get("sampling_rate"):
        return "with sampling='equal' takes no sampling_rate: each sentence belongs to one sub-model; leave it out"
    return None


def choose_local(request: LocalRequest) -> PlacementChoice:
    """Return this process, which has the tables of all sub-models."""
    partition = Partition.of(request.options, LOCAL_SUBMODELS)
    threads = min(request.workers, usable_cores())

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.partition.local_partition import LocalPartitionPlacement

        return LocalPartitionPlacement(settings, maker, request.workers, partition)

    words = _chunk_words(request.size, partition, threads, most_local_block_words(request.tree))
    return PlacementChoice(words, None, make)


def choose(request: ClusterRequest) -> PlacementChoice:
    """Return the cluster's workers, each of which has the tables of its sub-models.

    Raise ClusterError if no worker answers.
    """
    connection, options = request.connection, request.options
    raise_if_no_worker_answers(connection.addresses["worker"])
    partition = Partition.of(options, connection.workers)

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.partition.placement import PartitionPlacement

        return PartitionPlacement(settings, maker, connection, options.timeout, partition, request.cores)

    words = _chunk_words(request.size, partition, 1, tuning.MOST_BLOCK_WORDS, request.least_cores)
    return PlacementChoice(words, None, make, connection.addresses, request.cores)


def _chunk_words(size: CorpusSize, partition: Partition, threads: int, most_words: int, cores: int = 1) -> int:
    """Return the raw words of a chunk, chosen so that a sub-model's share of it is a block of a usual size."""
    of_share = int(size.total_words * partition.rate)
    words = choose_block_words(of_share, threads, size.batch_words, most_words=most_words, cores=cores)
    return size.chunk_words or partition.chunk_words(words)

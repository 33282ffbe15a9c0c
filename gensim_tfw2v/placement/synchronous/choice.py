"""A training for a cluster → rounds, each of which is cut into a part for every worker."""

from __future__ import annotations

import logging

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import choose_block_words, choose_negative_pool
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.request import ClusterRequest, CorpusSize, PlacementChoice
from gensim_tfw2v.steps.settings import StepSettings

logger = logging.getLogger(__name__)


def choose(request: ClusterRequest) -> PlacementChoice:
    """Return the placement, with the size of its rounds. Raise ValueError if no worker is left to wait for."""
    connection, size, options = request.connection, request.size, request.options
    workers = 1 if request.one_by_one else connection.workers
    backup_workers = options.of_design["backup_workers"]
    if backup_workers >= workers:
        raise ValueError(
            f"{backup_workers=} leaves a round no worker to wait for: workers={workers} train "
            "side by side; it must be smaller than their number"
        )
    _warn_of_idle_cores(request)
    round_words = size.chunk_words or options.of_design["round_words"] or workers * _part_words(size, workers)
    row_type = options.dtype or ("float32" if request.one_by_one else "bfloat16")

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.synchronous.placement import RoundPlacement

        total_rounds = size.epochs * size.total_words / round_words
        return RoundPlacement(
            settings, maker, connection, workers, backup_workers, options.timeout, total_rounds, row_type
        )

    return PlacementChoice(round_words, choose_negative_pool(round_words // workers), make, connection.addresses)


def _warn_of_idle_cores(request: ClusterRequest) -> None:
    if request.cores > 1:
        logger.warning(
            "synchronous rounds use 1 of %i cores of each worker, to stay reproducible; start a worker with --cores 1 "
            "for each core, or choose another distribution",
            request.cores,
        )


def _part_words(size: CorpusSize, workers: int) -> int:
    """Return how many raw words of a round each worker trains."""
    in_flight = tuning.ROUNDS_IN_FLIGHT * workers if workers > 1 else 1
    words = choose_block_words(size.total_words, workers, size.batch_words, in_flight)
    return words if size.batch_words is not None else max(words, tuning.LEAST_BLOCK_WORDS)

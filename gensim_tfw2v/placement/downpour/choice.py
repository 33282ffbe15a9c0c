"""A training for a cluster → blocks on its workers, which never wait for each other."""

from __future__ import annotations

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import choose_blocks_in_flight
from gensim_tfw2v.placement.calls.ramp_up import RampUp, all_present
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.request import ClusterRequest, PlacementChoice
from gensim_tfw2v.steps.row_sharing import RowSharing
from gensim_tfw2v.steps.settings import StepSettings


def choose(request: ClusterRequest) -> PlacementChoice:
    """Return the placement, with the blocks in flight and their size."""
    connection, size, options = request.connection, request.size, request.options
    blocks = choose_blocks_in_flight(
        size.total_words,
        connection.workers,
        request.limits,
        size.chunk_words or size.batch_words,
        request.least_cores,
        options.of_design["cluster_overlap"],
        request.one_by_one,
    )
    block_words, concurrency = blocks.block_words, blocks.in_flight
    sharing = RowSharing(blocks.parts, blocks.shared_rows)
    # Blocks in flight lack each other's changes, which are far larger than rounding errors.
    row_type = options.dtype or ("float32" if request.one_by_one else "bfloat16")

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.downpour.placement import DownpourPlacement

        in_training = size.epochs * size.total_words / block_words
        ramp_up = RampUp(
            concurrency,
            in_training,
            block_words,
            share_rows=sharing.parts > 1,
            share_present=connection.share_present if request.has_changing_workers else all_present,
        )
        return DownpourPlacement(
            settings,
            maker,
            connection,
            concurrency,
            options.timeout,
            ramp_up,
            row_type,
            sharing,
            request.cores,
            request.has_changing_workers,
        )

    return PlacementChoice(block_words, blocks.negative_pool, make, connection.known_addresses(), request.cores)

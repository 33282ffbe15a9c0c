"""A training for a cluster → blocks on its workers, which never wait for each other."""

from __future__ import annotations

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import blocks_overlap, choose_block_words, choose_negative_pool, choose_sharing
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.request import ClusterRequest, PlacementChoice
from gensim_tfw2v.steps.row_sharing import RowSharing
from gensim_tfw2v.steps.settings import StepSettings


def choose(request: ClusterRequest) -> PlacementChoice:
    """Return the placement, with the blocks in flight and their size."""
    connection, size, options = request.connection, request.size, request.options
    chosen = size.chunk_words or size.batch_words

    def block_words_of(in_flight: int) -> int:
        return choose_block_words(
            size.total_words, in_flight, chosen, in_flight, request.limits, cores=request.least_cores
        )

    concurrency = 1 if request.one_by_one else connection.workers
    overlap = options.of_design["cluster_overlap"]
    if overlap is None:
        overlap = blocks_overlap(size.total_words, block_words_of(concurrency), connection.workers)
    if overlap and not request.one_by_one:  # a block that is pulled while another is trained lacks that one's changes
        concurrency = 2 * connection.workers
    block_words = block_words_of(concurrency)
    sharing = RowSharing(*choose_sharing(block_words, size.total_words, concurrency, request.limits))
    # Blocks in flight lack each other's changes, which are far larger than rounding errors.
    row_type = options.dtype or ("float32" if request.one_by_one else "bfloat16")

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.downpour.placement import DownpourPlacement

        blocks = size.epochs * size.total_words / block_words
        ramp_up = RampUp(concurrency, blocks, block_words, share_rows=sharing.parts > 1)
        return DownpourPlacement(
            settings, maker, connection, concurrency, options.timeout, ramp_up, row_type, sharing, request.cores
        )

    pool = choose_negative_pool(block_words)
    return PlacementChoice(block_words, pool, make, connection.addresses, request.cores)

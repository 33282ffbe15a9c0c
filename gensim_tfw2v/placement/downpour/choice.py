"""A training for a cluster → blocks on its workers, which never wait for each other."""

from __future__ import annotations

import math
from functools import partial

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import BlocksInFlight, choose_blocks_in_flight, choose_call_blocks
from gensim_tfw2v.placement.calls.ramp_up import RampUp, all_present
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.request import ClusterRequest, PlacementChoice
from gensim_tfw2v.steps.settings import StepSettings


def choose(request: ClusterRequest) -> PlacementChoice:
    """Return the placement, with the blocks in flight and their size."""
    connection, size = request.connection, request.size
    blocks, in_call = _choose_blocks(request)
    concurrency, chunk_words = blocks.in_flight, size.chunk_words or in_call * blocks.block_words
    # Blocks in flight lack each other's changes, which are far larger than rounding errors.
    row_type = request.options.dtype or ("float32" if request.one_by_one else "bfloat16")

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.downpour.placement import DownpourPlacement

        ramp_up = RampUp(
            concurrency,
            blocks_for_one_more=tuning.BLOCKS_FOR_ONE_MORE / in_call,
            share_present=connection.share_present if request.has_changing_workers else all_present,
        )
        block_words = blocks.block_words if in_call > 1 else None
        return DownpourPlacement(settings, maker, request, concurrency, row_type, block_words, in_call, ramp_up)

    return PlacementChoice(chunk_words, blocks.negative_pool, make, connection.known_addresses(), request.cores)


def _choose_blocks(request: ClusterRequest) -> tuple[BlocksInFlight, int]:
    """Return the blocks in flight, and how many of them a call of a worker trains."""
    size, of_design = request.size, request.options.of_design
    choose_blocks = partial(
        choose_blocks_in_flight,
        size.total_words,
        request.connection.workers,
        request.limits,
        cores=request.least_cores,
        overlap=of_design["cluster_overlap"],
        one_by_one=request.one_by_one,
    )
    blocks, in_call = choose_blocks(size.batch_words), of_design["blocks_per_call"]
    if in_call is None:
        in_call = 1
        if size.is_encoded and not request.one_by_one:
            workers, cores = request.connection.workers, request.least_cores
            in_call = choose_call_blocks(size.total_words, workers, blocks.block_words, cores)
    if size.chunk_words is not None:
        blocks = choose_blocks(math.ceil(size.chunk_words / in_call))
    return blocks, in_call

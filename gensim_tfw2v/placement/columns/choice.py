"""A training for a cluster → blocks on its workers, and servers that each have some columns of every row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import choose_block_words, choose_negative_pool
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.request import ClusterRequest, PlacementChoice
from gensim_tfw2v.steps.settings import ADAGRAD, StepSettings

_LANES = 2  # of a block's batches, trained side by side: one computes while messages of the other are under way


def why_not(arguments: Mapping[str, Any]) -> str | None:
    """Return why this design cannot train a model with these arguments, None if it can."""
    instead = "choose another distribution, or "
    if not arguments["sg"]:
        return (
            "trains skip-gram alone: CBOW would multiply sums of context vectors, which differ for every target; "
            f"{instead}sg=1"
        )
    if arguments["hs"] or not arguments["negative"]:
        return (
            "trains negative sampling alone: in the Huffman tree a context has a product for every node of its path; "
            f"{instead}hs=0 with negative > 0"
        )
    if arguments.get("optimizer") == ADAGRAD:
        return (
            "cannot train with optimizer='adagrad': no server has all numbers of a gradient, whose length Adagrad "
            f"needs; {instead}optimizer='sgd'"
        )
    if arguments.get("weights") is not None:
        return f"cannot train with weights: it counts every sentence once; {instead}leave weights out"
    if arguments.get("compute_dtype") == "bfloat16":
        return f"multiplies in float32, whichever format is sent; {instead}leave compute_dtype='bfloat16' out"
    return None


def choose(request: ClusterRequest) -> PlacementChoice:
    """Return the placement, with the size of its blocks."""
    connection, size, options = request.connection, request.size, request.options
    concurrency = 1 if request.one_by_one else connection.workers
    # A worker that waits for a server loses nothing while other workers keep the server busy.
    lanes = _LANES if 1 < concurrency <= connection.servers else 1
    chosen = size.chunk_words or size.batch_words
    # Servers have every change of a batch before the next one, so that blocks in flight need not be small.
    block_words = choose_block_words(size.total_words, concurrency, chosen)
    number_type = options.dtype or ("float32" if request.one_by_one else "bfloat16")

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.columns.placement import ColumnPlacement

        return ColumnPlacement(settings, maker, connection, concurrency, lanes, options.timeout, number_type)

    # A single worker trains the batches of one process.
    exchanged = None if concurrency == 1 else concurrency * lanes
    pool = choose_negative_pool(block_words)
    addresses = connection.addresses
    return PlacementChoice(block_words, pool, make, addresses, exchanged_batches=exchanged, uses_kernel=False)

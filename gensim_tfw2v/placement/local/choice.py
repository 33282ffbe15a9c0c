"""A training in this process → its placement and the size of its chunks."""

from __future__ import annotations

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import choose_block_words, most_local_block_words
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.local.calls import calls_for, calls_on_gpu
from gensim_tfw2v.placement.request import LocalRequest, PlacementChoice
from gensim_tfw2v.runtime.devices import GPU
from gensim_tfw2v.steps.settings import StepSettings


def choose_local(request: LocalRequest) -> PlacementChoice:
    """Return this process, with as many threads as workers and cores allow."""
    device = request.device
    calls = calls_on_gpu(request.workers) if device.kind == GPU else calls_for(request.workers)

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.local.placement import LocalPlacement

        return LocalPlacement(settings, maker, calls, device=device)

    size = request.size
    words = choose_block_words(
        size.total_words,
        calls.threads,
        size.chunk_words or size.batch_words,
        most_words=most_local_block_words(request.tree),
        cores=calls.cores,
    )
    return PlacementChoice(words, None, make, cores=calls.all_cores)

"""A training in this process → its placement and the size of its chunks."""

from __future__ import annotations

import os

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import choose_block_words, most_local_block_words
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.local.calls import calls_for, calls_on_gpu, calls_that_draw
from gensim_tfw2v.placement.request import Draws, LocalRequest, PlacementChoice
from gensim_tfw2v.runtime.devices import GPU, Device
from gensim_tfw2v.steps.settings import StepSettings


def choose_local(request: LocalRequest) -> PlacementChoice:
    """Return this process, with as many threads as workers and cores allow."""
    if not request.options.bags and draws_for(request.device) is Draws.DEVICE:
        return _choose_drawing(request)
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


def _choose_drawing(request: LocalRequest) -> PlacementChoice:
    """Return the device as the place of all draws. Its chunks are larger, so that it seldom waits for this process."""
    device, size = request.device, request.size
    calls = calls_that_draw(request.workers)

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.local.drawing_placement import DrawingPlacement

        return DrawingPlacement(settings, maker, calls, device=device)

    words = choose_block_words(
        size.total_words, 1, size.chunk_words or size.batch_words, most_words=tuning.MOST_DRAWN_BLOCK_WORDS
    )
    return PlacementChoice(words, None, make, draws=Draws.DEVICE)


def draws_for(device: Device) -> Draws:
    """Return where windows, subsampling and negatives are drawn for steps on a device.

    The environment variable ``TFW2V_DRAWS`` says where. Without it, a GPU draws for itself.
    """
    name = os.environ.get("TFW2V_DRAWS") or (Draws.DEVICE if device.kind == GPU else Draws.HOST).value
    try:
        return Draws(name)
    except ValueError:
        names = " or ".join(repr(one.value) for one in Draws)
        raise ValueError(f"TFW2V_DRAWS is {name!r}; it must be {names}") from None

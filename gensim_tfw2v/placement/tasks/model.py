"""What a worker knows of a model."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.steps.settings import StepSettings


@dataclass(frozen=True)
class WorkerModel:
    """All that a worker has to know of a model to make its blocks."""

    settings: StepSettings
    maker: BlockMaker
    words: int  # rows of inputs and of outputs
    nodes: int
    lock_factors: Float32Array

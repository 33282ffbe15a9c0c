"""The part of a model that a worker needs, and the name under which it is sent."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Float32Array, UInt8Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.steps.settings import StepSettings


@dataclass(frozen=True)
class WorkerModel:
    """All that a worker has to know of a model to make its blocks."""

    settings: StepSettings
    maker: BlockMaker
    words: int  # rows of outputs, and the first rows of inputs
    nodes: int
    lock_factors: Float32Array
    further_inputs: int = 0  # rows of inputs after the words', such as n-grams'

    @property
    def inputs(self) -> int:
        """All rows of inputs."""
        return self.words + self.further_inputs

    @classmethod
    def of(cls, settings: StepSettings, maker: BlockMaker, tables: ModelTables) -> WorkerModel:
        """Return what a worker has to know of the model that has these tables."""
        nodes = 0 if tables.nodes is None else len(tables.nodes)
        words = len(tables.inputs) if maker.bags is None else len(maker.bags)
        further = len(tables.inputs) - words
        return cls(settings, maker, words, nodes, np.array(tables.lock_factors, np.float32), further)


@dataclass(frozen=True)
class EncodedModel:
    """A model as it is sent to workers."""

    name: str  # equal models have equal names, in all processes
    data: UInt8Array  # of a `WorkerModel`

    @classmethod
    def of(cls, model: WorkerModel) -> EncodedModel:
        """Return a model's bytes, and their SHA-256 as its name."""
        data = encode(model)
        return cls(hashlib.sha256(data.tobytes()).hexdigest(), data)

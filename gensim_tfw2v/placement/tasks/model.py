"""The part of a model that a worker needs, and the name under which it is sent."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Float32Array, UInt8Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.document_blocks import BagOfWordsBlockMaker, DocumentBlockMaker
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.steps.settings import StepSettings


@dataclass(frozen=True)
class WorkerModel:
    """All that a worker has to know of a model to make its blocks."""

    settings: StepSettings
    maker: BlockMaker | DocumentBlockMaker | BagOfWordsBlockMaker
    words: int
    nodes: int
    lock_factors: Float32Array
    input_rows: int | None = None  # with those of n-grams or tags; None: each word has one

    @property
    def inputs(self) -> int:
        """All rows of inputs."""
        return self.words if self.input_rows is None else self.input_rows

    @classmethod
    def of(cls, settings: StepSettings, maker: BlockMaker, tables: ModelTables) -> WorkerModel:
        """Return what a worker has to know of the model that has these tables."""
        nodes = 0 if tables.nodes is None else len(tables.nodes)
        words = nodes if tables.outputs is None else len(tables.outputs)
        return cls(settings, maker, words, nodes, np.array(tables.lock_factors, np.float32), len(tables.inputs))


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

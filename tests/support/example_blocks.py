"""A small model, chunks to train it with, and what a placement holds of it."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.steps.settings import StepSettings

WORDS, SIZE = 40, 6
SETTINGS = StepSettings(
    skip_gram=True,
    mean_context=True,
    window=2,
    run_tokens=4,
    negative=3,
    shared_negatives=4,
    hierarchical_softmax=False,
    mask_accidental_hits=True,
    max_step=1.0,
)


def maker_from(first_word: int) -> BlockMaker:
    """Return a maker that draws its negatives from the ten words from this one on."""
    cumulative = np.zeros(WORDS, np.uint32)
    cumulative[first_word:] = np.minimum(np.arange(1, WORDS - first_word + 1), 10) * 2**27
    return BlockMaker(True, 2, Windows.DRAWN, BatchShape(16, 4, 4), None, NegativeSampler(cumulative), None)


def random_tables(seed: int = 0) -> ModelTables:
    """Return tables of normal random numbers."""
    rng = np.random.default_rng(seed)
    inputs, outputs = (rng.normal(size=(WORDS, SIZE)).astype(np.float32) for _ in range(2))
    return ModelTables(inputs, outputs, None, np.ones(1, np.float32))


def work_on(
    first_word: int, seed: int = 0, rate: float = 0.05, last_rate: float | None = None, exact_loss: bool = True
) -> ChunkTask:
    """Return sentences of ten words from this one on, enough for more than two batches."""
    ids = (first_word + np.random.default_rng(seed).integers(0, 10, 60)).astype(np.int32)
    last_rate = rate if last_rate is None else last_rate
    return ChunkTask(Sentences(ids, np.full(6, 10, np.int32)), (seed, 1), rate, last_rate, exact_loss)


def read(placement: Placement) -> ModelTables:
    """Return a fresh copy of what the placement holds."""
    tables = random_tables(seed=99)
    placement.read_into(tables)
    return tables

"""A chunk with everything its training depends on → its block, the learning rate of each batch, and the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import BoolArray, Float32Array, Float64Array
from gensim_tfw2v.blocks.batches import Block, BlockMaker
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import Span
from gensim_tfw2v.native.random_numbers import RandomNumbers


@dataclass(frozen=True)
class ChunkTask:
    """Whole sentences to train on. The same task and the same maker always give the same block."""

    content: Sentences | Span  # the sentences, or where they are in an encoded corpus
    entropy: tuple[int, ...]  # seeds this chunk's random numbers; the epoch loop's ends with epoch and chunk
    first_rate: float  # learning rate when the chunk begins
    last_rate: float  # learning rate when it ends
    exact_loss: bool  # whether every batch is measured
    measures: bool = True  # whether some batches are measured, if not every one is


@dataclass(frozen=True)
class PreparedBlock:
    """A block, and the settings of its S batches."""

    block: Block
    learning_rates: Float32Array  # [S]
    measured: BoolArray  # [S], whether the loss is computed


class BatchMetrics(NamedTuple):
    """Metrics of each batch [S] of a block: arrays, or tensors in the graph that trains it.

    Losses, or both numbers of rows, are NaN for a batch in which steps were refused because they would have been NaN or
    infinite.
    """

    losses: Any  # summed over the pairs of measured batches; 0 for others
    touched_rows: Any  # rows that took a step whose length is limited
    clipped_rows: Any  # touched rows whose step was clipped


@dataclass(frozen=True)
class TrainedChunk:
    """The results of training a chunk. There are no batches if subsampling kept no token."""

    tokens: int
    batches: BatchMetrics
    measured: BoolArray  # [S]
    pairs: Float64Array  # [S]
    seconds_preparing: float
    seconds_stepping: float
    most_moved: tuple[int, float] | None = None
    """If the block's changes are dropped because steps were refused: the word that was moved most, and how far."""


_NONE = np.zeros(0, np.float32)
NOTHING_TRAINED = TrainedChunk(0, BatchMetrics(_NONE, _NONE, _NONE), np.zeros(0, bool), np.zeros(0), 0.0, 0.0)


def prepare(maker: BlockMaker, task: ChunkTask) -> PreparedBlock | None:
    """Return the chunk's block, or None if subsampling keeps no token."""
    random = RandomNumbers.seeded(task.entropy)
    block = maker.make(sentences_of(maker, task), random)
    if block is None:
        return None
    batches = len(block.pairs)
    return PreparedBlock(block, learning_rates(task, batches), _measured(maker, task, batches))


def words_of(task: ChunkTask) -> int:
    """Return the words of a chunk."""
    content = task.content
    return len(content.ids) if isinstance(content, Sentences) else content.end_word - content.first_word


def learning_rates(task: ChunkTask, batches: int) -> Float32Array:
    """Return the learning rate of each of a block's batches, as it is when the batch begins."""
    return np.linspace(task.first_rate, task.last_rate, batches, endpoint=False).astype(np.float32)


def measure_every(maker: BlockMaker, task: ChunkTask) -> int:
    """Return a number n: the loss of every n-th of a block's batches is measured, from the first on. 0: of none."""
    if task.exact_loss or not task.measures:
        return int(task.exact_loss)
    is_large = maker.shape.batch_tokens >= tuning.LEAST_TOKENS_FOR_RARE_LOSS
    return tuning.LOSS_EVERY_LARGE_BATCHES if is_large else tuning.LOSS_EVERY_BATCHES


def _measured(maker: BlockMaker, task: ChunkTask, batches: int) -> BoolArray:
    """Return which of a block's batches are measured."""
    every = measure_every(maker, task)
    measured: BoolArray = np.arange(batches) % every == 0 if every else np.zeros(batches, bool)
    return measured


def sentences_of(maker: BlockMaker, task: ChunkTask) -> Sentences:
    """Return the sentences of a chunk, which may be in an encoded corpus."""
    if isinstance(task.content, Sentences):
        return task.content
    if maker.reader is None:
        raise ValueError(f"there is no encoded corpus to read {task.content} from")
    return maker.reader.read(task.content)

"""A chunk of corpus with all that training it depends on → its block, the rate of each batch, what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import BoolArray, Float32Array, Float64Array
from gensim_tfw2v.blocks.batches import Block, BlockMaker
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import Span


@dataclass(frozen=True)
class ChunkTask:
    """Whole sentences to train on. Whoever prepares the same task with the same maker gets the same block."""

    content: Sentences | Span  # the sentences, or where they are in an encoded corpus
    entropy: tuple[int, ...]  # of this chunk's random numbers
    first_rate: float  # learning rates when the chunk begins and ends
    last_rate: float
    exact_loss: bool  # measure every batch


@dataclass(frozen=True)
class PreparedBlock:
    """A block with what its S batches are trained by."""

    block: Block
    learning_rates: Float32Array  # [S]
    measured: BoolArray  # [S]


class BatchMetrics(NamedTuple):
    """What was measured of each batch [S] of a block: arrays, or tensors in the graph that trains it."""

    losses: Any  # summed over the pairs of measured batches; 0 for others
    touched_rows: Any  # rows that took a step of limited length
    clipped_rows: Any  # those whose step was clipped


@dataclass(frozen=True)
class TrainedChunk:
    """What training a chunk has brought; without batches where subsampling left no word."""

    tokens: int  # kept tokens
    batches: BatchMetrics
    measured: BoolArray  # [S]
    pairs: Float64Array  # [S]
    seconds_preparing: float
    seconds_stepping: float


_NONE = np.zeros(0, np.float32)
NOTHING_TRAINED = TrainedChunk(0, BatchMetrics(_NONE, _NONE, _NONE), np.zeros(0, bool), np.zeros(0), 0.0, 0.0)


def prepare(maker: BlockMaker, task: ChunkTask) -> PreparedBlock | None:
    """Return the chunk's block, or None if subsampling leaves nothing of it."""
    rng = np.random.Generator(np.random.SFC64(list(task.entropy)))
    block = maker.make(_sentences_of(maker, task), rng)
    if block is None:
        return None
    batches = len(block.pairs)
    # As if each batch asked for its rate when it began.
    rates = np.linspace(task.first_rate, task.last_rate, batches, endpoint=False).astype(np.float32)
    return PreparedBlock(block, rates, np.arange(batches) % _measured_every(maker, task) == 0)


def _measured_every(maker: BlockMaker, task: ChunkTask) -> int:
    """Return 1 if every batch is to be measured, n if every nth."""
    if task.exact_loss:
        return 1
    is_large = maker.shape.batch_tokens >= tuning.LEAST_TOKENS_FOR_RARE_LOSS
    return tuning.LOSS_EVERY_LARGE_BATCHES if is_large else tuning.LOSS_EVERY_BATCHES


def _sentences_of(maker: BlockMaker, task: ChunkTask) -> Sentences:
    if isinstance(task.content, Sentences):
        return task.content
    if maker.reader is None:
        raise ValueError(f"there is no encoded corpus to read {task.content} from")
    return maker.reader.read(task.content)

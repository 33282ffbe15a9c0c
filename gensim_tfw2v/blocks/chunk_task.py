"""A chunk of corpus with all that training it depends on → its block, the rate of each batch, what came of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import BoolArray, Float32Array, Float64Array, Int32Array
from gensim_tfw2v.blocks.batches import Block, BlockMaker
from gensim_tfw2v.corpus.cache import Sentences
from gensim_tfw2v.corpus.shards import Span


@dataclass(frozen=True)
class ChunkWork:
    """Whole sentences to train on. Whoever prepares the same work with the same maker gets the same block."""

    ids: Int32Array
    sentence_lengths: Int32Array
    entropy: tuple[int, ...]  # of this chunk's random numbers
    first_rate: float  # learning rates when the chunk begins and ends
    last_rate: float
    exact_loss: bool  # measure every batch
    span: Span | None = None  # where the sentences are in an encoded corpus, instead of ids and their lengths


@dataclass(frozen=True)
class PreparedBlock:
    """A block with what its S batches are trained by."""

    block: Block
    learning_rates: Float32Array  # [S]
    measured: BoolArray  # [S]


@dataclass(frozen=True)
class TrainedChunk:
    """What training a chunk has brought; without batches where subsampling left no word."""

    tokens: int  # kept tokens
    losses: Float32Array  # [S], summed over each batch; 0 where it was not measured
    touched_rows: Float32Array  # [S], rows that took a bounded step
    clipped_rows: Float32Array  # [S], those whose step was shortened
    measured: BoolArray  # [S]
    pairs: Float64Array  # [S]
    seconds_preparing: float
    seconds_stepping: float


_NONE = np.zeros(0, np.float32)
NOTHING_TRAINED = TrainedChunk(0, _NONE, _NONE, _NONE, np.zeros(0, bool), np.zeros(0), 0.0, 0.0)


def prepare(maker: BlockMaker, work: ChunkWork) -> PreparedBlock | None:
    """Return the chunk's block, or None if subsampling leaves nothing of it."""
    rng = np.random.Generator(np.random.SFC64(list(work.entropy)))
    sentences = _sentences_of(maker, work)
    block = maker.make(sentences.ids, sentences.lengths, rng)
    if block is None:
        return None
    batches = len(block.pairs)
    # As if each batch asked for its rate when it began.
    rates = np.linspace(work.first_rate, work.last_rate, batches, endpoint=False).astype(np.float32)
    return PreparedBlock(block, rates, np.arange(batches) % _measured_every(maker, work) == 0)


def _measured_every(maker: BlockMaker, work: ChunkWork) -> int:
    """Return 1 if every batch is to be measured, n if every nth."""
    if work.exact_loss:
        return 1
    is_large = maker.shape.batch_tokens >= tuning.LEAST_TOKENS_FOR_RARE_LOSS
    return tuning.LOSS_EVERY_LARGE_BATCHES if is_large else tuning.LOSS_EVERY_BATCHES


def _sentences_of(maker: BlockMaker, work: ChunkWork) -> Sentences:
    if work.span is None:
        return Sentences(work.ids, work.sentence_lengths)
    if maker.reader is None:
        raise ValueError(f"there is no encoded corpus to read {work.span} from")
    return maker.reader.read(work.span)

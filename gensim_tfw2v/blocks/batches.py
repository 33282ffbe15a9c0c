"""Ids of whole sentences → a block: batches of subsampled token runs with windows, negatives and tree nodes.

A block is cut into S batches of R runs of B consecutive kept tokens. A run's contexts are the run itself widened by
`window` tokens on both sides, so that a token's rows are gathered once for all the pairs it takes part in. Every
array has a fixed number of axes and no fixed size: one graph serves all blocks.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array, Float64Array, Int32Array
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths, huffman_paths
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import ShardReader


class Windows(str, enum.Enum):
    """Which of the places around a token are its contexts, so far as its sentence has them."""

    FIXED = "fixed"  # all within the window
    DRAWN = "drawn"  # those within a radius of 1 to the window, drawn for each token
    MEAN = "mean"  # all within the window, each counting for the share of those radii that reach it


@dataclass(frozen=True)
class BatchShape:
    """How kept tokens are cut into batches and runs."""

    batch_tokens: int  # tokens whose gradients are computed from the same version of the tables
    run_tokens: int  # B, consecutive tokens that share contexts and negatives
    shared_negatives: int  # K, negatives that a run is trained with

    def cut(self, tokens: int) -> tuple[int, int]:
        """Return the number of batches and of runs a batch that hold `tokens` with the least padding."""
        batches = max(1, -(-tokens // self.batch_tokens))
        return batches, max(1, -(-tokens // (batches * self.run_tokens)))


@dataclass(frozen=True)
class Block:
    """A chunk of corpus, ready for the graph. P = B + 2 * window."""

    left: Int32Array  # [S, R, B], contexts each token has before it
    right: Int32Array  # [S, R, B], contexts each token has after it
    input_ids: Int32Array  # skip-gram [S, R, B], the run; CBOW [S, R, P], the widened run
    candidate_ids: Int32Array | None  # output rows that a run shares: skip-gram [S, R, P + K], CBOW [S, R, K]
    target_ids: Int32Array | None  # CBOW with negative sampling [S, R, B], output rows of the run's words
    tree: HuffmanPaths | None  # hierarchical softmax: down the tree to the words [S, R, P] of the widened run
    window: int  # widest reach in this block
    tokens: int  # kept tokens
    pairs: Float64Array  # [S], (centre, context) pairs for skip-gram, trained targets for CBOW


@dataclass(frozen=True)
class BlockMaker:
    """Turns sentences of ids into blocks. Holds settings and tables only: the same arguments give the same block."""

    skip_gram: bool
    window: int
    windows: Windows
    shape: BatchShape
    keep: Float32Array | None
    negatives: NegativeSampler | None
    tree: HuffmanTree | None
    negative_pool: int | None = None
    """Draw a block's negatives out of so many draws, so that a block touches fewer rows of the output table."""
    reader: ShardReader | None = None
    """What reads the sentences of blocks that are spans of an encoded corpus."""

    def make(self, sentences: Sentences, rng: np.random.Generator) -> Block | None:
        """Return the block of these sentences, or None if subsampling leaves nothing."""
        kept, lengths = subsample(sentences, self.keep, rng)
        if not len(kept):
            return None
        left, right = draw_windows(lengths, self.window, self.windows is Windows.DRAWN, rng)
        window = self._reach(left, right)
        batches, runs = self.shape.cut(len(kept))
        grid = (batches, runs, self.shape.run_tokens)
        run_ids, left, right = (_pad_to(array, grid) for array in (kept, left, right))
        wide_ids = _widen(kept, grid, window)
        candidates = None
        if self.negatives is not None:
            drawn = self._draw(self.negatives, rng, batches * runs * self.shape.shared_negatives)
            candidates = drawn.reshape(batches, runs, -1)
            if self.skip_gram:
                candidates = np.concatenate([wide_ids, candidates], axis=2)
        return Block(
            left=left,
            right=right,
            input_ids=run_ids if self.skip_gram else wide_ids,
            candidate_ids=candidates,
            target_ids=None if self.skip_gram or self.negatives is None else run_ids,
            tree=None if self.tree is None else huffman_paths(wide_ids, self.tree),
            window=window,
            tokens=len(kept),
            pairs=self._pairs(left, right, window).reshape(batches, -1).sum(axis=1, dtype=np.float64),
        )

    def _draw(self, negatives: NegativeSampler, rng: np.random.Generator, size: int) -> Int32Array:
        if self.negative_pool is None or size <= self.negative_pool:
            return negatives.draw(rng, size)
        pool = negatives.draw(rng, self.negative_pool)
        return pool[rng.integers(0, len(pool), size, dtype=np.int32)]

    def _pairs(self, left: Int32Array, right: Int32Array, reach: int) -> Int32Array | Float32Array:
        """Return how many pairs each token is trained with, none of them wider than `reach`."""
        if not self.skip_gram:
            return (left + right > 0).astype(np.int32)
        if self.windows is not Windows.MEAN:
            return left + right
        # Of the radii 1 to W, W + 1 - d reach the distance d.
        shares = 1 - np.arange(reach) / self.window
        expected = np.pad(np.cumsum(shares), (1, 0)).astype(np.float32)
        return expected[left] + expected[right]

    def _reach(self, left: Int32Array, right: Int32Array) -> int:
        """Return how far runs are widened: the window, or less where short sentences leave a wide one unused."""
        if self.window <= tuning.LOOKUP_WINDOW:
            return self.window
        return max(1, int(np.max(left)), int(np.max(right)))


def subsample(
    sentences: Sentences, keep: Float32Array | None, rng: np.random.Generator
) -> tuple[Int32Array, Int32Array]:
    """Return the ids that stay and the number that stays of each sentence."""
    ids, lengths = sentences.ids, sentences.lengths
    if keep is None:
        return ids, lengths
    stays = rng.random(len(ids), dtype=np.float32) < keep[ids]
    kept_before = np.concatenate([np.zeros(1, np.int32), np.cumsum(stays, dtype=np.int32)])
    ends = np.cumsum(lengths)
    return np.compress(stays, ids), kept_before[ends] - kept_before[ends - lengths]


def draw_windows(
    sentence_lengths: Int32Array, window: int, shrink: bool, rng: np.random.Generator
) -> tuple[Int32Array, Int32Array]:
    """Return how many contexts each token takes to its left and right, within its sentence."""
    lengths = sentence_lengths[sentence_lengths > 0]
    total = int(lengths.sum())
    starts = np.repeat((np.cumsum(lengths) - lengths).astype(np.int32), lengths)
    before = np.arange(total, dtype=np.int32) - starts
    after = np.repeat(lengths.astype(np.int32), lengths) - before - 1
    radius = rng.integers(1, window + 1, total, dtype=np.int32) if shrink else np.int32(window)
    return np.minimum(radius, before), np.minimum(radius, after)


def _pad_to(values: Int32Array, grid: tuple[int, int, int]) -> Int32Array:
    """Return `values` in the shape of `grid`, filled up with zeros: word 0 without contexts trains nothing."""
    padded = np.zeros(grid, dtype=np.int32)
    padded.reshape(-1)[: len(values)] = values
    return padded


def _widen(kept: Int32Array, grid: tuple[int, int, int], window: int) -> Int32Array:
    """Return each run with `window` tokens more on both sides; no mask lets through what stands beyond the ends."""
    batches, runs, run_tokens = grid
    # Overlapping slices of one line of words are copied many times faster than places are looked up one by one.
    line = np.pad(kept, (window, batches * runs * run_tokens - len(kept) + window), mode="edge")
    return sliding_window_view(line, run_tokens + 2 * window)[::run_tokens].reshape(batches, runs, -1)

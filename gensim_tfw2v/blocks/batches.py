"""Ids of whole sentences → a block: batches of subsampled token runs with windows, negatives and Huffman paths.

A block is cut into S batches of R runs of B consecutive tokens. The contexts of a run are in the widened run, which has
`window` tokens more on both sides, so that a row is gathered once for all pairs of its token. Every array has a fixed
number of axes but no fixed size, so that one graph trains all blocks.
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
    """Which places around a token are its contexts, if its sentence has them."""

    FIXED = "fixed"  # all within the window
    DRAWN = "drawn"  # all within a radius that is drawn for each token, from 1 to the window
    MEAN = "mean"  # all within the window, weighted by the share of these radii that reach them


@dataclass(frozen=True)
class BatchShape:
    """How tokens are cut into batches and runs."""

    batch_tokens: int  # tokens whose gradients are computed from the same version of the vectors
    run_tokens: int  # B, consecutive tokens that share contexts and negatives
    shared_negatives: int  # K, negatives of a run

    def cut(self, tokens: int) -> tuple[int, int]:
        """Return how many batches, and runs in each, hold `tokens` with the least padding."""
        batches = max(1, -(-tokens // self.batch_tokens))
        return batches, max(1, -(-tokens // (batches * self.run_tokens)))


@dataclass(frozen=True)
class Block:
    """The arrays made of a chunk, ready for the graph. P = B + 2 * window."""

    left: Int32Array  # [S, R, B], contexts before each token
    right: Int32Array  # [S, R, B], contexts after each token
    input_ids: Int32Array  # skip-gram [S, R, B], the run; CBOW [S, R, P], the widened run
    candidate_ids: Int32Array | None  # output rows shared by a run: skip-gram [S, R, P + K], CBOW [S, R, K]
    target_ids: Int32Array | None  # CBOW with negative sampling [S, R, B], output rows of the run's words
    tree: HuffmanPaths | None  # hierarchical softmax: Huffman paths of the words [S, R, P] of the widened run
    window: int  # tokens that a run is widened by on each side
    tokens: int  # without padding
    pairs: Float64Array  # [S], pairs of tokens and contexts for skip-gram, trained targets for CBOW


@dataclass(frozen=True)
class BlockMaker:
    """Makes blocks of sentences. It holds only settings and tables: the same arguments give the same block."""

    skip_gram: bool
    window: int
    windows: Windows
    shape: BatchShape
    keep: Float32Array | None
    negatives: NegativeSampler | None
    tree: HuffmanTree | None
    negative_pool: int | None = None
    """If set, a block's negatives come from a pool of this many draws, so that the block touches fewer output rows."""
    reader: ShardReader | None = None
    """Reads the sentences of chunks that are spans of an encoded corpus."""

    def make(self, sentences: Sentences, rng: np.random.Generator) -> Block | None:
        """Return the block of these sentences, or None if subsampling keeps no token."""
        kept = subsample(sentences, self.keep, rng)
        tokens = len(kept.ids)
        if not tokens:
            return None
        left, right = draw_windows(kept.lengths, self.window, self.windows is Windows.DRAWN, rng)
        window = self._reach(left, right)
        batches, runs = self.shape.cut(tokens)
        grid = (batches, runs, self.shape.run_tokens)
        run_ids, left, right = (_pad_to(array, grid) for array in (kept.ids, left, right))
        wide_ids = _widen(kept.ids, grid, window)
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
            tokens=tokens,
            pairs=self._pairs(left, right, window).reshape(batches, -1).sum(axis=1, dtype=np.float64),
        )

    def _draw(self, negatives: NegativeSampler, rng: np.random.Generator, size: int) -> Int32Array:
        if self.negative_pool is None or size <= self.negative_pool:
            return negatives.draw(rng, size)
        pool = negatives.draw(rng, self.negative_pool)
        return pool[rng.integers(0, len(pool), size, dtype=np.int32)]

    def _pairs(self, left: Int32Array, right: Int32Array, reach: int) -> Int32Array | Float32Array:
        """Return the number of pairs of each token, whose contexts are at most `reach` away."""
        if not self.skip_gram:
            return (left + right > 0).astype(np.int32)
        if self.windows is not Windows.MEAN:
            return left + right
        # W + 1 - d of the radii 1 to W reach the distance d.
        shares = 1 - np.arange(reach) / self.window
        expected = np.pad(np.cumsum(shares), (1, 0)).astype(np.float32)
        return expected[left] + expected[right]

    def _reach(self, left: Int32Array, right: Int32Array) -> int:
        """Return how many tokens runs are widened by: the window, or less if no context is that far away."""
        if self.window <= tuning.LOOKUP_WINDOW:
            return self.window
        return max(1, int(np.max(left)), int(np.max(right)))


def subsample(sentences: Sentences, keep: Float32Array | None, rng: np.random.Generator) -> Sentences:
    """Return the sentences with each word kept at its probability, or whole if `keep` is None."""
    if keep is None:
        return sentences
    return sentences.select(rng.random(len(sentences.ids), dtype=np.float32) < keep[sentences.ids])


def draw_windows(
    sentence_lengths: Int32Array, window: int, shrink: bool, rng: np.random.Generator
) -> tuple[Int32Array, Int32Array]:
    """Return the number of contexts to the left and right of each token, within its sentence."""
    lengths = sentence_lengths[sentence_lengths > 0]
    total = int(lengths.sum())
    starts = np.repeat((np.cumsum(lengths) - lengths).astype(np.int32), lengths)
    before = np.arange(total, dtype=np.int32) - starts
    after = np.repeat(lengths.astype(np.int32), lengths) - before - 1
    radius = rng.integers(1, window + 1, total, dtype=np.int32) if shrink else np.int32(window)
    return np.minimum(radius, before), np.minimum(radius, after)


def _pad_to(values: Int32Array, grid: tuple[int, int, int]) -> Int32Array:
    """Return `values` in the shape of `grid`, padded with zeros: word 0 without contexts trains nothing."""
    padded = np.zeros(grid, dtype=np.int32)
    padded.reshape(-1)[: len(values)] = values
    return padded


def _widen(kept: Int32Array, grid: tuple[int, int, int], window: int) -> Int32Array:
    """Return the widened runs. Places beyond the ends of the block are no contexts of any token."""
    batches, runs, run_tokens = grid
    # Copying overlapping slices of one line of ids is many times faster than looking up every place.
    line = np.pad(kept, (window, batches * runs * run_tokens - len(kept) + window), mode="edge")
    return sliding_window_view(line, run_tokens + 2 * window)[::run_tokens].reshape(batches, runs, -1)

"""Ids of whole sentences → a block: batches of subsampled token runs with windows, negatives and Huffman paths.

A block is cut into S batches of R runs of B consecutive tokens. The contexts of a run are in the widened run, which has
`window` tokens more on both sides, so that a row is gathered once for all pairs of its token. Every array has a fixed
number of axes but no fixed size, so that one graph trains all blocks.
"""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass, replace

import numpy as np

from gensim_tfw2v.arrays import Float32Array, Float64Array, Int32Array, aligned_empty
from gensim_tfw2v.blocks.bags import Bags, distinct_ids
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths, huffman_paths
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import ShardReader
from gensim_tfw2v.native.functions import call
from gensim_tfw2v.native.random_numbers import RandomNumbers

Grid = tuple[int, int, int]  # batches of a block, runs of a batch, tokens of a run


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
    # Skip-gram [S, R, B], the run; CBOW [S, R, P], the widened run. With bags, their numbers instead of rows.
    input_ids: Int32Array
    candidate_ids: Int32Array | None  # output rows shared by a run: skip-gram [S, R, P + K], CBOW [S, R, K]
    target_ids: Int32Array | None  # CBOW with negative sampling [S, R, B], output rows of the run's words
    tree: HuffmanPaths | None  # hierarchical softmax: Huffman paths of the words [S, R, P] of the widened run
    window: int  # tokens that a run is widened by on each side
    tokens: int  # without padding
    # [S], pairs of tokens and contexts for skip-gram, trained targets for CBOW; those of weight w count as w
    pairs: Float64Array
    weights: Float32Array | None = None  # [S, R, B], of the tokens' sentences; None: all are 1
    # Rows of inputs that belong together: of the words that `input_ids` number, or of the documents of `documents`.
    bags: Bags | None = None
    documents: Int32Array | None = None  # [S, R, B], bags of rows that are further contexts of a token, -1 for none
    unique_rows: Int32Array | None = None  # rows of documents that no other block trains

    def with_own_bags(self) -> Block:
        """Return the block with the bags of its own words or documents alone."""
        if self.bags is None:
            return self
        if self.documents is None:
            numbers, words = distinct_ids(self.input_ids, len(self.bags))
            return replace(self, input_ids=numbers, bags=self.bags.some(words))
        numbers, documents = distinct_ids(self.documents + 1, len(self.bags) + 1)
        none = int(documents[0] == 0)  # whether the first one stands for no document
        return replace(self, documents=numbers - np.int32(none), bags=self.bags.some(documents[none:] - 1))

    def input_rows(self) -> Int32Array:
        """Return the rows that the inputs of a block with its own bags, or without bags, consist of."""
        if self.bags is None:
            return self.input_ids
        if self.documents is None:
            return self.bags.members
        unique = np.zeros(0, np.int32) if self.unique_rows is None else self.unique_rows
        return np.concatenate([self.input_ids.reshape(-1), self.bags.members, unique])


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
    bags: Bags | None = None
    """The input rows of each word; None: a word has one, with the word's id."""
    least_widening: int = 1
    """Tokens that runs are widened by on each side, even if no window reaches so far."""

    def make(self, sentences: Sentences, random: RandomNumbers) -> Block | None:
        """Return the block of these sentences, or None if subsampling keeps no token."""
        if sentences.weights is not None:
            sentences = sentences.whole(sentences.weights > 0)  # Others would train nothing.
        kept = subsample(sentences, self.keep, random)
        return self._block(kept, random) if kept.ids.size else None

    def _block(self, kept: Sentences, random: RandomNumbers) -> Block | None:
        """Return the block of the sentences that subsampling has left, or None if it would train nothing."""
        grid = (*self.shape.cut(kept.ids.size), self.shape.run_tokens)
        left, right, farthest = draw_windows(kept, grid, self.window, self.windows is Windows.DRAWN, random)
        window = max(self.least_widening, farthest)
        candidates = self._draw_negatives(grid, random)
        weights = None if kept.weights is None else weights_of(np.repeat(kept.weights, kept.lengths), grid)
        if self.skip_gram and candidates is not None:
            candidates = _widen(kept.ids, grid, window, candidates)
        return Block(
            left=left,
            right=right,
            input_ids=pad_to(kept.ids, grid) if self.skip_gram else _widen(kept.ids, grid, window),
            candidate_ids=candidates,
            target_ids=None if self.skip_gram or self.negatives is None else pad_to(kept.ids, grid),
            tree=None if self.tree is None else paths_of(kept.ids, self.tree, grid, window),
            window=window,
            tokens=kept.ids.size,
            pairs=self._count_pairs(left, right, window, weights),
            weights=weights,
            bags=self.bags,
        )

    def _draw_negatives(self, grid: Grid, random: RandomNumbers) -> Int32Array | None:
        """Return the negatives of each run."""
        if self.negatives is None:
            return None
        batches, runs, _ = grid
        drawn = self.negatives.draw(random, batches * runs * self.shape.shared_negatives, self.negative_pool)
        return drawn.reshape(batches, runs, -1)

    def _count_pairs(
        self, left: Int32Array, right: Int32Array, farthest: int, weights: Float32Array | None
    ) -> Float64Array:
        """Return the number of pairs of each batch, whose contexts are at most `farthest` away."""
        pairs = aligned_empty(len(left), np.float64)
        is_mean = self.windows is Windows.MEAN
        expected = expected_pairs(farthest, self.window if is_mean else None) if self.skip_gram else None
        if weights is not None:
            of_tokens = (left + right > 0) if expected is None else expected[left] + expected[right]
            return np.asarray((weights * of_tokens).sum(axis=(1, 2), dtype=np.float64))
        call("count_pairs", left, right, expected, pairs)
        return pairs


def subsample(sentences: Sentences, keep: Float32Array | None, random: RandomNumbers) -> Sentences:
    """Return the sentences with each word kept at its probability, or whole if `keep` is None."""
    return sentences if keep is None else sentences.chosen_by("subsample", keep, random)


def draw_windows(
    sentences: Sentences, grid: Grid, window: int, shrink: bool, random: RandomNumbers
) -> tuple[Int32Array, Int32Array, int]:
    """Return the number of contexts to the left and right of each token, within its sentence, and the largest number.

    Padding after the last token has no contexts.
    """
    left, right = aligned_empty(grid, np.int32), aligned_empty(grid, np.int32)
    largest = call("draw_windows", sentences.lengths, sentences.ids.size, window, shrink, random, left, right)
    return left, right, largest


@functools.lru_cache(maxsize=64)
def expected_pairs(farthest: int, mean_window: int | None) -> Float32Array:
    """Return how many pairs a token is expected to have with its contexts on one side, by their number.

    Parameters
    ----------
    mean_window : int or None
        If pairs are weighted by the share of radii that reach them: the largest of these radii.
    """
    # W + 1 - d of the radii 1 to W reach the distance d.
    shares = np.ones(farthest) if mean_window is None else 1 - np.arange(farthest) / mean_window
    return np.pad(np.cumsum(shares), (1, 0)).astype(np.float32)


def pad_to(values: Int32Array, grid: Grid) -> Int32Array:
    """Return `values` in the shape of `grid`, padded with zeros: word 0 without contexts trains nothing."""
    padded = aligned_empty(grid, np.int32)
    call("pad", values, padded)
    return padded


def weights_of(weights: Float32Array, grid: Grid) -> Float32Array:
    """Return the weights of tokens in the shape of `grid`, padded with zeros."""
    padded = aligned_empty(grid, np.float32)
    call("pad", weights.view(np.int32), padded.view(np.int32))
    return padded


def _widen(values: Int32Array, grid: Grid, window: int, negatives: Int32Array | None = None) -> Int32Array:
    """Return the values of widened runs, each with the run's negatives behind them if there are any.

    Places beyond the ends of the block are no contexts of any token.
    """
    batches, runs, run_tokens = grid
    shared = 0 if negatives is None else negatives.shape[2]
    wide = aligned_empty((batches, runs, run_tokens + 2 * window + shared), np.int32)
    call("widen", values, batches * runs, run_tokens, window, negatives, wide)
    return wide


def paths_of(ids: Int32Array, tree: HuffmanTree, grid: Grid, window: int) -> HuffmanPaths:
    """Return the Huffman paths of a block's tokens, which are cut into widened runs."""
    paths = huffman_paths(ids, tree)
    return replace(paths, words=_widen(paths.words, grid, window))

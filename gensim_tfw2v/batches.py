"""Ids of whole sentences → a block: batches of subsampled token runs with windows, negatives and tree nodes.

A block is cut into S batches of R runs of B consecutive kept tokens. A run's contexts are the run itself widened by
`window` tokens on both sides, so that a token's rows are gathered once for all the pairs it takes part in. Every
array has a fixed number of axes and no fixed size: one graph serves all blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.segments import Segments, sort_into_segments
from gensim_tfw2v.vocabulary import Float32Array, HuffmanPaths, Int32Array, NegativeSampler

Int8Array = npt.NDArray[np.int8]

LOOKUP_WINDOW = 10  # up to this window the graph looks pair weights up in a table made for exactly that window


@dataclass(frozen=True)
class BatchShape:
    """How kept tokens are cut into batches and runs."""

    batch_tokens: int  # tokens whose gradients are computed from the same version of the tables
    run_tokens: int  # B, consecutive tokens that share contexts and negatives
    shared_negatives: int  # K, negatives drawn for a run

    def cut(self, tokens: int) -> tuple[int, int]:
        """Return the number of batches and of runs a batch that hold `tokens` with the least padding."""
        batches = max(1, -(-tokens // self.batch_tokens))
        return batches, max(1, -(-tokens // (batches * self.run_tokens)))


@dataclass(frozen=True)
class TreeNodes:
    """Huffman nodes that a run's target words pass, each once, and where they pass them."""

    ids: Int32Array  # [S, R, U], rows of the tree's table; unused places repeat node 0
    signs: Int8Array  # [S, R, P, U]: +1 code 0, -1 code 1, 0 not on the path of target position P
    segments: Segments


@dataclass(frozen=True)
class Block:
    """A chunk of corpus, ready for the graph. P = B + 2 * window."""

    left: Int32Array  # [S, R, B], contexts each token has before it
    right: Int32Array  # [S, R, B], contexts each token has after it
    input_ids: Int32Array  # skip-gram [S, R, B], the run; CBOW [S, R, P], the widened run
    input_segments: Segments
    candidate_ids: Int32Array | None  # output rows: skip-gram [S, R, P + K], CBOW [S, R, B + K]
    candidate_segments: Segments | None
    nodes: TreeNodes | None
    window: int  # widest reach in this block
    tokens: int  # kept tokens
    pairs: npt.NDArray[np.int64]  # [S], (centre, context) pairs for skip-gram, trained targets for CBOW


@dataclass(frozen=True)
class BlockMaker:
    """Turns sentences of ids into blocks. Holds settings and tables only: the same arguments give the same block."""

    skip_gram: bool
    window: int
    shrink_windows: bool
    shape: BatchShape
    keep: Float32Array | None
    negatives: NegativeSampler | None
    paths: HuffmanPaths | None
    negative_pool: int | None = None
    """Draw a block's negatives out of so many draws, so that a block touches fewer rows of the output table."""

    def make(self, ids: Int32Array, sentence_lengths: Int32Array, rng: np.random.Generator) -> Block | None:
        """Return the block of these sentences, or None if subsampling leaves nothing."""
        kept, lengths = subsample(ids, sentence_lengths, self.keep, rng)
        if not len(kept):
            return None
        left, right = draw_windows(lengths, self.window, self.shrink_windows, rng)
        window = self._reach(left, right)
        batches, runs = self.shape.cut(len(kept))
        grid = (batches, runs, self.shape.run_tokens)
        run_ids, left, right = (_pad_to(array, grid) for array in (kept, left, right))
        wide_ids = _widen(kept, grid, window)
        inputs, targets = (run_ids, wide_ids) if self.skip_gram else (wide_ids, run_ids)
        candidates = nodes = None
        if self.negatives is not None:
            drawn = self._draw_negatives(self.negatives, rng, batches * runs * self.shape.shared_negatives)
            candidates = np.concatenate([targets, drawn.reshape(batches, runs, -1)], axis=2)
        if self.paths is not None:
            nodes = collect_nodes(targets, self.paths)
        reach = (left + right).reshape(batches, -1)
        return Block(
            left=left,
            right=right,
            input_ids=inputs,
            input_segments=sort_into_segments(inputs.reshape(batches, -1)),
            candidate_ids=candidates,
            candidate_segments=None if candidates is None else sort_into_segments(candidates.reshape(batches, -1)),
            nodes=nodes,
            window=window,
            tokens=len(kept),
            pairs=(reach if self.skip_gram else reach > 0).sum(axis=1, dtype=np.int64),
        )

    def _draw_negatives(self, negatives: NegativeSampler, rng: np.random.Generator, size: int) -> Int32Array:
        if self.negative_pool is None or size <= self.negative_pool:
            return negatives.draw(rng, size)
        pool = negatives.draw(rng, self.negative_pool)
        return pool[rng.integers(0, len(pool), size, dtype=np.int32)]

    def _reach(self, left: Int32Array, right: Int32Array) -> int:
        """Return how far runs are widened: the window, or less where short sentences leave a wide one unused."""
        if self.window <= LOOKUP_WINDOW:
            return self.window
        return max(1, int(left.max()), int(right.max()))


def subsample(
    ids: Int32Array, sentence_lengths: Int32Array, keep: Float32Array | None, rng: np.random.Generator
) -> tuple[Int32Array, Int32Array]:
    """Return the ids that stay and the number that stays of each sentence."""
    if keep is None:
        return ids, sentence_lengths
    stays = rng.random(len(ids), dtype=np.float32) < keep[ids]
    kept_before = np.concatenate([np.zeros(1, np.int32), np.cumsum(stays, dtype=np.int32)])
    ends = np.cumsum(sentence_lengths)
    return ids[stays], kept_before[ends] - kept_before[ends - sentence_lengths]


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


def collect_nodes(targets: Int32Array, paths: HuffmanPaths) -> TreeNodes:
    """Return the distinct tree nodes of each run's `targets` [S, R, P] and the targets that pass them."""
    batches, runs, width = targets.shape
    flat = targets.reshape(-1)
    lengths = paths.lengths()[flat]
    # Entry e is one node on the path of the target at flat position `position[e]`.
    position = np.repeat(np.arange(len(flat), dtype=np.int32), lengths)
    first_entry = np.cumsum(lengths) - lengths
    source = np.arange(len(position)) + np.repeat(paths.offsets[flat] - first_entry, lengths)
    ids, column = _number_nodes(position // np.int32(width), paths.nodes[source], batches * runs)
    signs = np.zeros((len(flat), ids.shape[1]), dtype=np.int8)
    signs[position, column] = paths.signs[source]
    ids = ids.reshape(batches, runs, -1)
    return TreeNodes(
        ids=ids,
        signs=signs.reshape(batches, runs, width, -1),
        segments=sort_into_segments(ids.reshape(batches, -1)),
    )


def _number_nodes(run: Int32Array, node: Int32Array, runs: int) -> tuple[Int32Array, npt.NDArray[np.int64]]:
    """Return the distinct nodes of each run [runs, columns], filled up with node 0, and the column of each entry."""
    entries = len(run)
    if not entries:
        return np.zeros((runs, 1), np.int32), np.zeros(0, np.int64)
    entry_bits, node_bits = max(entries - 1, 1).bit_length(), max(int(node.max()), 1).bit_length()
    if entry_bits + node_bits + runs.bit_length() > 63:
        raise OverflowError(f"{entries} tree nodes of {runs} runs are too many for one block; use smaller blocks")
    # Sorting (run, node, entry) packed in one integer is several times faster than an argsort.
    key = (((run.astype(np.int64) << node_bits) | node) << entry_bits) | np.arange(entries)
    key.sort()
    entry = key & ((1 << entry_bits) - 1)
    key >>= entry_bits
    is_first = np.ones(entries, dtype=bool)
    np.not_equal(key[1:], key[:-1], out=is_first[1:])
    distinct = key[is_first]
    run_of = distinct >> node_bits
    column_of = np.arange(len(distinct)) - np.searchsorted(run_of, np.arange(runs))[run_of]
    ids = np.zeros((runs, int(column_of.max()) + 1), dtype=np.int32)
    ids[run_of, column_of] = distinct & ((1 << node_bits) - 1)
    column = np.empty(entries, dtype=np.int64)
    column[entry] = column_of[np.cumsum(is_first) - 1]
    return ids, column


def _pad_to(values: Int32Array, grid: tuple[int, int, int]) -> Int32Array:
    """Return `values` in the shape of `grid`, filled up with zeros: word 0 without contexts trains nothing."""
    padded = np.zeros(grid, dtype=np.int32)
    padded.reshape(-1)[: len(values)] = values
    return padded


def _widen(kept: Int32Array, grid: tuple[int, int, int], window: int) -> Int32Array:
    """Return each run with `window` tokens more on both sides; no mask lets through what stands beyond the ends."""
    batches, runs, run_tokens = grid
    starts = np.arange(0, batches * runs * run_tokens, run_tokens, dtype=np.int32)
    places = starts[:, None] + np.arange(-window, run_tokens + window, dtype=np.int32)
    return kept[np.clip(places, 0, len(kept) - 1)].reshape(batches, runs, -1)

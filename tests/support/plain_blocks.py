"""Blocks made in plain NumPy: the slow reference of what the package makes in C."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gensim_tfw2v.blocks.batches import Block, BlockMaker, Windows
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths
from gensim_tfw2v.corpus.sentences import Sentences


def plain_block(maker: BlockMaker, sentences: Sentences, entropy: Sequence[int]) -> Block | None:
    """Return the block of these sentences, or None if subsampling keeps no token."""
    rng = np.random.Generator(np.random.SFC64(list(entropy)))
    kept = plain_subsample(sentences, maker.keep, rng)
    tokens = len(kept.ids)
    if not tokens:
        return None
    left, right = plain_windows(kept.lengths, maker.window, maker.windows is Windows.DRAWN, rng)
    window = max(1, int(left.max()), int(right.max()))
    batches, runs = maker.shape.cut(tokens)
    grid = (batches, runs, maker.shape.run_tokens)
    run_ids, left, right = (_pad_to(array, grid) for array in (kept.ids, left, right))
    wide_ids = _widen(kept.ids, grid, window)
    candidates = None
    if maker.negatives is not None:
        size = batches * runs * maker.shape.shared_negatives
        drawn = plain_negatives(maker.negatives.cumulative, rng, size, maker.negative_pool)
        candidates = drawn.reshape(batches, runs, -1)
        if maker.skip_gram:
            candidates = np.concatenate([wide_ids, candidates], axis=2)
    return Block(
        left=left,
        right=right,
        input_ids=run_ids if maker.skip_gram else wide_ids,
        candidate_ids=candidates,
        target_ids=None if maker.skip_gram or maker.negatives is None else run_ids,
        tree=None if maker.tree is None else plain_huffman_paths(wide_ids, maker.tree),
        window=window,
        tokens=tokens,
        pairs=_pairs(maker, left, right, window).reshape(batches, -1).sum(axis=1, dtype=np.float64),
    )


def plain_subsample(sentences: Sentences, keep: np.ndarray | None, rng: np.random.Generator) -> Sentences:
    """Return the sentences with each word kept at its probability, or whole if `keep` is None."""
    if keep is None:
        return sentences
    return plain_selection(sentences, rng.random(len(sentences.ids), dtype=np.float32) < keep[sentences.ids])


def plain_selection(sentences: Sentences, kept: np.ndarray) -> Sentences:
    """Return the sentences with only the words to keep, without sentences that have none."""
    lengths = sentences.lengths[sentences.lengths > 0]
    begins = np.cumsum(lengths, dtype=np.int64) - lengths
    kept_lengths = np.add.reduceat(kept, begins, dtype=np.int32)
    return Sentences(np.compress(kept, sentences.ids), kept_lengths[kept_lengths > 0])


def plain_windows(
    sentence_lengths: np.ndarray, window: int, shrink: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of contexts to the left and right of each token, within its sentence."""
    lengths = sentence_lengths[sentence_lengths > 0]
    total = int(lengths.sum())
    starts = np.repeat((np.cumsum(lengths) - lengths).astype(np.int32), lengths)
    before = np.arange(total, dtype=np.int32) - starts
    after = np.repeat(lengths.astype(np.int32), lengths) - before - 1
    radius = rng.integers(1, window + 1, total, dtype=np.int32) if shrink else np.int32(window)
    return np.minimum(radius, before), np.minimum(radius, after)


def plain_negatives(cumulative: np.ndarray, rng: np.random.Generator, size: int, pool: int | None = None) -> np.ndarray:
    """Return `size` ids drawn from a distribution, or from a pool of so many of its draws."""
    if pool is not None and size > pool:
        return plain_negatives(cumulative, rng, pool)[rng.integers(0, pool, size, dtype=np.int32)]
    uniform = (np.arange(size) + rng.random(size)) * (float(cumulative[-1]) / size)
    drawn = np.searchsorted(cumulative, uniform.astype(np.uint32), side="left").astype(np.int32)
    rng.shuffle(drawn)
    return drawn


def plain_huffman_paths(words: np.ndarray, tree: HuffmanTree) -> HuffmanPaths:
    """Return the Huffman paths of words, given by their ids."""
    distinct, numbers = np.unique(words, return_inverse=True)
    paths = [slice(*tree.offsets[word : word + 2].tolist()) for word in distinct]
    none = np.zeros(0, np.int32)
    return HuffmanPaths(
        words=numbers.reshape(words.shape).astype(np.int32),
        nodes=np.concatenate([none, *(tree.nodes[path] for path in paths)]),
        codes=np.concatenate([none, *(tree.codes[path] for path in paths)]).astype(np.int32),
        offsets=np.cumsum([0, *(path.stop - path.start for path in paths)], dtype=np.int32),
    )


def _pairs(maker: BlockMaker, left: np.ndarray, right: np.ndarray, reach: int) -> np.ndarray:
    """Return the number of pairs of each token, whose contexts are at most `reach` away."""
    if not maker.skip_gram:
        return (left + right > 0).astype(np.int32)
    if maker.windows is not Windows.MEAN:
        return left + right
    shares = 1 - np.arange(reach) / maker.window
    expected = np.pad(np.cumsum(shares), (1, 0)).astype(np.float32)
    return expected[left] + expected[right]


def _pad_to(values: np.ndarray, grid: tuple[int, int, int]) -> np.ndarray:
    padded = np.zeros(grid, dtype=np.int32)
    padded.reshape(-1)[: len(values)] = values
    return padded


def _widen(kept: np.ndarray, grid: tuple[int, int, int], window: int) -> np.ndarray:
    """Return the widened runs. Places beyond the ends have the first and the last word."""
    batches, runs, run_tokens = grid
    line = np.pad(kept, (window, batches * runs * run_tokens - len(kept) + window), mode="edge")
    return sliding_window_view(line, run_tokens + 2 * window)[::run_tokens].reshape(batches, runs, -1)

"""A chunk's words and the seeds of its draws → the tensors of its block.

The draws have the distributions of `gensim_tfw2v.blocks.batches.BlockMaker`, and other random numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps.draws.grid import TokenGrid, cut
from gensim_tfw2v.steps.draws.negatives import draw_negatives
from gensim_tfw2v.steps.draws.signature import ChunkTensors, DrawTables
from gensim_tfw2v.steps.draws.streams import Purpose
from gensim_tfw2v.steps.draws.subsampling import subsample
from gensim_tfw2v.steps.draws.windows import count_pairs, draw_reaches
from gensim_tfw2v.steps.signature import NO_BAGS, BlockTensors, HuffmanPaths, Objective


class DrawnBlock(NamedTuple):
    """A block, and what there is to count in it."""

    block: BlockTensors  # ids and numbers of contexts are int64
    tokens: tf.Tensor  # int32, without padding
    pairs: tf.Tensor  # float64 [S]


def draw_block(
    objective: Objective, chunk: ChunkTensors, tables: DrawTables, seeds: tf.Tensor, shared_negatives: tf.Tensor
) -> DrawnBlock:
    """Return the block that these seeds [3, 2] draw."""
    kept = subsample(chunk, tables.keep, seeds[Purpose.SUBSAMPLING], objective.weighted)
    grid = cut(tf.size(kept.ids), tables.batch_tokens, tables.run_tokens)
    left, right = map(grid.padded, draw_reaches(kept, tables, seeds[Purpose.RADII]))
    ids = grid.padded(kept.ids)
    weights = grid.padded(kept.weights) if objective.weighted else None
    window = tf.cast(tf.maximum(tf.reduce_max(tf.maximum(left, right)), 1), tf.int32)
    wide = grid.widened(ids, window)
    none = tf.zeros([0, 0, 0], tf.int64)
    negatives = none
    if objective.negative_sampling:
        negatives = _negatives_of_runs(grid, tables, seeds[Purpose.NEGATIVES], shared_negatives)
    in_skip_gram = objective.skip_gram and objective.negative_sampling
    block = BlockTensors(
        left=left,
        right=right,
        inputs=ids if objective.skip_gram else wide,
        candidates=tf.concat([wide, negatives], -1) if in_skip_gram else negatives,
        targets=ids if objective.negative_sampling and not objective.skip_gram else none,
        tree=_paths(tables.tree, wide if objective.hierarchical_softmax else none),
        window=window,
        weights=tf.zeros([0, 0, 0]) if weights is None else weights,
        bags=NO_BAGS,
        documents=tf.zeros([0, 0, 0], tf.int32),
    )
    expected_pairs = tables.expected_pairs if objective.skip_gram else None
    return DrawnBlock(block, grid.tokens, count_pairs(left, right, weights, expected_pairs))


def _negatives_of_runs(grid: TokenGrid, tables: DrawTables, seed: tf.Tensor, shared_negatives: tf.Tensor) -> tf.Tensor:
    """Return the negatives of each run [S, R, K]."""
    shape = tf.stack([grid.batches, grid.runs, shared_negatives])
    return tf.reshape(draw_negatives(tables.cumulative, tf.reduce_prod(shape), seed), shape)


def _paths(tree: HuffmanPaths, words: tf.Tensor) -> HuffmanPaths:
    """Return the paths of words [S, R, P]. All words of the vocabulary have theirs, so a word's number is its id."""
    return tree._replace(words=tf.cast(words, tf.int32))

"""A block maker, a chunk's sentences and its task → the arguments of the graph that draws and trains its block."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker, Windows, expected_pairs
from gensim_tfw2v.blocks.chunk_task import ChunkTask, measure_every
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.steps.draws.signature import ChunkSchedule, ChunkTensors, DrawTables
from gensim_tfw2v.steps.draws.streams import seeds_of
from gensim_tfw2v.steps.signature import HuffmanPaths


def chunk_tensors(sentences: Sentences) -> ChunkTensors:
    """Return a chunk's sentences as arrays for the graph."""
    ends = np.cumsum(sentences.lengths, dtype=np.int32)
    weights = np.zeros(0, np.float32) if sentences.weights is None else sentences.weights
    return ChunkTensors(sentences.ids.view(np.float32), ends.view(np.float32), weights)


def chunk_schedule(maker: BlockMaker, task: ChunkTask) -> ChunkSchedule:
    """Return what else the graph needs for a chunk."""
    return ChunkSchedule(
        seeds=seeds_of(task.entropy),
        learning_rates=np.array([task.first_rate, task.last_rate], np.float64),
        measure_every=np.int32(measure_every(maker, task)),
    )


def draw_tables(maker: BlockMaker) -> DrawTables:
    """Return what the draws of a training depend on, as arrays for the graph."""
    negatives = maker.negatives
    return DrawTables(
        keep=np.ones(1, np.float32) if maker.keep is None else maker.keep,
        cumulative=np.zeros(0, np.int64) if negatives is None else negatives.cumulative.astype(np.int64),
        tree=_paths_of_all_words(maker.tree),
        expected_pairs=_expected_pairs(maker),
        batch_tokens=np.int32(maker.shape.batch_tokens),
        run_tokens=np.int32(maker.shape.run_tokens),
        window=np.int32(maker.window),
        least_radius=np.int32(1 if maker.windows is Windows.DRAWN else maker.window),
    )


def _expected_pairs(maker: BlockMaker) -> Float32Array:
    return expected_pairs(maker.window, maker.window if maker.windows is Windows.MEAN else None)


def _paths_of_all_words(tree: HuffmanTree | None) -> HuffmanPaths:
    no_words = np.zeros((0, 0, 0), np.int32)
    if tree is None:
        return HuffmanPaths(no_words, *(np.zeros(0, np.int32) for _ in range(3)))
    return HuffmanPaths(no_words, tree.nodes, tree.codes.astype(np.int32), tree.offsets)

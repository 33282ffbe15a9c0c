"""The tensors from which a graph draws the block of a chunk.

TensorFlow keeps int32 arguments of a graph in the memory of the CPU, also if the graph runs on a GPU. So whole numbers
of words travel as the float32 numbers with the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from gensim_tfw2v.steps.signature import HUFFMAN_PATHS, HuffmanPaths


class ChunkTensors(NamedTuple):
    """The sentences of a chunk. The first two are whole numbers, as float32 with the same bits."""

    words: tf.Tensor  # [n], ids
    ends: tf.Tensor  # [m], words up to the end of each sentence
    weights: tf.Tensor  # [m], of sentences; empty if all are 1


class ChunkSchedule(NamedTuple):
    """What changes from chunk to chunk besides the sentences."""

    seeds: tf.Tensor  # int32 [3, 2], one for each `Purpose`
    learning_rates: tf.Tensor  # float64 [2], when the chunk begins and when it ends
    measure_every: tf.Tensor  # the loss of every so many batches is measured, 0: of none


class DrawTables(NamedTuple):
    """What draws depend on in all chunks of a training; what an objective does not use is empty."""

    keep: tf.Tensor  # [V], probability that subsampling keeps each word; [1] if all words have the same
    cumulative: tf.Tensor  # int64 [V], as in `gensim_tfw2v.blocks.sampling.NegativeSampler`
    tree: HuffmanPaths  # of all words; its own `words` are empty
    expected_pairs: tf.Tensor  # [window + 1], of a token, by the number of its contexts on one side
    batch_tokens: tf.Tensor
    run_tokens: tf.Tensor
    window: tf.Tensor
    least_radius: tf.Tensor  # of the radii that are drawn, which end with the window


def _scalar(number_type: tf.DType) -> tf.TensorSpec:
    return tf.TensorSpec([], number_type)


def _vector(number_type: tf.DType) -> tf.TensorSpec:
    return tf.TensorSpec([None], number_type)


CHUNK = ChunkTensors(_vector(tf.float32), _vector(tf.float32), _vector(tf.float32))
SCHEDULE = ChunkSchedule(tf.TensorSpec([3, 2], tf.int32), tf.TensorSpec([2], tf.float64), _scalar(tf.int32))
DRAW_TABLES = DrawTables(
    _vector(tf.float32), _vector(tf.int64), HUFFMAN_PATHS, _vector(tf.float32), *[_scalar(tf.int32)] * 4
)

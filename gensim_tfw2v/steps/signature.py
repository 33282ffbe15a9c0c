"""The arguments of the graph that trains a block: the objective that shapes it, and its tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import tensorflow as tf


@dataclass(frozen=True)
class Objective:
    """The settings that decide the shape of the graph: each combination has a trace of its own."""

    skip_gram: bool
    negative_sampling: bool
    hierarchical_softmax: bool
    mean_context: bool  # CBOW averages its contexts; otherwise it sums them
    mask_accidental_hits: bool  # negatives often equal their own target and must be masked
    bfloat16_products: bool = False  # matrix products are of bfloat16; tables and everything else are float32
    even_contexts: bool = False  # CBOW's contexts of a token have the same weight, and running sums add them
    weighted: bool = False  # tokens have the weights of their sentences
    adagrad: bool = False  # rows end with Adagrad's state, which decides how they step
    freezes_inputs: bool = False  # no step changes input vectors, except those of documents
    freezes_outputs: bool = False  # no step changes output vectors, nor nodes
    bags: bool = False  # inputs are bags of rows, such as a word and its n-grams
    documents: bool = False  # a CBOW token has the rows of its document besides those of its contexts
    concatenated: bool = False  # all these rows are concatenated; outputs and nodes are as long

    def tables(self) -> list[int]:
        """Return which of inputs, outputs and nodes the steps read."""
        used = [True, self.negative_sampling, self.hierarchical_softmax]
        return [number for number, is_used in enumerate(used) if is_used]

    def moved_tables(self) -> list[int]:
        """Return which of inputs, outputs and nodes the steps change: those that are not frozen."""
        frozen = [self.freezes_inputs and not self.documents, self.freezes_outputs, self.freezes_outputs]
        return [number for number in self.tables() if not frozen[number]]


class HuffmanPaths(NamedTuple):
    """The tensors of `gensim_tfw2v.blocks.huffman_paths.HuffmanPaths`."""

    words: tf.Tensor
    nodes: tf.Tensor
    codes: tf.Tensor
    offsets: tf.Tensor


class Bags(NamedTuple):
    """The tensors of `gensim_tfw2v.blocks.bags.Bags`."""

    members: tf.Tensor
    offsets: tf.Tensor


class BlockTensors(NamedTuple):
    """The tensors of `gensim_tfw2v.blocks.batches.Block`; what an objective does not use is empty."""

    left: tf.Tensor
    right: tf.Tensor
    inputs: tf.Tensor
    candidates: tf.Tensor
    targets: tf.Tensor
    tree: HuffmanPaths
    window: tf.Tensor
    weights: tf.Tensor
    bags: Bags
    documents: tf.Tensor


class Tables(NamedTuple):
    """Resource handles of float32 variables [rows, vector size], with a column more where rows have a state."""

    inputs: tf.Tensor
    outputs: tf.Tensor
    nodes: tf.Tensor


class Rates(NamedTuple):
    """The rates and factors that scale the steps."""

    learning_rates: tf.Tensor  # [S]
    max_step: tf.Tensor  # longest step of a row
    lock_factors: tf.Tensor  # gensim's vectors_lockf: input row r moves by factor[r % size]
    negative: tf.Tensor  # negatives expected for each pair
    shared_negatives: tf.Tensor  # K
    measured: tf.Tensor  # [S] bool: batches whose loss is computed
    radius_chance: tf.Tensor  # chance of each radius except the widest; 0 if the block has drawn a radius per token


NO_BAGS = Bags(np.zeros(0, np.int32), np.zeros(0, np.int32))


def _int(rank: int) -> tf.TensorSpec:
    return tf.TensorSpec([None] * rank, tf.int32)


def _float(rank: int) -> tf.TensorSpec:
    return tf.TensorSpec([None] * rank, tf.float32)


HUFFMAN_PATHS = HuffmanPaths(_int(3), _int(1), _int(1), _int(1))
BAGS = Bags(_int(1), _int(1))
_HANDLE = tf.TensorSpec([], tf.resource)
SIGNATURE = (
    Tables(_HANDLE, _HANDLE, _HANDLE),
    BlockTensors(_int(3), _int(3), _int(3), _int(3), _int(3), HUFFMAN_PATHS, _int(0), _float(3), BAGS, _int(3)),
    Rates(_float(1), _float(0), _float(1), _float(0), _int(0), tf.TensorSpec([None], tf.bool), _float(0)),
    _int(1),
)

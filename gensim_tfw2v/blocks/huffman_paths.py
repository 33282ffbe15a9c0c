"""Words of a block → the tree nodes on the Huffman path of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Int32Array, aligned_empty
from gensim_tfw2v.blocks.bags import distinct_ids
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.native.functions import call


@dataclass(frozen=True)
class HuffmanPaths:
    """The Huffman paths of a block's words.

    The block's distinct words are numbered in the order of their ids. The path of number `n` has the nodes
    ``nodes[offsets[n]:offsets[n + 1]]`` and takes the branches `codes` there.
    """

    words: Int32Array  # numbers, in the shape of the words that were given
    nodes: Int32Array  # [sum of path lengths]
    codes: Int32Array  # [sum of path lengths]
    offsets: Int32Array  # [distinct words + 1]


def huffman_paths(words: Int32Array, tree: HuffmanTree) -> HuffmanPaths:
    """Return the Huffman paths of words, given by their ids."""
    numbers, distinct = distinct_ids(words, len(tree.offsets) - 1)
    offsets = aligned_empty(distinct.size + 1, np.int32)
    steps = call("path_offsets", distinct, tree.offsets, tree.nodes.size, offsets)
    nodes, codes = aligned_empty(steps, np.int32), aligned_empty(steps, np.int32)
    call("copy_paths", distinct, tree.offsets, tree.nodes, tree.codes, nodes, codes)
    return HuffmanPaths(numbers, nodes, codes, offsets)

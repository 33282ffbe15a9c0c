"""Words of a block → the tree nodes on the Huffman path of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.blocks.huffman import HuffmanTree


@dataclass(frozen=True)
class HuffmanPaths:
    """The Huffman paths of a block's words.

    The block's distinct words are numbered. The path of number `n` has the nodes ``nodes[offsets[n]:offsets[n + 1]]``
    and takes the branches `codes` there.
    """

    words: Int32Array  # numbers, in the shape of the words that were given
    nodes: Int32Array  # [sum of path lengths]
    codes: Int32Array  # [sum of path lengths]
    offsets: Int32Array  # [distinct words + 1]


def huffman_paths(words: Int32Array, tree: HuffmanTree) -> HuffmanPaths:
    """Return the Huffman paths of words, given by their ids."""
    distinct, numbers = _numbered(words)
    lengths = tree.path_lengths()[distinct]
    offsets = _offsets(lengths)
    places = np.arange(offsets[-1], dtype=np.int32) + np.repeat(tree.offsets[distinct] - offsets[:-1], lengths)
    return HuffmanPaths(numbers, tree.nodes[places], tree.codes[places].astype(np.int32), offsets)


def _numbered(ids: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the distinct ids in ascending order, and for every id its number among them."""
    # An array indexed by id takes a fraction of the time of sorting the ids.
    is_there = np.zeros(int(np.max(ids, initial=-1)) + 1, dtype=bool)
    is_there[ids] = True
    distinct = np.flatnonzero(is_there).astype(np.int32)
    number = np.empty(len(is_there), dtype=np.int32)
    number[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, number[ids]


def _offsets(lengths: Int32Array) -> Int32Array:
    return np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)])

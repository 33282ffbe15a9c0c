"""By way of which rows of a table words are predicted: the tree's nodes on the way to each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.blocks.huffman_tree import HuffmanTree


@dataclass(frozen=True)
class HuffmanPaths:
    """The ways to the words of a block.

    Of the block's distinct words, number `n` passes ``rows[offsets[n]:offsets[n + 1]]``, and is to be told "no" by
    those whose code is 1.
    """

    words: Int32Array  # numbers, in the shape of the words that were asked for
    rows: Int32Array  # [sum of lengths]
    codes: Int32Array  # [sum of lengths]
    offsets: Int32Array  # [distinct words + 1]


def huffman_paths(words: Int32Array, tree: HuffmanTree) -> HuffmanPaths:
    """Return the ways of words, given by their ids, from the tree's root."""
    distinct, numbers = _numbered(words)
    lengths = tree.path_lengths()[distinct]
    offsets = _offsets(lengths)
    steps = np.arange(offsets[-1], dtype=np.int32) + np.repeat(tree.offsets[distinct] - offsets[:-1], lengths)
    return HuffmanPaths(numbers, tree.nodes[steps], tree.codes[steps].astype(np.int32), offsets)


def _numbered(ids: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the distinct ids, ascending, and for every id its number among them."""
    # With an array by id this takes a fraction of the time of sorting the ids.
    is_there = np.zeros(int(np.max(ids, initial=-1)) + 1, dtype=bool)
    is_there[ids] = True
    distinct = np.flatnonzero(is_there).astype(np.int32)
    number = np.empty(len(is_there), dtype=np.int32)
    number[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, number[ids]


def _offsets(lengths: Int32Array) -> Int32Array:
    return np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)])

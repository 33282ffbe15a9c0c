"""Word counts, or gensim's attributes of words → the Huffman tree as arrays.

gensim gives words with equal counts neighbouring places in the tree, in the order of the vocabulary, which is the order
of the corpus. Rare words of one passage then share nearly all of their nodes. In a random order they share them with
words from anywhere, and the vectors of a large vocabulary score higher
(`docs/contributing/decisions.md`, "Maths of a batch").
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Counts, Int32Array, Int64Array, IntArray, UInt8Array
from gensim_tfw2v.native.array_checks import are_below
from gensim_tfw2v.native.functions import call

_MOST_STEPS = 2**31 - 1  # of all paths: `HuffmanTree.offsets` has 32 bits


@dataclass(frozen=True)
class HuffmanTree:
    """The Huffman path of each word.

    The path of word `w` has the nodes ``nodes[offsets[w]:offsets[w + 1]]``, the root first, and takes the branches
    `codes` there.
    """

    nodes: Int32Array  # [sum of path lengths]
    codes: UInt8Array  # [sum of path lengths], 0 (gensim's label 1) to the left, 1 to the right
    offsets: Int32Array  # [V + 1]

    @classmethod
    def of(cls, keyed_vectors: Any) -> HuffmanTree:
        """Return the tree that is stored as ``point`` and ``code`` of each word.

        Raise RuntimeError if they are no paths through the inner nodes of a tree of all words.
        """
        lengths, nodes = _stored_values(keyed_vectors, "point")
        code_lengths, codes = _stored_values(keyed_vectors, "code")
        if not np.array_equal(lengths, code_lengths):
            word = int(np.argmax(lengths != code_lengths))
            raise _no_path(keyed_vectors, word, f"{lengths[word]} nodes and {code_lengths[word]} codes")
        inner_nodes = len(keyed_vectors) - 1
        if not (are_below(inner_nodes, nodes) and are_below(2, codes)):
            step = int(np.argmax((nodes < 0) | (nodes >= inner_nodes) | (codes < 0) | (codes > 1)))
            word = int(np.searchsorted(np.cumsum(lengths), step, side="right"))
            raise _no_path(keyed_vectors, word, f"the node {nodes[step]} with the code {codes[step]}")
        return cls(nodes.astype(np.int32), codes.astype(np.uint8), tree_offsets(lengths))

    def store(self, keyed_vectors: Any) -> None:
        """Set ``point`` and ``code`` of each word, in the types that gensim's ``create_binary_tree`` gives them."""
        for name, values in (("code", self.codes), ("point", self.nodes.astype(np.uint32))):
            keyed_vectors.allocate_vecattrs(attrs=[name], types=[object])
            stored = keyed_vectors.expandos[name]
            for word, (start, stop) in enumerate(pairwise(self.offsets.tolist())):
                stored[word] = values[start:stop]

    def path_lengths(self) -> Int32Array:
        """Return the number of nodes on the path of every word."""
        return np.diff(self.offsets)


def build_huffman_tree(counts: Counts, order: Int64Array) -> HuffmanTree:
    """Return the tree that gensim builds from words with these counts in this order."""
    words = len(counts)
    parent, branch = np.empty(max(0, 2 * words - 1), np.int32), np.empty(max(0, 2 * words - 1), np.uint8)
    call("join_rarest", counts.astype(np.float64), order.astype(np.int32), parent, branch)
    root = len(parent) - 1
    below: Int64Array = np.arange(words if root > 0 else 0)
    node: IntArray = below
    levels = []  # from the leaves up: the words whose paths are that long, the node above, the branch taken there
    while below.size:
        above = parent[node]
        levels.append((below, above, branch[node]))
        is_below_root = above < root
        below, node = below[is_below_root], above[is_below_root]

    lengths = np.zeros(words, np.int64)
    for below, _, _ in levels:
        lengths[below] += 1
    offsets = tree_offsets(lengths)
    nodes, codes = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.uint8)
    for level, (below, above, taken) in enumerate(levels):
        places = offsets[below + 1] - 1 - level
        nodes[places], codes[places] = above - words, taken
    return HuffmanTree(nodes, codes, offsets)


def tree_offsets(lengths: Int64Array) -> Int32Array:
    """Return where the path of each word begins, and where the last one ends.

    Raise ValueError if they have more steps than 32 bits count.
    """
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    if offsets[-1] > _MOST_STEPS:
        raise ValueError(
            f"the Huffman tree has {offsets[-1]:,} steps on the paths of its {len(lengths):,} words; it may have at "
            f"most {_MOST_STEPS:,}: choose a larger min_count, or hs=0 with negative=5"
        )
    return offsets.astype(np.int32)


def has_random_ties(words: int) -> bool:
    """Return whether words with equal counts enter a tree of `words` words in random order."""
    return words >= tuning.LEAST_WORDS_FOR_RANDOM_TIES


def _stored_values(keyed_vectors: Any, attribute: str) -> tuple[Int64Array, IntArray]:
    """Return the number of nodes or codes stored for each word, and those of all words."""
    stored = list(keyed_vectors.expandos.get(attribute, ()))[: len(keyed_vectors)]
    stored += [None] * (len(keyed_vectors) - len(stored))
    with contextlib.suppress(TypeError, ValueError):  # of a word that has no path, or a damaged one
        lengths = np.fromiter(map(len, stored), np.int64, len(stored))
        values = np.concatenate(stored)
        if values.ndim == 1 and values.dtype.kind in "iu":
            return lengths, values
    arrays = _stored_arrays(keyed_vectors, stored, attribute)
    return np.array([*map(len, arrays)], np.int64), np.concatenate([np.zeros(0, np.int64), *arrays])


def _stored_arrays(keyed_vectors: Any, stored: Sequence[Any], attribute: str) -> list[Int64Array]:
    """Return what is stored for each word as an array; raise RuntimeError for the first word whose path is damaged."""
    arrays = []
    for word, values in enumerate(stored):
        try:
            # A vocabulary of one word, and words added without rebuilding the tree, have no path.
            arrays.append(_as_array(values))
        except (TypeError, ValueError, OverflowError):
            raise _no_path(keyed_vectors, word, f"{values!r} as its {attribute}") from None
    return arrays


def _as_array(values: Any) -> Int64Array:
    """Return the nodes or codes stored for a word; None, and gensim's 0 for new words, become an empty array."""
    if values is None or np.isscalar(values):
        return np.zeros(0, dtype=np.int64)
    found = np.asarray(values, dtype=np.int64)
    if found.ndim != 1:
        raise ValueError(f"{values!r} has {found.ndim} axes")
    return found


def _no_path(keyed_vectors: Any, word: int, found: str) -> RuntimeError:
    """Return the error for a word whose path is damaged."""
    words = len(keyed_vectors)
    return RuntimeError(
        f"wv.expandos['point'] and ['code'] have {found} for the word {keyed_vectors.index_to_key[word]!r}: a tree of "
        f"{words} words has as many codes, 0 or 1, as nodes, from 0 to {words - 2}; make it again with "
        "create_binary_tree()"
    )

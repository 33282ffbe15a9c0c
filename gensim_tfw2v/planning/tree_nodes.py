"""Groups of equally frequent words → groups of inner nodes of their Huffman tree."""

from __future__ import annotations

import heapq

import numpy as np

from gensim_tfw2v.arrays import Float64Array


def tree_nodes(words: Float64Array, shares: Float64Array, kept: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return how many nodes each group has, and how often a raw word trains each of them.

    Nodes of one group are merged in pairs at a time, so the time depends on the groups and not on the vocabulary.

    Parameters
    ----------
    words, shares, kept : ndarray
        [G], words of a group; share of raw words that each of them is; the same of words that subsampling keeps.
    """
    heap = [(float(share), float(count), float(used)) for count, share, used in zip(words, shares, kept, strict=True)]
    heapq.heapify(heap)
    counts, trained = [], []
    while heap:
        share, count, used = heapq.heappop(heap)
        if count >= 2:
            merged, rest = count // 2, count % 2
            node = (2 * share, merged, 2 * used)
            if rest:
                heapq.heappush(heap, (share, 1.0, used))
        elif heap:
            other_share, other_count, other_used = heapq.heappop(heap)
            node = (share + other_share, 1.0, used + other_used)
            if other_count > 1:
                heapq.heappush(heap, (other_share, other_count - 1, other_used))
        else:
            break  # the root
        heapq.heappush(heap, node)
        counts.append(node[1])
        trained.append(node[2])
    return np.array(counts), np.array(trained)

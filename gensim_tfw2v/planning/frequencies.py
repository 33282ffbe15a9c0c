"""How frequent words, and the nodes of their Huffman tree, are: groups of those that are about equally frequent."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Float64Array, Int64Array

TEXT_REPETITION = 0.48  # of the Encyclopaedia Britannica: a word that has occurred soon occurs again
_EXACT_RANKS = 1000  # the most frequent words are groups of one
_GROUP_GROWTH = 1.02  # ranks at the end of a group by those at its beginning
_FLATTENED_RANKS = 0.3  # added to ranks: the most frequent words of a text are less frequent than 1 / rank
_COMMON_RANKS = 5000  # up to here shares fall as 1 / rank, and faster beyond
_RARE_EXPONENTS = (1.0, 3.0)  # how fast they may fall beyond


@dataclass(frozen=True)
class WordFrequencies:
    """Groups of equally frequent words, the most frequent first.

    Parameters
    ----------
    words : ndarray
        [G], how many words each group has.
    shares : ndarray
        [G], the share of a corpus's raw words that each word of a group is.
    repetition : float
        Share of a block's words that count as drawn independently. A block of n words has as many distinct words as
        `repetition` · n words that are drawn one by one by their shares.
    """

    words: Float64Array
    shares: Float64Array
    repetition: float = TEXT_REPETITION

    @classmethod
    def of_counts(cls, counts: Int64Array, raw_words: int, repetition: float = TEXT_REPETITION) -> WordFrequencies:
        """Return the frequencies of words that occur so often among `raw_words` words."""
        distinct, words = np.unique(counts, return_counts=True)
        return cls(words[::-1].astype(np.float64), distinct[::-1] / raw_words, repetition)

    @classmethod
    def of_law(cls, vocabulary: int, raw_words: int, min_count: int) -> WordFrequencies:
        """Return the frequencies of a text of which only sizes are known.

        Shares fall as 1 / (rank + 0.3) up to rank 5,000, and as a power of the rank beyond, so that the rarest word
        occurs `min_count` times if a power from 1 to 3 allows that.
        """
        edges = np.arange(min(vocabulary, _EXACT_RANKS) + 1, dtype=np.float64)  # a 0, and the last rank of each group
        if vocabulary > _EXACT_RANKS:
            steps = math.ceil(math.log(vocabulary / _EXACT_RANKS) / math.log(_GROUP_GROWTH))
            further = np.unique(np.rint(np.geomspace(_EXACT_RANKS, vocabulary, steps + 1)))
            edges = np.concatenate([edges, further[1:]])
        words = np.diff(edges)
        ranks = np.sqrt((edges[:-1] + 1) * edges[1:])  # middle of a group

        def shares(exponent: float) -> Float64Array:
            weights: Float64Array = np.minimum(1, (ranks / _COMMON_RANKS) ** (1 - exponent)) / (
                ranks + _FLATTENED_RANKS
            )
            return weights / float(words @ weights)

        low, high = _RARE_EXPONENTS
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if shares(middle)[-1] * raw_words > min_count else (low, middle)
        return cls(words, shares(low))

    @property
    def vocabulary(self) -> int:
        """How many words there are."""
        return round(float(self.words.sum()))

    @property
    def known_share(self) -> float:
        """The share of raw words that are in the vocabulary."""
        return float(self.words @ self.shares)

    def kept_shares(self, sample: float) -> Float64Array:
        """Return the share of raw words [G] that each word of a group is and that gensim's subsampling keeps."""
        if not sample:
            return self.shares
        threshold = sample * self.known_share
        keep = (np.sqrt(self.shares / threshold) + 1) * threshold / self.shares
        kept: Float64Array = self.shares * np.minimum(keep, 1.0)
        return kept

    def drawn_shares(self, exponent: float) -> Float64Array:
        """Return the probability [G] that a negative is one certain word of a group."""
        weights = self.shares**exponent
        drawn: Float64Array = weights / float(self.words @ weights)
        return drawn

    def tree_nodes(self, kept: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return how many nodes each group of the Huffman tree has, and how often a raw word trains each of them.

        `kept` are the `kept_shares`. Nodes of one group are merged in pairs at a time, so the time depends on the
        groups and not on the vocabulary.
        """
        groups = zip(self.shares, self.words, kept, strict=True)
        heap = [(float(share), float(count), float(used)) for share, count, used in groups]
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

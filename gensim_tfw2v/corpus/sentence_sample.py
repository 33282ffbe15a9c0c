"""A stream of sentences → a random sample of them that has at most about so many words."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Int64Array
from gensim_tfw2v.corpus.fixed_draws import fractions
from gensim_tfw2v.corpus.sentences import Sentences, joined


class SentenceSample:
    """Draws whole sentences, each with the same probability, in memory for twice the words that are wanted.

    Each sentence has a random rank, by its number and the key. The sample has the sentences with the lowest ranks, as
    few as hold `words` words, or all sentences. So it does not depend on how many sentences are added at a time.

    Parameters
    ----------
    words : int
        How many words are wanted.
    key : int
        What the ranks follow from.
    """

    def __init__(self, words: int, key: int) -> None:
        self._wanted, self._key = words, key
        self._parts: list[Sentences] = []
        self._numbers: list[Int64Array] = []
        self._words = self._seen = 0
        self._highest_rank = 1.0  # of sentences that may still belong to the sample

    def add(self, sentences: Sentences) -> None:
        """Add the next sentences of the stream."""
        numbers = np.arange(self._seen, self._seen + sentences.lengths.size, dtype=np.int64)
        self._seen += numbers.size
        self._keep(sentences, numbers, fractions(self._key, numbers) <= self._highest_rank)
        if self._words > 2 * self._wanted:
            self._drop_surplus()

    def sentences(self) -> Sentences:
        """Return the sample, in the order of the stream."""
        self._drop_surplus()
        return self._joined()[0]

    def _keep(self, sentences: Sentences, numbers: Int64Array, chosen: BoolArray) -> None:
        kept = sentences.whole(chosen)
        self._parts.append(kept)
        self._numbers.append(numbers[chosen])
        self._words += kept.ids.size

    def _joined(self) -> tuple[Sentences, Int64Array]:
        return joined(self._parts), np.concatenate([np.empty(0, np.int64), *self._numbers])

    def _drop_surplus(self) -> None:
        """Drop the sentences of the highest ranks that are not needed for the words that are wanted."""
        if self._words <= self._wanted:
            return
        sentences, numbers = self._joined()
        ranks = fractions(self._key, numbers)
        order = np.argsort(ranks, kind="stable")
        needed = int(np.searchsorted(np.cumsum(sentences.lengths[order], dtype=np.int64), self._wanted)) + 1
        self._highest_rank = float(ranks[order[:needed]][-1])
        self._parts, self._numbers, self._words = [], [], 0
        self._keep(sentences, numbers, ranks <= self._highest_rank)

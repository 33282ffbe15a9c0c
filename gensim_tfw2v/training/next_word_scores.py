"""Last words of validation sentences, and tables → how high the model ranks these words."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.arrays import Float32Array, Int64Array
from gensim_tfw2v.blocks.next_words import NextWords
from gensim_tfw2v.steps.pair_loss import hidden_vectors
from gensim_tfw2v.training.needed_rows import NUMBERS_AT_ONCE, NeededRows, ReadRows
from gensim_tfw2v.training.validation_metrics import HITS, NDCG, RANKS


class NextWordScores:
    """Ranks all words by the product of their output vectors and the mean input vector of the words before.

    Parameters
    ----------
    words : NextWords
        At least one word to predict.
    vocabulary : int
        Number of words.
    vector_size : int
        Numbers of a vector.
    """

    def __init__(self, words: NextWords, vocabulary: int, vector_size: int) -> None:
        self._words, self._vocabulary, self._vector_size = words, vocabulary, vector_size
        self._inputs, self._targets = NeededRows("inputs", words.contexts), NeededRows("outputs", words.targets)

    def __len__(self) -> int:
        return len(self._words)

    def measure(self, read: ReadRows) -> dict[str, float]:
        """Return the share of words among the first ten, and the mean of 1 / log2(1 + rank), 0 beyond the tenth."""
        ranks = self._ranks(read)
        is_hit = ranks <= RANKS
        gains = np.where(is_hit, 1 / np.log2(1.0 + ranks), 0.0)
        return {HITS: float(is_hit.mean()), NDCG: float(gains.mean())}

    def _ranks(self, read: ReadRows) -> Int64Array:
        """Return the rank of each word to predict, from 1; words with an equal score come before it."""
        contexts = self._inputs.read(read, self._vector_size)[self._inputs.places[0]]
        hidden = hidden_vectors(contexts, self._words.offsets, mean=True)
        targets = self._targets.read(read, self._vector_size)[self._targets.places[0]]
        own = np.einsum("sd,sd->s", hidden, targets)
        ranks = np.ones(len(self), np.int64)
        step = max(1, NUMBERS_AT_ONCE // max(self._vector_size, len(self)))
        for first in range(0, self._vocabulary, step):
            rows = read("outputs", first, min(first + step, self._vocabulary))
            ranks += self._at_least(hidden, rows, own, first)
        return ranks

    def _at_least(self, hidden: Float32Array, rows: Float32Array, own: Float32Array, first: int) -> Int64Array:
        """Return how many of some words, from number `first` on, have a score of at least that of each target."""
        scores = hidden @ rows.T
        places = self._words.targets - first
        inside = np.flatnonzero((places >= 0) & (places < len(rows)))
        scores[inside, places[inside]] = -np.inf  # the target itself
        return np.asarray((scores >= own[:, None]).sum(axis=1, dtype=np.int64))

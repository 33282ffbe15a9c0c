"""Sentences cut in two, and vectors of words → how well the vectors tell which halves belong together.

Only the words' own vectors count, and nothing of how they were trained. So models with any settings can be compared.
"""

from __future__ import annotations

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array, Int64Array
from gensim_tfw2v.corpus.fixed_draws import drawn_evenly
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.evaluation.unit_vectors import of_length_1

_KEY = 0  # of the sample of sentences, the same for all models
_ROUNDING = 1e-6  # similarities that differ by less are equal


def reciprocal_rank_of_halves(sentences: Sentences, vectors: Float32Array) -> float:
    """Return the mean of 1 / rank of each sentence's second half, as the first half finds it.

    The vector of a half is the mean of its words' vectors, each of length 1. For each first half, the second halves of
    all sentences are ranked by cosine similarity. Halves with an equal similarity come before the sentence's own.

    Parameters
    ----------
    sentences : Sentences
        Known words alone. Sentences of one word are left out. Of very many, an even sample is taken.
    vectors : ndarray
        Of all words, a row each.
    """
    lengths = sentences.lengths.astype(np.int64)
    begins = np.cumsum(lengths) - lengths
    usable = np.flatnonzero(lengths > 1)
    usable = usable[drawn_evenly(usable.size, tuning.VALIDATION_NEXT_WORDS, _KEY)]
    if not usable.size:
        raise ValueError(
            f"metric 'halves' needs sentences of two known words or more, and none of the {lengths.size} held-out "
            "ones is; hold more out"
        )
    begins, lengths = begins[usable], lengths[usable]
    middles = begins + lengths // 2
    needed, places = np.unique(sentences.ids, return_inverse=True)
    unit = of_length_1(vectors[needed])
    first = of_length_1(_means(unit, places, begins, middles))
    second = of_length_1(_means(unit, places, middles, begins + lengths))
    similarities = first @ second.T
    ranks = (similarities >= np.diag(similarities)[:, None] - _ROUNDING).sum(axis=1)  # its own is among them
    return float((1.0 / ranks).mean())


def _means(unit: Float32Array, rows: Int64Array, begins: Int64Array, ends: Int64Array) -> Float32Array:
    """Return the mean of the vectors of the rows between each two places."""
    means = [unit[rows[begin:end]].mean(axis=0) for begin, end in zip(begins, ends, strict=True)]
    return np.array(means, np.float32)

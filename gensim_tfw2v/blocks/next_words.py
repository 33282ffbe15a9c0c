"""Validation sentences → the last word of each, which the words before it are to predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array, Int64Array, consecutive
from gensim_tfw2v.corpus.fixed_draws import drawn_evenly, key_of
from gensim_tfw2v.corpus.sentences import Sentences

_SENTENCES = 0x6E657874  # purpose of random numbers


@dataclass(frozen=True)
class NextWords:
    """Words to predict: `targets[s]` from the words ``contexts[offsets[s]:offsets[s + 1]]``, which come before it."""

    contexts: Int32Array  # ids
    offsets: Int64Array  # [sentences + 1]
    targets: Int32Array  # [sentences] ids

    def __len__(self) -> int:
        return len(self.targets)


def next_words(sentences: Sentences, window: int, vocabulary: int, entropy: Sequence[int]) -> NextWords:
    """Return the last words of sentences, each with at most `window` words before it.

    All sentences of two words or more have one, or as many of them, drawn evenly, as bound the scores to compute.

    Parameters
    ----------
    vocabulary : int
        Number of words that are ranked for each sentence.
    """
    ends, lengths = np.cumsum(sentences.lengths, dtype=np.int64), sentences.lengths.astype(np.int64)
    usable = np.flatnonzero(lengths > 1)
    most = max(1, min(tuning.VALIDATION_NEXT_WORDS, tuning.VALIDATION_SCORES // max(1, vocabulary)))
    chosen = usable[drawn_evenly(len(usable), most, key_of(entropy, _SENTENCES))]
    last, sizes = ends[chosen] - 1, np.minimum(lengths[chosen] - 1, window)
    places = consecutive(last - sizes, sizes)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return NextWords(sentences.ids[places], offsets, sentences.ids[last])

"""A span of an encoded corpus → the sentences of it that are drawn. Ids of other sentences are not looked up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Int32Array
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import ShardReader, Span


def read_drawn(reader: ShardReader, span: Span, draw: Callable[[Int32Array], BoolArray]) -> Sentences:
    """Return the known words of the drawn sentences of a span.

    Parameters
    ----------
    draw : callable
        Returns which sentences are drawn, given how many known words each has; sentences without any are left out.
    """
    raw = reader.read_raw(span)
    begins = np.cumsum(raw.lengths, dtype=np.int64) - raw.lengths
    is_known = (reader.word_ids >= 0).take(raw.ids, mode="clip")
    known_lengths = np.add.reduceat(is_known, begins, dtype=np.int32)
    is_drawn = known_lengths > 0
    is_drawn[is_drawn] = draw(known_lengths[is_drawn])
    drawn = raw.whole(is_drawn)
    return Sentences(reader.word_ids.take(drawn.ids, mode="clip"), drawn.lengths).known_words()

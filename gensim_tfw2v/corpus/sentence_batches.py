"""Sentences of an iterable → lists of many sentences' words, whose ids are looked up at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.sentence_errors import not_a_sentence, unhashable_word
from gensim_tfw2v.corpus.sentences import MAX_SENTENCE_WORDS


class SentenceBatch(NamedTuple):
    """Pieces of sentences; the lists are emptied when the next batch is taken."""

    words: list[Hashable]  # of all pieces
    lengths: list[int]  # of the pieces
    begun: list[int]  # 1 for a piece that begins a sentence, 0 for another one
    position: int  # of the last sentence; -1 if there is none

    def ids(self, looked_up: Iterable[int]) -> Int32Array:
        """Return the ids of all words, which this iterable looks up; raise TypeError naming a word without a hash."""
        try:
            return np.fromiter(looked_up, dtype=np.int32, count=len(self.words))
        except TypeError:
            raise unhashable_word(self.words, self.lengths, self.begun, self.position) from None


def sentence_batches(
    sentences: Iterable[Iterable[Hashable]], before_each: Callable[[], None] | None = None
) -> Generator[SentenceBatch, None, None]:
    """Yield all sentences, many at a time, in pieces of at most `MAX_SENTENCE_WORDS` words.

    The words of a sentence are copied before the next sentence is taken, which may be the same list with other words.

    Parameters
    ----------
    before_each : callable, optional
        Called before each sentence is used; an error that it raises ends the pass.
    """
    words: list[Hashable] = []
    lengths: list[int] = []
    begun: list[int] = []
    position = -1
    for position, sentence in enumerate(sentences):
        if before_each is not None:
            before_each()
        begin = 1
        try:
            # A sentence within the limit is one piece and is copied whole.
            is_short = len(sentence) <= MAX_SENTENCE_WORDS  # type: ignore[arg-type]
            for piece in (sentence,) if is_short else _cut_overlong(iter(sentence)):
                start = len(words)
                words.extend(piece)
                lengths.append(len(words) - start)  # a sentence need not have as many words as its len() says
                begun.append(begin)
                begin = 0
                if len(words) >= tuning.ITERABLE_WORDS or len(lengths) >= tuning.ITERABLE_PIECES:
                    yield SentenceBatch(words, lengths, begun, position)
                    for pending in (words, lengths, begun):
                        pending.clear()
        except TypeError:
            raise not_a_sentence(sentence, position) from None
    yield SentenceBatch(words, lengths, begun, position)


def _cut_overlong(words: Iterator[Hashable]) -> Iterator[list[Hashable]]:
    """Yield the pieces of a sentence, at least one."""
    yield list(islice(words, MAX_SENTENCE_WORDS))
    while piece := list(islice(words, MAX_SENTENCE_WORDS)):
        yield piece

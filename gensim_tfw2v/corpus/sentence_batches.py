"""Sentences of an iterable → lists of many sentences' words, whose ids are looked up at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

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

    def is_full(self) -> bool:
        """Return whether there is enough to look up at once."""
        return len(self.words) >= tuning.ITERABLE_WORDS or len(self.lengths) >= tuning.ITERABLE_PIECES

    def empty(self) -> None:
        """Remove all pieces."""
        for pending in (self.words, self.lengths, self.begun):
            pending.clear()

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

    Parameters
    ----------
    before_each : callable, optional
        Called before each sentence is used; an error that it raises ends the pass.
    """
    batch = SentenceBatch([], [], [], -1)
    remaining = iter(sentences if before_each is None else _preceded(sentences, before_each))
    while taken := list(islice(remaining, tuning.ITERABLE_SENTENCES)):
        first = batch.position + 1
        batch = batch._replace(position=batch.position + len(taken))
        if _append_whole(taken, batch):
            if batch.is_full():
                yield batch
                batch.empty()
            continue
        for position, sentence in enumerate(taken, first):
            batch = batch._replace(position=position)
            for begin, length in enumerate(_append_pieces(sentence, position, batch.words)):
                batch.lengths.append(length)
                batch.begun.append(0 if begin else 1)
                if batch.is_full():
                    yield batch
                    batch.empty()
    yield batch


def _preceded(sentences: Iterable[Iterable[Hashable]], call: Callable[[], None]) -> Iterator[Iterable[Hashable]]:
    for sentence in sentences:
        call()
        yield sentence


def _append_whole(sentences: Sequence[Any], batch: SentenceBatch) -> bool:
    """Append sentences of which none is cut; return False, with the batch as it was, if they need a closer look."""
    before = len(batch.words)
    try:
        lengths = list(map(len, sentences))
        if max(lengths) <= MAX_SENTENCE_WORDS:
            batch.words.extend(chain.from_iterable(sentences))
    except TypeError:  # one is not a sequence of words
        lengths = []
    if not lengths or len(batch.words) - before != sum(lengths):  # a length that is not that of the words
        del batch.words[before:]
        return False
    batch.lengths.extend(lengths)
    batch.begun.extend([1] * len(lengths))
    return True


def _append_pieces(sentence: Iterable[Hashable], position: int, words: list[Hashable]) -> Iterator[int]:
    """Append the pieces of a sentence to ``words``, and yield the length of each after it is appended."""
    try:
        # A sentence within the limit is one piece and is copied whole.
        is_short = len(sentence) <= MAX_SENTENCE_WORDS  # type: ignore[arg-type]
        for piece in [sentence] if is_short else _cut_overlong(iter(sentence)):
            start = len(words)
            words.extend(piece)
            yield len(words) - start  # a sentence need not have as many words as its len() says
    except TypeError:
        raise not_a_sentence(sentence, position) from None


def _cut_overlong(words: Iterator[Hashable]) -> Iterator[list[Hashable]]:
    """Yield the pieces of a sentence, at least one."""
    yield list(islice(words, MAX_SENTENCE_WORDS))
    while piece := list(islice(words, MAX_SENTENCE_WORDS)):
        yield piece

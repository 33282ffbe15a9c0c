"""Pieces of sentences, or shards on disk → chunks, the units that the training loop takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.sentences import Sentences, joined
from gensim_tfw2v.corpus.shards import Span


@dataclass(frozen=True)
class Chunk:
    """Consecutive whole sentences that the training loop takes at a time."""

    number: int
    """0, 1, 2, ... within its epoch."""
    content: Sentences | Span
    """The sentences that have known words, or the place in an encoded corpus where a worker reads them."""
    raw_words: int
    """Words of the corpus, including unknown ones."""
    sentences: int
    """Sentences of the corpus as gensim counts them, including empty ones of an iterable."""


@dataclass(frozen=True)
class Pieces:
    """Consecutive pieces of sentences as ids, with -1 for unknown words. A sentence within the limit is one piece."""

    sentences: Sentences
    """The pieces as if each were a sentence."""
    begun: Int32Array
    """1 where a sentence begins with this piece, 0 where the piece continues an overlong sentence."""

    @classmethod
    def whole(cls, sentences: Sentences) -> Pieces:
        """Return sentences as pieces, each of which begins one."""
        return cls(sentences, np.ones_like(sentences.lengths))

    @property
    def words(self) -> int:
        """The number of words, known or not."""
        return self.sentences.ids.size


def cut_into_chunks(corpus: Iterable[Pieces], words_per_chunk: int) -> Iterator[Chunk]:
    """Yield chunks of as few pieces as hold ``words_per_chunk`` words; the last chunk has the rest."""
    for number, pieces in enumerate(_cut(corpus, words_per_chunk)):
        known = pieces.sentences.known_words()
        yield Chunk(number, known, raw_words=pieces.words, sentences=int(pieces.begun.sum()))


def _cut(corpus: Iterable[Pieces], words_per_chunk: int) -> Iterator[Pieces]:
    waiting: list[Pieces] = []
    words = 0
    for pieces in corpus:
        waiting.append(pieces)
        words += pieces.words
        if words >= words_per_chunk:
            found, piece, word = _joined(waiting), 0, 0
            for stop, end in _chunk_ends(found.sentences.lengths, words_per_chunk):
                yield _between(found, slice(word, end), slice(piece, stop))
                piece, word = stop, end
            waiting = [_between(found, slice(word, None), slice(piece, None))]
            words = waiting[0].words
    rest = _joined(waiting)
    if rest.begun.size:
        yield rest


def _between(pieces: Pieces, words: slice, which: slice) -> Pieces:
    return Pieces(pieces.sentences.between(words, which), pieces.begun[which])


def _chunk_ends(lengths: Int32Array, words_per_chunk: int) -> Iterator[tuple[int, int]]:
    """Yield the end of each full chunk, in pieces and in words."""
    ends = np.cumsum(lengths, dtype=np.int64)
    word = 0
    while (stop := int(np.searchsorted(ends, word + words_per_chunk)) + 1) <= ends.size:
        word = int(ends[stop - 1])
        yield stop, word


def spans_of(shard: int, lengths: Int32Array, words_per_chunk: int) -> Iterator[Span]:
    """Yield the spans of a shard's chunks, given the lengths of its sentences; the last may be short."""
    sentence = word = 0
    for stop, end in [*_chunk_ends(lengths, words_per_chunk), (lengths.size, int(lengths.sum(dtype=np.int64)))]:
        if stop > sentence:
            yield Span(shard, word, end, sentence, stop)
        sentence, word = stop, end


def _joined(parts: list[Pieces]) -> Pieces:
    if len(parts) == 1:
        return parts[0]
    begun = np.concatenate([np.empty(0, np.int32), *(part.begun for part in parts)])
    return Pieces(joined([part.sentences for part in parts]), begun)

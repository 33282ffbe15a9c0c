"""Runs of encoded sentences, or shards on disk → chunks: what the training loop takes at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.sentences import Sentences, known_words
from gensim_tfw2v.corpus.shards import Span


@dataclass(frozen=True)
class Chunk:
    """Consecutive whole sentences that the training loop takes at a time."""

    number: int
    """0, 1, 2, ... within its epoch."""
    content: Sentences | Span
    """The sentences that have known words, or where whoever trains the chunk reads them in an encoded corpus."""
    raw_words: int
    """Words of the corpus, including unknown ones."""
    sentences: int
    """Sentences of the corpus as gensim counts them, including empty ones of an iterable."""


@dataclass(frozen=True)
class Run:
    """Consecutive pieces of sentences as ids, with -1 for unknown words."""

    ids: Int32Array
    lengths: Int32Array
    begun: Int32Array
    """1 where a sentence begins with this piece, 0 where the piece goes on with an overlong sentence."""


def cut_into_chunks(runs: Iterable[Run], words_per_chunk: int) -> Iterator[Chunk]:
    """Yield the runs cut anew: as few sentences as hold ``words_per_chunk`` words, and what is left last."""
    for number, run in enumerate(_cut(runs, words_per_chunk)):
        yield _known_words(number, run)


def _cut(runs: Iterable[Run], words_per_chunk: int) -> Iterator[Run]:
    waiting: list[Run] = []
    words = 0
    for run in runs:
        waiting.append(run)
        words += run.ids.size
        if words >= words_per_chunk:
            rest = yield from _full_chunks(_joined(waiting), words_per_chunk)
            waiting, words = [rest], rest.ids.size
    rest = _joined(waiting)
    if rest.lengths.size:
        yield rest


def _full_chunks(run: Run, words_per_chunk: int) -> Generator[Run, None, Run]:
    """Yield the chunks that a run fills, and return the rest of it."""
    piece = word = 0
    for stop, end in _chunk_ends(run.lengths, words_per_chunk):
        yield Run(run.ids[word:end], run.lengths[piece:stop], run.begun[piece:stop])
        piece, word = stop, end
    return Run(run.ids[word:], run.lengths[piece:], run.begun[piece:])


def _chunk_ends(lengths: Int32Array, words_per_chunk: int) -> Iterator[tuple[int, int]]:
    """Yield where each chunk ends that these pieces fill, in pieces and in words."""
    ends = np.cumsum(lengths, dtype=np.int64)
    word = 0
    while (stop := int(np.searchsorted(ends, word + words_per_chunk)) + 1) <= ends.size:
        word = int(ends[stop - 1])
        yield stop, word


def spans_of(shard: int, lengths: Int32Array, words_per_chunk: int) -> Iterator[Span]:
    """Yield a shard's chunks, given the lengths of its sentences; the last may be short."""
    sentence = word = 0
    for stop, end in [*_chunk_ends(lengths, words_per_chunk), (lengths.size, int(lengths.sum(dtype=np.int64)))]:
        if stop > sentence:
            yield Span(shard, word, end, sentence, stop)
        sentence, word = stop, end


def _joined(runs: list[Run]) -> Run:
    if len(runs) == 1:
        return runs[0]
    empty = np.empty(0, dtype=np.int32)
    return Run(
        np.concatenate([empty, *(run.ids for run in runs)]),
        np.concatenate([empty, *(run.lengths for run in runs)]),
        np.concatenate([empty, *(run.begun for run in runs)]),
    )


def _known_words(number: int, run: Run) -> Chunk:
    """Return a run as a chunk, without its unknown words and the sentences that hold no other."""
    known = known_words(run.ids, run.lengths)
    return Chunk(number, known, raw_words=run.ids.size, sentences=int(run.begun.sum()))

"""Runs of encoded sentences → chunks: what the training loop takes at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.encoded import Ids


@dataclass(frozen=True)
class Chunk:
    """A run of whole sentences as ids of the known words, in their order."""

    number: int
    """0, 1, 2, ... within its epoch."""
    ids: Ids
    sentence_lengths: Ids
    """Known words of each sentence that has any."""
    raw_words: int
    """Words of the corpus, including unknown ones."""
    sentences: int
    """Sentences of the corpus as gensim counts them, including empty ones of an iterable."""


@dataclass(frozen=True)
class Run:
    """Consecutive pieces of sentences as ids, with -1 for unknown words."""

    ids: Ids
    lengths: Ids
    begun: Ids
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
    ends = np.cumsum(run.lengths, dtype=np.int64)
    piece = word = 0
    while True:
        stop = int(np.searchsorted(ends, word + words_per_chunk)) + 1
        if stop > ends.size:
            return Run(run.ids[word:], run.lengths[piece:], run.begun[piece:])
        end = int(ends[stop - 1])
        yield Run(run.ids[word:end], run.lengths[piece:stop], run.begun[piece:stop])
        piece, word = stop, end


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
    known = run.ids >= 0
    ends = np.cumsum(run.lengths, dtype=np.int64)
    known_before = np.concatenate([[0], np.cumsum(known, dtype=np.int64)])
    lengths = known_before[ends] - known_before[ends - run.lengths]
    return Chunk(
        number,
        run.ids[known],
        lengths[lengths > 0].astype(np.int32),
        raw_words=run.ids.size,
        sentences=int(run.begun.sum()),
    )

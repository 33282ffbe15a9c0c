"""A chunk → parts that are trained side by side; the results of the parts → those of the chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import ShardReader, Span


def parts_of(task: ChunkTask, count: int, reader: ShardReader | None = None) -> list[ChunkTask]:
    """Return a chunk cut into `count` parts of whole sentences and about as many words each, fewer if it is too short.

    The cuts follow from the chunk alone. Each part has random numbers of its own, and the learning rates of its share
    of the chunk. Unless every batch is measured, only the first part has measured batches: short parts would have many.
    If there is only one part, or the chunk has no sentences, the part is the chunk itself.

    Parameters
    ----------
    reader : ShardReader, optional
        Reads the encoded corpus that a chunk's content is in.
    """
    cuts = _cuts_of(task, count, reader)
    return [_between_cuts(task, cuts, number) for number in range(cuts.parts)]


def part_of(task: ChunkTask, count: int, number: int, reader: ShardReader | None = None) -> tuple[ChunkTask, int]:
    """Return the part of this number, from 0, of those that `parts_of` returns, and how many come after it.

    Raise IndexError if there are not so many.
    """
    cuts = _cuts_of(task, count, reader)
    if not 0 <= number < cuts.parts:
        raise IndexError(f"a chunk of {cuts.parts} parts has no part {number}")
    return _between_cuts(task, cuts, number), cuts.parts - 1 - number


class _Cuts(NamedTuple):
    """Where a chunk is cut, with its beginning and its end; no cuts if the chunk is the only part."""

    sentences: Sequence[int]
    words: Sequence[int]  # before each of these sentences

    @property
    def parts(self) -> int:
        """How many parts the chunk has."""
        return max(1, len(self.sentences) - 1)


_UNCUT = _Cuts([], [])


def _cuts_of(task: ChunkTask, count: int, reader: ShardReader | None) -> _Cuts:
    if count == 1:
        return _UNCUT
    ends = np.cumsum(_lengths_of(task, reader), dtype=np.int64)
    if not ends.size:
        return _UNCUT
    words = int(ends[-1])
    places = np.searchsorted(ends, np.arange(1, count) * words / count, side="left") + 1
    sentences = np.unique(np.concatenate([[0], np.minimum(places, ends.size), [ends.size]]))
    before = np.concatenate([[0], ends[sentences[1:] - 1]])
    return _Cuts(sentences.tolist(), before.tolist())


def _between_cuts(task: ChunkTask, cuts: _Cuts, number: int) -> ChunkTask:
    """Return the part of this number."""
    if not cuts.sentences:
        return task
    first, end = cuts.sentences[number : number + 2]
    words_before, words_until = cuts.words[number : number + 2]
    return ChunkTask(
        _between(task.content, first, end, words_before, words_until),
        entropy=(*task.entropy, number),
        first_rate=_rate_at(task, words_before / cuts.words[-1]),
        last_rate=_rate_at(task, words_until / cuts.words[-1]),
        exact_loss=task.exact_loss,
        measures=task.measures and number == 0,
    )


def together(parts: Sequence[TrainedChunk]) -> TrainedChunk:
    """Return the results of a chunk from those of its parts, in their order."""
    return TrainedChunk(
        tokens=sum(part.tokens for part in parts),
        batches=BatchMetrics(*map(np.concatenate, zip(*(part.batches for part in parts), strict=True))),
        measured=np.concatenate([part.measured for part in parts]),
        pairs=np.concatenate([part.pairs for part in parts]),
        seconds_preparing=sum(part.seconds_preparing for part in parts),
        seconds_stepping=sum(part.seconds_stepping for part in parts),
        most_moved=next((part.most_moved for part in parts if part.most_moved is not None), None),
    )


def _lengths_of(task: ChunkTask, reader: ShardReader | None) -> Int32Array:
    """Return the number of words of each of a chunk's sentences."""
    if isinstance(task.content, Sentences):
        return task.content.lengths
    if reader is None:
        raise ValueError(f"there is no encoded corpus to read {task.content} from")
    return reader.lengths(task.content)


def _between(content: Sentences | Span, first: int, end: int, first_word: int, end_word: int) -> Sentences | Span:
    """Return sentences `first` to `end` of a chunk's content, which are its words `first_word` to `end_word`."""
    if isinstance(content, Sentences):
        found = content.between(slice(first_word, end_word), slice(first, end))
        if found.documents is None or found.tags is None:
            return found
        tags, documents = found.tags.of(found.documents)
        return replace(found, documents=documents, tags=tags)
    return Span(
        content.shard,
        content.first_word + first_word,
        content.first_word + end_word,
        content.first_sentence + first,
        content.first_sentence + end,
    )


def _rate_at(task: ChunkTask, fraction: float) -> float:
    """Return the learning rate after a fraction of a chunk's words."""
    return task.first_rate + (task.last_rate - task.first_rate) * float(fraction)

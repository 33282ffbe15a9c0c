"""A pass over a corpus, with the place of each chunk; a pass can resume where an earlier one was interrupted."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.corpus.chunks import Chunk
from gensim_tfw2v.corpus.positions import BEGINNING, PassPosition
from gensim_tfw2v.corpus.sentences import Sentences

_WHAT_TO_DO = (
    "training can be resumed only with the corpus with which it began, in the same order; sentences that differ from "
    "pass to pass cannot be resumed within an epoch"
)


class OtherCorpusError(ValueError):
    """The corpus is not the one with which a pass over it began."""


@dataclass(frozen=True)
class PlacedChunk:
    """A chunk with its place in the corpus."""

    chunk: Chunk
    sentences_before: int
    words_before: int
    """Raw words of all chunks before this one."""
    checksum: int
    """Checksum of all chunks up to this one, 0 if none is computed."""


def placed_chunks(
    chunks: Iterable[Chunk],
    begin: PassPosition = BEGINNING,
    has_checksums: bool = False,
    fingerprint: str = "",
) -> Iterator[PlacedChunk]:
    """Yield the chunks that are still to be trained after a position.

    Chunks that the position lists as missing are yielded once all chunks before the position have been read and
    compared with its checksum. Raise OtherCorpusError if the checksum differs. Chunks that name spans of an encoded
    corpus need that corpus's `fingerprint` for their checksum.
    """
    sentences = words = 0
    checksum = zlib.crc32(fingerprint.encode())
    missing: list[PlacedChunk] = []
    is_compared = not begin.chunks
    for chunk in chunks:
        if has_checksums:
            checksum = checksum_after(chunk, checksum)
        placed = PlacedChunk(chunk, sentences, words, checksum if has_checksums else 0)
        sentences += chunk.sentences
        words += chunk.raw_words
        if chunk.number >= begin.chunks:
            yield placed
        elif chunk.number in begin.missing:
            missing.append(placed)
        if chunk.number == begin.chunks - 1:
            if has_checksums and checksum != begin.checksum:
                raise OtherCorpusError(f"the first {sentences} sentences of the corpus are others now; {_WHAT_TO_DO}")
            is_compared = True
            yield from missing
    if not is_compared:
        raise OtherCorpusError(f"the corpus has only {sentences} sentences now; {_WHAT_TO_DO}")


def checksum_after(chunk: Chunk, before: int) -> int:
    """Return the CRC-32 of a chunk and of all chunks before it, whose checksum is `before`."""
    content = chunk.content
    totals = np.array([chunk.number, chunk.raw_words, chunk.sentences], "<i8")
    if isinstance(content, Sentences):
        parts = content.arrays + ([] if content.tags is None else [content.tags.indices, content.tags.offsets])
    else:
        parts = [np.array(content, "<i8")]
    for part in (totals, *parts):
        before = zlib.crc32(np.ascontiguousarray(part).view(np.uint8).data, before)
    return before

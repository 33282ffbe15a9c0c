"""Chunks as plain lists, and those that a corpus should give, made slowly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gensim_tfw2v.corpus.sources import MAX_SENTENCE_WORDS, Chunk, Source

PlainChunk = tuple[int, list[int], list[int], int, int]


def plain(chunk: Chunk) -> PlainChunk:
    """Return a chunk as plain lists, which compare by value."""
    return (
        chunk.number,
        chunk.content.ids.tolist(),
        chunk.content.lengths.tolist(),
        chunk.raw_words,
        chunk.sentences,
    )


def plain_epoch(source: Source) -> list[PlainChunk]:
    """Return the chunks of one epoch as plain lists."""
    return [plain(chunk) for chunk in source.epoch()]


def expected_chunks(
    sentences: Iterable[Sequence[Any]], ids: Mapping[Any, int], words_per_chunk: int
) -> list[PlainChunk]:
    """Return the chunks of some sentences, made slowly and word by word."""
    chunks: list[PlainChunk] = []
    known: list[int] = []
    lengths: list[int] = []
    words = count = 0
    for sentence in sentences:
        count += 1
        for start in range(0, max(1, len(sentence)), MAX_SENTENCE_WORDS):
            piece = sentence[start : start + MAX_SENTENCE_WORDS]
            found = [ids[word] for word in piece if word in ids]
            known += found
            lengths += [len(found)] if found else []
            words += len(piece)
            if words >= words_per_chunk:
                chunks.append((len(chunks), known, lengths, words, count))
                known, lengths, words, count = [], [], 0, 0
    if words or count:
        chunks.append((len(chunks), known, lengths, words, count))
    return chunks

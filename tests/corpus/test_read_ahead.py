"""The thread that reads a corpus: what it hands over and in which order, and how it ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Iterator

import pytest
from support.no_sentences import NO_SENTENCES

from gensim_tfw2v.corpus.chunks import Chunk
from gensim_tfw2v.corpus.iterable_source import IterableSource
from gensim_tfw2v.corpus.read_ahead import ChunkReader
from gensim_tfw2v.corpus.sources import CacheBudget, Reading, Source

LONGEST_WAIT = 20.0


class Numbers(Source):
    """Chunks with nothing in them; what of them has been made, and by which threads."""

    def __init__(self, chunks: int = 10**9, error: Exception | None = None) -> None:
        super().__init__()
        self.chunks, self.error = chunks, error
        self.made = 0
        self.threads: list[int] = []
        self.closed = threading.Event()

    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        try:
            for number in range(self.chunks):
                self.threads.append(threading.get_ident())
                self.made += 1
                yield Chunk(number, NO_SENTENCES, 1, 1)
            if self.error is not None:
                raise self.error
        finally:
            self.threads.append(threading.get_ident())
            self.closed.set()

    def close(self) -> None:
        """Free nothing."""


class Stuck:
    """A corpus that does not come to its second sentence before it is let go; it tells who opened and closed it."""

    def __init__(self) -> None:
        self.let_go, self.at_second, self.closed = threading.Event(), threading.Event(), threading.Event()
        self.threads: list[int] = []

    def __iter__(self) -> Iterator[str]:
        self.threads.append(threading.get_ident())
        try:
            yield "a"
            self.at_second.set()
            self.let_go.wait(LONGEST_WAIT)
            while True:
                yield "a"
        finally:
            self.threads.append(threading.get_ident())
            self.closed.set()


def started(source: Source, ahead: int = 2) -> ChunkReader:
    """Return a reader at work."""
    reader = ChunkReader(source, ahead)
    reader.start()
    return reader


def readers() -> list[threading.Thread]:
    """Return the reading threads that are alive."""
    return [thread for thread in threading.enumerate() if thread.name == "tfw2v-reader"]


def test_all_chunks_come_in_order_and_then_none() -> None:
    source = Numbers(50)
    reader = started(source)
    assert [placed.chunk.number for placed in iter(reader.take, None)] == list(range(50))
    assert reader.take() is None
    assert source.closed.is_set()
    reader.join()
    assert not readers()


def test_an_error_of_the_corpus_comes_after_all_chunks_before_it() -> None:
    reader = started(Numbers(5, OSError("the share went away")), ahead=10)
    assert [reader.take().chunk.number for _ in range(5)] == list(range(5))  # type: ignore[union-attr]
    with pytest.raises(OSError, match="the share went away"):
        reader.take()
    reader.join()
    assert not readers()


def test_no_more_is_read_ahead_than_asked_for() -> None:
    source = Numbers()
    reader = started(source, ahead=3)
    for taken in range(1, 100):
        reader.take()
        assert source.made <= taken + 3 + 1
    reader.stop()
    reader.join()


def test_a_reader_that_waits_for_room_ends_when_stopped_and_closes_the_corpus_itself() -> None:
    source = Numbers()
    reader = started(source)
    reader.take()
    reader.stop()
    assert reader.take() is None
    reader.join()
    assert not readers()
    assert source.closed.is_set()
    assert len(set(source.threads)) == 1
    assert threading.get_ident() not in source.threads


def test_a_taker_that_waits_is_let_go_by_stopping() -> None:
    corpus = Stuck()
    reader = started(IterableSource(corpus, Reading({"a": 0}, 10, CacheBudget(0, 0))))
    took: list[Chunk | None] = []
    taker = threading.Thread(target=lambda: took.append(reader.take()))
    taker.start()
    assert corpus.at_second.wait(LONGEST_WAIT)
    reader.stop()
    taker.join(LONGEST_WAIT)
    assert took == [None]
    corpus.let_go.set()


def test_a_stuck_corpus_is_left_to_its_thread_and_closed_there_at_its_next_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    corpus = Stuck()
    reader = started(IterableSource(corpus, Reading({"a": 0}, 10**9, CacheBudget(10**6, 0))))
    assert corpus.at_second.wait(LONGEST_WAIT)
    reader.stop()
    with caplog.at_level(logging.WARNING):
        reader.join()
    assert "the corpus is still waiting for its next sentence" in caplog.text
    assert not corpus.closed.is_set()
    corpus.let_go.set()
    assert corpus.closed.wait(LONGEST_WAIT)
    reader.join()
    assert not readers()
    assert len(set(corpus.threads)) == 1
    assert threading.get_ident() not in corpus.threads


def test_a_reader_that_was_never_started_need_not_be_waited_for() -> None:
    reader = ChunkReader(Numbers(), 1)
    reader.stop()
    reader.join()
    assert not readers()

"""Epochs follow each other: workers begin the next one early, but never far ahead of the caller."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import closing
from queue import SimpleQueue

import pytest
from support.no_sentences import NO_SENTENCES

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.chunk_task import NOTHING_TRAINED, ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.chunks import Chunk
from gensim_tfw2v.corpus.positions import BEGINNING, PassPosition
from gensim_tfw2v.corpus.sources import Source
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.training.epoch import EpochPlan
from gensim_tfw2v.training.epochs import train_epochs

LONGEST_WAIT = 20.0
CHUNKS = 4


class Numbers(Source):
    """A source of empty chunks, which counts the passes that are open at the same time."""

    def __init__(self) -> None:
        super().__init__()
        self.passes = self.open_passes = self.most_open = 0
        self.was_abandoned = False

    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        self.passes += 1
        self.open_passes += 1
        self.most_open = max(self.most_open, self.open_passes)
        try:
            for number in range(CHUNKS):
                yield Chunk(number, NO_SENTENCES, 1, 1)
        finally:
            self.open_passes -= 1

    def abandon(self) -> None:
        self.was_abandoned = True

    def close(self) -> None:
        """Free nothing."""


class Recording(Placement):
    """A placement that trains nothing and records its (epoch, chunk) pairs. A function may delay each."""

    can_fail = has_failed = False

    def __init__(self, concurrency: int, meanwhile: Callable[[int, int], None] = lambda *_: None) -> None:
        self.concurrency = concurrency
        self.begun: list[tuple[int, int]] = []
        self.ended: list[tuple[int, int]] = []
        self.calls: list[tuple[str, int]] = []  # of an epoch's begin, chunks and end, in their order
        self._meanwhile = meanwhile

    def begin_epoch(self, epoch: int, begin: PassPosition = BEGINNING) -> None:
        self.calls.append(("begin", epoch))

    def end_epoch(self, epoch: int) -> None:
        self.calls.append(("end", epoch))

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        epoch, chunk = task.entropy
        self.begun.append((epoch, chunk))
        self.calls.append(("chunk", epoch))
        self._meanwhile(epoch, chunk)
        self.calls.append(("chunk", epoch))
        self.ended.append((epoch, chunk))
        return NOTHING_TRAINED

    def load(self, tables: ModelTables) -> None:
        """Keep nothing."""

    def read_into(self, tables: ModelTables) -> None:
        """Leave the arrays as they are."""

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        raise AssertionError("these tests read no rows")

    def close(self) -> None:
        """Free nothing."""


def plan(epoch: int) -> EpochPlan:
    return EpochPlan(epoch, 9, (epoch,), lambda fraction: 0.1, CHUNKS, None, exact_loss=False)


def in_order(epochs: int) -> list[tuple[int, int]]:
    return [(epoch, chunk) for epoch in range(epochs) for chunk in range(CHUNKS)]


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_every_chunk_of_every_epoch_is_trained_once_and_counted(concurrency: int) -> None:
    source, placement = Numbers(), Recording(concurrency)
    done = list(train_epochs(map(plan, range(5)), source, placement, []))
    assert [of.epoch for of, _ in done] == list(range(5))
    assert [counts.examples for _, counts in done] == [CHUNKS] * 5
    assert sorted(placement.ended) == in_order(5)
    assert (source.passes, source.most_open, source.was_abandoned) == (5, 1, False)


def test_one_worker_trains_chunks_in_their_order() -> None:
    placement = Recording(1)
    list(train_epochs(map(plan, range(4)), Numbers(), placement, []))
    assert placement.begun == in_order(4)


def test_no_epochs_yield_nothing() -> None:
    assert list(train_epochs([], Numbers(), Recording(2), [])) == []


def test_a_worker_begins_the_next_epoch_while_another_one_is_at_the_last() -> None:
    is_next_begun = threading.Event()

    def meanwhile(epoch: int, chunk: int) -> None:
        if epoch == 1:
            is_next_begun.set()
        elif chunk == CHUNKS - 1:
            assert is_next_begun.wait(LONGEST_WAIT)

    done = list(train_epochs(map(plan, range(2)), Numbers(), Recording(2, meanwhile), []))
    assert [counts.examples for _, counts in done] == [CHUNKS] * 2


def test_no_epoch_begins_before_the_caller_is_done_with_all_but_the_last_of_those_before_it() -> None:
    source, placement = Numbers(), Recording(2)
    for number, _ in enumerate(train_epochs(map(plan, range(6)), source, placement, [])):
        threading.Event().wait(0.05)  # in which workers get as far as they may
        assert max(epoch for epoch, _ in placement.begun) <= number + 1


def test_an_error_stops_all_workers_and_is_raised_when_they_have_stopped() -> None:
    failing: SimpleQueue[threading.Thread] = SimpleQueue()

    def meanwhile(epoch: int, chunk: int) -> None:
        if (epoch, chunk) == (1, 1):
            failing.put(threading.current_thread())
            raise ValueError("of the second epoch")
        if epoch == 1 and chunk > 1:  # as if it lasted until the other worker has stopped everybody
            failing.get().join()

    source, placement = Numbers(), Recording(2, meanwhile)
    epochs = train_epochs(map(plan, range(1000)), source, placement, [])
    with pytest.raises(ValueError, match="of the second epoch"):
        list(epochs)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tfw2v-worker")]
    assert max(epoch for epoch, _ in placement.begun) == 1


def test_an_error_of_the_plans_is_raised() -> None:
    def failing(epoch: int) -> EpochPlan:
        if epoch == 2:
            raise ValueError("no such plan")
        return plan(epoch)

    with pytest.raises(ValueError, match="no such plan"):
        list(train_epochs(map(failing, range(5)), Numbers(), Recording(3), []))


def test_closing_the_iterator_stops_the_workers() -> None:
    placement = Recording(2)
    with closing(train_epochs(map(plan, range(1000)), Numbers(), placement, [])) as epochs:
        next(epochs)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tfw2v-worker")]
    assert max(epoch for epoch, _ in placement.begun) <= 2


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_placement_hears_of_an_epoch_before_its_first_chunk_and_after_its_last(concurrency: int) -> None:
    placement = Recording(concurrency)
    for done, _ in train_epochs(map(plan, range(4)), Numbers(), placement, []):
        calls = [call for call, epoch in placement.calls if epoch == done.epoch]
        assert calls == ["begin", *["chunk"] * 2 * CHUNKS, "end"]


def test_epochs_that_may_not_overlap_follow_one_after_the_other() -> None:
    def meanwhile(epoch: int, chunk: int) -> None:
        if chunk == CHUNKS - 1:
            threading.Event().wait(0.05)  # in which the other worker gets as far as it may

    placement = Recording(2, meanwhile)
    placement.epochs_may_overlap = False
    list(train_epochs(map(plan, range(3)), Numbers(), placement, []))
    epochs = [epoch for _, epoch in placement.calls]
    assert epochs == sorted(epochs)


@pytest.mark.parametrize("call", ["begin", "end"])
@pytest.mark.parametrize("failing", [0, 2])
def test_an_error_at_the_begin_or_end_of_an_epoch_is_raised(call: str, failing: int) -> None:
    def fail(epoch: int, *_: object) -> None:
        if epoch == failing:
            raise ValueError(f"at the {call} of epoch {epoch}")

    placement = Recording(2)
    setattr(placement, f"{call}_epoch", fail)
    done = []
    with pytest.raises(ValueError, match=f"at the {call} of epoch {failing}"):
        for of, _ in train_epochs(map(plan, range(5)), Numbers(), placement, []):
            done.append(of.epoch)
    assert failing not in done
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tfw2v-worker")]

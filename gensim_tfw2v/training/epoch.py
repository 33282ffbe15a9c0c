"""One epoch: takes chunks of ids, lets a placement train them, and counts what was trained."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from queue import SimpleQueue

from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.passes import PlacedChunk
from gensim_tfw2v.corpus.positions import PassPosition
from gensim_tfw2v.corpus.read_ahead import ChunkReader
from gensim_tfw2v.corpus.sources import Chunk
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.training.divergence import check_finite
from gensim_tfw2v.training.progress import EpochCounts, EpochPosition, EpochProgress


@dataclass(frozen=True)
class EpochPlan:
    """The plan of an epoch: what it trains on, and how."""

    epoch: int  # from 0
    epochs: int
    seed: Sequence[int]  # entropy of this epoch's random numbers; each chunk adds its number
    learning_rate_at: Callable[[float], float]  # by fraction of the epoch
    total_examples: int | None  # length of the epoch in sentences
    total_words: int | None  # length in raw words, used if the number of sentences is unknown
    exact_loss: bool  # measure the loss of every batch

    def fraction(self, examples: int, raw_words: int) -> float:
        """Return what fraction of the epoch these numbers of sentences and raw words are."""
        if self.total_examples:
            return examples / self.total_examples
        return raw_words / self.total_words if self.total_words else 0.0


class Epoch:
    """State that the worker threads of one epoch share. `_lock` guards everything that changes.

    A thread that needs both locks takes `_take_lock` first.
    """

    def __init__(self, plan: EpochPlan, reader: ChunkReader, placement: Placement, begin: EpochPosition) -> None:
        self.plan, self.reader, self.placement = plan, reader, placement
        self.workers = placement.concurrency  # those still training it
        self.is_finished = False  # every chunk is trained
        self._is_stopped = False
        self.ended: SimpleQueue[None] = SimpleQueue()  # gets an item when the epoch is finished or stopped
        self.counts = replace(begin.counts)
        self.seconds_before = begin.counts.seconds  # of an earlier part of the epoch
        self._taken, self._checksum = begin.passed.chunks, begin.passed.checksum
        self._untrained = set(begin.passed.missing)  # numbers of chunks below `_taken`
        self._lock = threading.Lock()
        self._take_lock = threading.Lock()  # chunks are counted as taken in their order
        self._learning_rate = 0.0

    def work(self, after_chunk: Callable[[Chunk], None]) -> None:
        """Train chunks until none is left or the epoch is stopped."""
        while (task := self._next_task()) is not None:
            chunk = task[0]
            self._train(*task)
            after_chunk(chunk)

    def leave(self) -> None:
        """Remove one worker; the last one finishes the epoch, unless it was stopped: chunks may be left."""
        with self._lock:
            self.workers -= 1
            is_last = not self.workers
        if is_last:
            self.placement.end_epoch(self.plan.epoch)
            self.is_finished = not self._is_stopped
            self.ended.put(None)

    def stop(self) -> None:
        """Hand out no further chunk."""
        self._is_stopped = True
        self.reader.stop()
        self.ended.put(None)

    def _next_task(self) -> tuple[Chunk, float, float] | None:
        """Return the next chunk with the learning rates at its beginning and end."""
        began = time.perf_counter()
        with self._take_lock:
            placed = self.reader.take()  # may take long; progress() can use the other lock meanwhile
            task = None if placed is None else (placed.chunk, *self._begin(placed))
        with self._lock:
            self.counts.seconds_waiting += time.perf_counter() - began
        return task

    def _begin(self, placed: PlacedChunk) -> tuple[float, float]:
        """Count a chunk as taken, and return the learning rates at its beginning and end."""
        chunk, plan = placed.chunk, self.plan
        sentences, words = placed.sentences_before, placed.words_before
        with self._lock:
            first = plan.learning_rate_at(plan.fraction(sentences, words))
            last = plan.learning_rate_at(plan.fraction(sentences + chunk.sentences, words + chunk.raw_words))
            self._learning_rate = last
            self._untrained.add(chunk.number)
            if chunk.number >= self._taken:  # not one that an earlier part of the epoch took
                self._taken, self._checksum = chunk.number + 1, placed.checksum
            return first, last

    def _train(self, chunk: Chunk, first_rate: float, last_rate: float) -> None:
        task = ChunkTask(
            chunk.content,
            entropy=(*self.plan.seed, chunk.number),
            first_rate=first_rate,
            last_rate=last_rate,
            exact_loss=self.plan.exact_loss,
        )
        trained = self.placement.train_chunk(task)
        check_finite(self.plan.epoch, chunk.number, task, trained)
        self._count(chunk, trained)

    def _count(self, chunk: Chunk, trained: TrainedChunk) -> None:
        counts = EpochCounts(
            examples=chunk.sentences,
            raw_words=chunk.raw_words,
            trained_words=trained.tokens,
            blocks=int(len(trained.pairs) > 0),
            pairs=float(trained.pairs.sum()),
            loss=float(trained.batches.losses[trained.measured].sum(dtype="float64")),
            measured_pairs=float(trained.pairs[trained.measured].sum()),
            touched_rows=int(trained.batches.touched_rows.sum(dtype="int64")),
            clipped_rows=int(trained.batches.clipped_rows.sum(dtype="int64")),
            seconds_preparing=trained.seconds_preparing,
            seconds_stepping=trained.seconds_stepping,
        )
        with self._lock:
            self.counts += counts
            self._untrained.discard(chunk.number)

    def set_seconds(self, seconds: float) -> None:
        """Set how many seconds this part of the epoch has taken so far."""
        with self._lock:
            self.counts.seconds = self.seconds_before + seconds

    def position(self) -> EpochPosition:
        """Return how far the epoch has come."""
        with self._lock:
            passed = PassPosition(self._taken, self._checksum, tuple(sorted(self._untrained)))
            return EpochPosition(self.plan.epoch, passed, replace(self.counts), self.is_finished)

    def progress(self) -> EpochProgress:
        """Return the epoch's progress, with a copy of its counts."""
        with self._lock:
            return EpochProgress(
                epoch=self.plan.epoch,
                epochs=self.plan.epochs,
                fraction=self.plan.fraction(self.counts.examples, self.counts.raw_words),
                learning_rate=self._learning_rate,
                counts=replace(self.counts),
                workers=self.placement.concurrency,
                tasks=self.placement.task_metrics(),
            )

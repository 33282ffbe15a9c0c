"""The epoch loop: chunks of ids → work for a placement, with what it learnt counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gensim_tfw2v.chunk_reader import ChunkReader
from gensim_tfw2v.corpus import Chunk, Source
from gensim_tfw2v.placement import Placement
from gensim_tfw2v.progress import EpochProgress, ProgressObserver
from gensim_tfw2v.work import ChunkWork, TrainedChunk

_SECONDS_BETWEEN_REPORTS = 0.2


@dataclass(frozen=True)
class EpochPlan:
    """What an epoch is to do."""

    epoch: int  # from 0
    epochs: int
    seed: Sequence[int]  # entropy of this epoch's random numbers; a chunk adds its number
    learning_rate_at: Callable[[float], float]  # by fraction of the epoch
    total_examples: int | None  # the epoch's length, in sentences if given, else in raw words
    total_words: int | None
    exact_loss: bool  # measure every batch

    def fraction(self, examples: int, raw_words: int) -> float:
        """Return how much of the epoch these counts are."""
        if self.total_examples:
            return examples / self.total_examples
        return raw_words / self.total_words if self.total_words else 0.0


@dataclass
class EpochTally:
    """What an epoch has done so far."""

    examples: int = 0
    raw_words: int = 0
    trained_words: int = 0
    blocks: int = 0
    loss: float = 0.0  # sum over measured batches
    measured_pairs: float = 0.0
    pairs: float = 0.0
    touched_rows: int = 0  # rows that took a bounded step
    bounded_rows: int = 0  # those whose step was shortened
    seconds_waiting: float = 0.0  # for the corpus; this and the next two are added up over workers
    seconds_preparing: float = 0.0
    seconds_stepping: float = 0.0
    seconds: float = 0.0

    @property
    def mean_loss(self) -> float:
        """Return the mean loss per pair, nan if none was measured."""
        return self.loss / self.measured_pairs if self.measured_pairs else float("nan")


@dataclass
class _Epoch:
    """State that the worker threads of one epoch share; everything mutable is guarded by `lock`.

    Who wants both locks takes `turn` first.
    """

    plan: EpochPlan
    reader: ChunkReader
    placement: Placement
    tally: EpochTally = field(default_factory=EpochTally)
    lock: threading.Lock = field(default_factory=threading.Lock)
    turn: threading.Lock = field(default_factory=threading.Lock)  # to take a chunk: rates follow the chunks' order
    failure: BaseException | None = None
    begun_examples: int = 0
    begun_words: int = 0
    learning_rate: float = 0.0

    def work(self) -> None:
        """Train one chunk after the other until none is left, or until told to stop."""
        try:
            while (task := self._await_task()) is not None:
                self._train(*task)
        except BaseException as failure:
            with self.lock:
                self.failure = self.failure or failure
            self.reader.stop()

    def _await_task(self) -> tuple[Chunk, float, float] | None:
        """Return the next task, the time it took to come added to the tally."""
        began = time.perf_counter()
        task = self._next_task()
        with self.lock:
            self.tally.seconds_waiting += time.perf_counter() - began
        return task

    def _next_task(self) -> tuple[Chunk, float, float] | None:
        """Return the next chunk with the learning rates at its beginning and end."""
        with self.turn:
            chunk = self.reader.take()  # may last: the lock that progress() needs stays free meanwhile
            return None if chunk is None else (chunk, *self._begin(chunk))

    def _begin(self, chunk: Chunk) -> tuple[float, float]:
        """Return the learning rates at a chunk's beginning and end, with the chunk counted as begun."""
        with self.lock:
            first = self.plan.learning_rate_at(self.plan.fraction(self.begun_examples, self.begun_words))
            self.begun_examples += chunk.sentences
            self.begun_words += chunk.raw_words
            last = self.plan.learning_rate_at(self.plan.fraction(self.begun_examples, self.begun_words))
            self.learning_rate = last
            return first, last

    def _train(self, chunk: Chunk, first_rate: float, last_rate: float) -> None:
        work = ChunkWork(
            chunk.ids,
            chunk.sentence_lengths,
            entropy=(*self.plan.seed, chunk.number),
            first_rate=first_rate,
            last_rate=last_rate,
            exact_loss=self.plan.exact_loss,
            span=chunk.span,
        )
        self._count(chunk, self.placement.train_chunk(work))

    def _count(self, chunk: Chunk, trained: TrainedChunk) -> None:
        measured = trained.measured
        with self.lock:
            self.tally.examples += chunk.sentences
            self.tally.raw_words += chunk.raw_words
            self.tally.blocks += len(trained.pairs) > 0
            self.tally.trained_words += trained.tokens
            self.tally.pairs += float(trained.pairs.sum())
            self.tally.loss += float(trained.losses[measured].sum(dtype="float64"))
            self.tally.measured_pairs += float(trained.pairs[measured].sum())
            self.tally.touched_rows += int(trained.touched_rows.sum(dtype="int64"))
            self.tally.bounded_rows += int(trained.bounded_rows.sum(dtype="int64"))
            self.tally.seconds_preparing += trained.seconds_preparing
            self.tally.seconds_stepping += trained.seconds_stepping

    def progress(self) -> EpochProgress:
        """Return a picture of the tally."""
        with self.lock:
            tally = self.tally
            return EpochProgress(
                epoch=self.plan.epoch,
                epochs=self.plan.epochs,
                examples=tally.examples,
                raw_words=tally.raw_words,
                trained_words=tally.trained_words,
                fraction=self.plan.fraction(tally.examples, tally.raw_words),
                seconds=tally.seconds,
                learning_rate=self.learning_rate,
                mean_loss=tally.mean_loss,
                loss=tally.loss,
                measured_pairs=tally.measured_pairs,
                pairs=tally.pairs,
                touched_rows=tally.touched_rows,
                bounded_rows=tally.bounded_rows,
                workers=self.placement.concurrency,
                seconds_waiting=tally.seconds_waiting,
                seconds_preparing=tally.seconds_preparing,
                seconds_stepping=tally.seconds_stepping,
                tasks=self.placement.task_figures(),
            )


def train_epoch(
    plan: EpochPlan,
    source: Source,
    placement: Placement,
    observers: Sequence[ProgressObserver],
) -> EpochTally:
    """Return what one pass over a corpus trained.

    An exception in a worker, in the corpus, or a keyboard interrupt stops all workers after the block they are at and
    is raised once they have: the placement then holds everything learnt so far. After that `source` has been abandoned.
    """
    reader = ChunkReader(source, ahead=placement.concurrency)
    epoch = _Epoch(plan, reader, placement)
    began = time.perf_counter()
    threads = [threading.Thread(target=epoch.work, name=f"tfw2v-worker-{i}") for i in range(placement.concurrency)]
    try:
        reader.start()
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(_SECONDS_BETWEEN_REPORTS)
                epoch.tally.seconds = time.perf_counter() - began
                for observer in observers:
                    observer.advance(epoch.progress())
    finally:
        reader.stop()
        for thread in threads:
            if thread.ident is not None:  # an interrupt may come before all of them are started
                thread.join()
        reader.join()
        epoch.tally.seconds = time.perf_counter() - began
    if epoch.failure is not None:
        raise epoch.failure
    for observer in observers:
        observer.end_epoch(epoch.progress())
    return epoch.tally

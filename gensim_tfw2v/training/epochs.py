"""The epoch loop: chunks of ids → work for a placement, with what it learnt counted."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.read_ahead import ChunkReader
from gensim_tfw2v.corpus.sources import Chunk, Source
from gensim_tfw2v.placement.interface import Placement
from gensim_tfw2v.training.progress import EpochCounts, EpochProgress, ProgressObserver

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
class _Epoch:
    """State that the worker threads of one epoch share; everything mutable is guarded by `lock`.

    Who wants both locks takes `turn` first.
    """

    plan: EpochPlan
    reader: ChunkReader
    placement: Placement
    workers: int  # that have not left it
    is_over: bool = False  # all workers have left it
    left: SimpleQueue[None] = field(default_factory=SimpleQueue)  # gets an item when it is over or stopped
    counts: EpochCounts = field(default_factory=EpochCounts)
    lock: threading.Lock = field(default_factory=threading.Lock)
    turn: threading.Lock = field(default_factory=threading.Lock)  # to take a chunk: rates follow the chunks' order
    begun_examples: int = 0
    begun_words: int = 0
    learning_rate: float = 0.0

    def work(self) -> None:
        """Train one chunk after the other until none is left, or until told to stop."""
        while (task := self._await_task()) is not None:
            self._train(*task)

    def leave(self) -> None:
        """Count one worker less; the last one ends the epoch."""
        with self.lock:
            self.workers -= 1
            is_last = not self.workers
        if is_last:
            self.placement.end_epoch(self.plan.epoch)
            self.is_over = True
            self.left.put(None)

    def stop(self) -> None:
        """Let nobody take a further chunk."""
        self.reader.stop()
        self.left.put(None)

    def _await_task(self) -> tuple[Chunk, float, float] | None:
        """Return the next task, the time it took to come added to the counts."""
        began = time.perf_counter()
        task = self._next_task()
        with self.lock:
            self.counts.seconds_waiting += time.perf_counter() - began
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
        task = ChunkTask(
            chunk.content,
            entropy=(*self.plan.seed, chunk.number),
            first_rate=first_rate,
            last_rate=last_rate,
            exact_loss=self.plan.exact_loss,
        )
        self._count(chunk, self.placement.train_chunk(task))

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
        with self.lock:
            self.counts += counts

    def set_seconds(self, seconds: float) -> None:
        """Set how long the epoch has taken so far."""
        with self.lock:
            self.counts.seconds = seconds

    def progress(self) -> EpochProgress:
        """Return how far the epoch has come, with a copy of its counts."""
        with self.lock:
            return EpochProgress(
                epoch=self.plan.epoch,
                epochs=self.plan.epochs,
                fraction=self.plan.fraction(self.counts.examples, self.counts.raw_words),
                learning_rate=self.learning_rate,
                counts=replace(self.counts),
                workers=self.placement.concurrency,
                tasks=self.placement.task_metrics(),
            )


class _Epochs:
    """Epochs one after the other: a worker that finds nothing left of one goes on with the next.

    None is begun before the caller is done with all but the last of those before it. Everybody waits at simple queues
    alone: an interrupt that strikes the caller in the midst of waiting for a condition may leave its lock behind, held.
    """

    def __init__(self, plans: Iterable[EpochPlan], source: Source, placement: Placement) -> None:
        self._plans = iter(plans)
        self._source = source
        self._placement = placement
        self._lock = threading.Lock()  # guards the next four
        self._latest: deque[_Epoch] = deque(maxlen=tuning.MOST_EPOCHS_AT_ONCE)  # all that anybody is at
        self._is_wanted = True  # the next one, as a worker has found nothing left of the latest
        self._permitted = 0  # how many may begin
        self._is_stopped = False
        self._failure: BaseException | None = None
        self._inboxes: list[SimpleQueue[_Epoch | None]] = [SimpleQueue() for _ in range(placement.concurrency)]
        self.begun: SimpleQueue[_Epoch | None] = SimpleQueue()  # None: no others are begun

    def work(self, worker: int) -> None:
        """Train epoch after epoch."""
        try:
            while (epoch := self._inboxes[worker].get()) is not None:
                epoch.work()
                self._want_next_after(epoch)
                epoch.leave()
        except BaseException as failure:
            self._failure = self._failure or failure
            self.stop()

    def _want_next_after(self, epoch: _Epoch) -> None:
        if self._is_stopped:
            return
        epoch.reader.join()  # its corpus is closed before the epoch ends, or the next one opens it
        with self._lock:
            self._is_wanted |= epoch is self._latest[-1]
            self._begin_if_due()

    def permit_another(self) -> None:
        """Let an epoch more begin."""
        with self._lock:
            self._permitted += 1
            self._begin_if_due()

    def _begin_if_due(self) -> None:
        """Begin the next epoch if it is wanted and permitted; whoever calls has the lock."""
        if not (self._is_wanted and self._permitted) or self._is_stopped:
            return
        self._is_wanted = False
        self._permitted -= 1
        epoch = None
        if (plan := next(self._plans, None)) is not None:
            workers = self._placement.concurrency
            epoch = _Epoch(plan, ChunkReader(self._source, ahead=workers), self._placement, workers)
            self._latest.append(epoch)
            self._placement.begin_epoch(plan.epoch)
            epoch.reader.start()
        for queue in (*self._inboxes, self.begun):
            queue.put(epoch)

    def stop(self) -> None:
        """Let workers take no further chunk."""
        with self._lock:
            self._is_stopped = True
        for queue in (*self._inboxes, self.begun):
            queue.put(None)
        for epoch in self._latest:
            epoch.stop()

    def close(self) -> None:
        """Wait until every corpus is closed."""
        for epoch in self._latest:
            epoch.reader.join()

    def raise_failure(self) -> None:
        """Raise what made the workers stop, if anything but the caller did."""
        if self._failure is not None:
            raise self._failure


def train_epochs(
    plans: Iterable[EpochPlan],
    source: Source,
    placement: Placement,
    observers: Sequence[ProgressObserver],
) -> Generator[tuple[EpochPlan, EpochCounts], None, None]:
    """Yield each epoch's plan and what it trained when its last chunk is; workers may be at the next one by then.

    An exception in a worker, in the corpus, or a keyboard interrupt stops all workers after the block they are at and
    is raised once they have: the placement then holds everything learnt so far. After that `source` has been abandoned.
    Closing the iterator stops them as well.
    """
    epochs = _Epochs(plans, source, placement)
    threads = [
        threading.Thread(target=epochs.work, args=(worker,), name=f"tfw2v-worker-{worker}")
        for worker in range(placement.concurrency)
    ]
    try:
        for _ in range(tuning.MOST_EPOCHS_AT_ONCE if placement.epochs_may_overlap else 1):
            epochs.permit_another()
        for thread in threads:
            thread.start()
        began = time.perf_counter()
        while (epoch := epochs.begun.get()) is not None:
            is_running = True
            while is_running:
                with contextlib.suppress(Empty):
                    epoch.left.get(timeout=_SECONDS_BETWEEN_REPORTS)
                    is_running = False
                epoch.set_seconds(time.perf_counter() - began)
                for observer in observers:
                    observer.advance(epoch.progress())
            if not epoch.is_over:
                break
            began += epoch.counts.seconds
            for observer in observers:
                observer.end_epoch(epoch.progress())
            yield epoch.plan, epoch.counts
            epochs.permit_another()
    finally:
        epochs.stop()
        for thread in threads:
            if thread.ident is not None:  # an interrupt may come before all of them are started
                thread.join()
        epochs.close()
    epochs.raise_failure()

"""The epoch loop: takes chunks of ids, lets a placement train them, and counts what was trained."""

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
from gensim_tfw2v.training.divergence import check_finite
from gensim_tfw2v.training.progress import EpochCounts, EpochProgress, ProgressObserver

_SECONDS_BETWEEN_REPORTS = 0.2


@dataclass(frozen=True)
class EpochPlan:
    """What an epoch trains on, and how."""

    epoch: int  # from 0
    epochs: int
    seed: Sequence[int]  # entropy of this epoch's random numbers; each chunk adds its number
    learning_rate_at: Callable[[float], float]  # by fraction of the epoch
    total_examples: int | None  # length of the epoch in sentences
    total_words: int | None  # length in raw words, used if the number of sentences is unknown
    exact_loss: bool  # measure the loss of every batch

    def fraction(self, examples: int, raw_words: int) -> float:
        """Return what part of the epoch so many sentences and raw words are."""
        if self.total_examples:
            return examples / self.total_examples
        return raw_words / self.total_words if self.total_words else 0.0


@dataclass
class _Epoch:
    """State that the worker threads of one epoch share. `lock` guards all that changes.

    A thread that needs both locks takes `take_lock` first.
    """

    plan: EpochPlan
    reader: ChunkReader
    placement: Placement
    workers: int  # those still training it
    is_finished: bool = False  # every chunk is trained
    ended: SimpleQueue[None] = field(default_factory=SimpleQueue)  # gets an item when the epoch is finished or stopped
    counts: EpochCounts = field(default_factory=EpochCounts)
    lock: threading.Lock = field(default_factory=threading.Lock)
    take_lock: threading.Lock = field(default_factory=threading.Lock)  # chunks get learning rates in their order
    begun_examples: int = 0
    begun_words: int = 0
    learning_rate: float = 0.0

    def work(self) -> None:
        """Train chunks until none is left or the epoch is stopped."""
        while (task := self._await_task()) is not None:
            self._train(*task)

    def leave(self) -> None:
        """Remove one worker; the last one finishes the epoch."""
        with self.lock:
            self.workers -= 1
            is_last = not self.workers
        if is_last:
            self.placement.end_epoch(self.plan.epoch)
            self.is_finished = True
            self.ended.put(None)

    def stop(self) -> None:
        """Hand out no further chunk."""
        self.reader.stop()
        self.ended.put(None)

    def _await_task(self) -> tuple[Chunk, float, float] | None:
        """Return the next task, and add the time waited for it to the counts."""
        began = time.perf_counter()
        task = self._next_task()
        with self.lock:
            self.counts.seconds_waiting += time.perf_counter() - began
        return task

    def _next_task(self) -> tuple[Chunk, float, float] | None:
        """Return the next chunk with the learning rates at its beginning and end."""
        with self.take_lock:
            chunk = self.reader.take()  # may take long; progress() can use the other lock meanwhile
            return None if chunk is None else (chunk, *self._begin(chunk))

    def _begin(self, chunk: Chunk) -> tuple[float, float]:
        """Count a chunk as begun, and return the learning rates at its beginning and end."""
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
        with self.lock:
            self.counts += counts

    def set_seconds(self, seconds: float) -> None:
        """Set how many seconds the epoch has taken so far."""
        with self.lock:
            self.counts.seconds = seconds

    def progress(self) -> EpochProgress:
        """Return the epoch's progress, with a copy of its counts."""
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
    """Trains epochs in order. A worker that finds no chunk left in one epoch may begin the next.

    An epoch begins only when the caller has permitted it. Threads wait at simple queues only: an interrupt that stops
    the caller while it waits for a condition could leave the condition's lock held.
    """

    def __init__(self, plans: Iterable[EpochPlan], source: Source, placement: Placement) -> None:
        self._plans = iter(plans)
        self._source = source
        self._placement = placement
        self._lock = threading.Lock()  # guards the next four
        self._latest: deque[_Epoch] = deque(maxlen=tuning.MOST_EPOCHS_AT_ONCE)  # all that workers train
        self._is_next_wanted = True  # a worker has found no chunk left in the latest epoch
        self._permitted = 0  # how many further epochs may begin
        self._is_stopped = False
        self._failure: BaseException | None = None
        self._inboxes: list[SimpleQueue[_Epoch | None]] = [SimpleQueue() for _ in range(placement.concurrency)]
        self.begun: SimpleQueue[_Epoch | None] = SimpleQueue()  # None: no further epoch begins

    def work(self, worker: int) -> None:
        """Train every epoch in turn, as worker number `worker`."""
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
        epoch.reader.join()  # so that the corpus is closed before the epoch ends and before the next one opens it
        with self._lock:
            self._is_next_wanted |= epoch is self._latest[-1]
            self._begin_if_due()

    def permit_another(self) -> None:
        """Let one more epoch begin."""
        with self._lock:
            self._permitted += 1
            self._begin_if_due()

    def _begin_if_due(self) -> None:
        """Begin the next epoch if it is wanted and permitted; the caller holds the lock."""
        if not (self._is_next_wanted and self._permitted) or self._is_stopped:
            return
        self._is_next_wanted = False
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
        """Hand out no further chunk and begin no further epoch."""
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
        """Raise the error that stopped the workers, if there was one."""
        if self._failure is not None:
            raise self._failure


def train_epochs(
    plans: Iterable[EpochPlan],
    source: Source,
    placement: Placement,
    observers: Sequence[ProgressObserver],
) -> Generator[tuple[EpochPlan, EpochCounts], None, None]:
    """Yield each epoch's plan and counts once its chunks are trained; workers may train the next epoch meanwhile.

    An error in a worker or the corpus, a keyboard interrupt, and closing the iterator stop all workers after their
    current block. An error is raised once they have stopped. The placement then holds all that was learnt so far, and
    `source` is abandoned.
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
            _report_until_ended(epoch, began, observers)
            if not epoch.is_finished:
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


def _report_until_ended(epoch: _Epoch, began: float, observers: Sequence[ProgressObserver]) -> None:
    """Report the progress of an epoch that began at this time to all observers, until it is finished or stopped."""
    has_ended = False
    while not has_ended:
        with contextlib.suppress(Empty):
            epoch.ended.get(timeout=_SECONDS_BETWEEN_REPORTS)
            has_ended = True
        epoch.set_seconds(time.perf_counter() - began)
        for observer in observers:
            observer.advance(epoch.progress())

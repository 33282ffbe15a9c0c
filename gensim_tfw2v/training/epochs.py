"""The epoch loop: runs epochs one after the other, or the next one while workers finish one, and reports progress."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.read_ahead import ChunkReader
from gensim_tfw2v.corpus.sources import Chunk, Source
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.training.epoch import Epoch, EpochPlan
from gensim_tfw2v.training.progress import ChunkObserver, EpochCounts, EpochPosition, ProgressObserver
from gensim_tfw2v.training.validation import Validation

_SECONDS_BETWEEN_REPORTS = 0.2


class _Epochs:
    """Trains epochs in order. A worker that finds no chunk left in one epoch may begin the next.

    An epoch begins only when the caller has permitted it. Threads wait only at simple queues: an interrupt that stops
    the caller while it waits for a condition could leave the condition's lock held.
    """

    def __init__(
        self,
        plans: Iterable[EpochPlan],
        source: Source,
        placement: Placement,
        begun: Mapping[int, EpochPosition],
        checkpointer: ChunkObserver | None,
        validation: Validation,
    ) -> None:
        self._plans = iter(plans)
        self._source = source
        self._placement = placement
        self._begun_before = begun
        self._has_checksums = checkpointer is not None
        # What is measured at the end of a chunk is in the checkpoint that is written then.
        self._chunk_observers = [each for each in (validation, checkpointer) if each is not None]
        self._lock = threading.Lock()  # guards the next five
        self._begun: list[Epoch] = []
        self._latest: deque[Epoch] = deque(maxlen=tuning.MOST_EPOCHS_AT_ONCE)  # all epochs that workers train
        self._is_next_wanted = True  # a worker has found no chunk left in the latest epoch
        self._permitted = 0  # how many further epochs may begin
        self._is_stopped = False
        self._failure: BaseException | None = None
        self._inboxes: list[SimpleQueue[Epoch | None]] = [SimpleQueue() for _ in range(placement.concurrency)]
        self.begun: SimpleQueue[Epoch | None] = SimpleQueue()  # None: no further epoch begins

    def work(self, worker: int) -> None:
        try:
            while (epoch := self._inboxes[worker].get()) is not None:
                epoch.work(self._after_chunk)
                self._want_next_after(epoch)
                epoch.leave()
        except BaseException as failure:
            self._failure = self._failure or failure
            self.stop()

    def _after_chunk(self, chunk: Chunk) -> None:
        for observer in self._chunk_observers:
            observer.after_chunk(chunk.raw_words, self.positions)

    def positions(self) -> list[EpochPosition]:
        """Return how far each epoch that has begun here has come, in their order."""
        with self._lock:
            return [epoch.position() for epoch in self._begun]

    def _want_next_after(self, epoch: Epoch) -> None:
        if self._is_stopped:
            return
        epoch.reader.join()  # so that the corpus is closed before the epoch ends and before the next one opens it
        with self._lock:
            self._is_next_wanted |= epoch is self._latest[-1]
            self._begin_if_due()

    def permit_another(self) -> None:
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
            begin = self._begun_before.get(plan.epoch, EpochPosition(plan.epoch))
            has_checksums = self._has_checksums or begin.passed.chunks > 0
            reader = ChunkReader(self._source, self._placement.concurrency, begin.passed, has_checksums, plan.epoch)
            epoch = Epoch(plan, reader, self._placement, begin)
            self._latest.append(epoch)
            self._begun.append(epoch)
            self._placement.begin_epoch(plan.epoch, begin.passed)
            epoch.reader.start()
        for queue in (*self._inboxes, self.begun):
            queue.put(epoch)

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
        for queue in (*self._inboxes, self.begun):
            queue.put(None)
        for epoch in self._latest:
            epoch.stop()

    def close(self) -> None:
        for epoch in self._latest:
            epoch.reader.join()

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure


def train_epochs(
    plans: Iterable[EpochPlan],
    source: Source,
    placement: Placement,
    observers: Sequence[ProgressObserver],
    begun: Mapping[int, EpochPosition] | None = None,
    checkpointer: ChunkObserver | None = None,
    validation: Validation | None = None,
) -> Generator[tuple[EpochPlan, EpochCounts], None, None]:
    """Yield each epoch's plan and counts once its chunks are trained; workers may train the next epoch meanwhile.

    An error in a worker or the corpus, a keyboard interrupt, and closing the iterator stop all workers after their
    current block. An error is raised once they have stopped. The placement then holds everything learnt so far, and
    `source` is abandoned.

    Parameters
    ----------
    begun : mapping of int to EpochPosition, optional
        How far an earlier training has come in the epochs that it began, by their numbers.
    checkpointer : ChunkObserver, optional
        Receives every trained chunk. The positions that it is given have checksums of the corpus.
    validation : Validation, optional
        Measures after each chunk, before the checkpointer receives it, and once the chunks of an epoch are trained. If
        there is only one epoch, no chunk is trained meanwhile.
    """
    validation = validation or Validation()
    epochs = _Epochs(plans, source, placement, begun or {}, checkpointer, validation)
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
            _report_until_ended(epoch, began, observers, validation)
            if not epoch.is_finished:
                break
            began += epoch.counts.seconds - epoch.seconds_before
            measured = validation.measure(epoch.plan.epoch)
            for observer in observers:
                observer.end_epoch(replace(epoch.progress(), validation=measured))
            yield epoch.plan, epoch.counts
            epochs.permit_another()
    finally:
        epochs.stop()
        for thread in threads:
            if thread.ident is not None:  # an interrupt may come before all threads are started
                thread.join()
        epochs.close()
    epochs.raise_failure()


def _report_until_ended(
    epoch: Epoch, began: float, observers: Sequence[ProgressObserver], validation: Validation
) -> None:
    """Report the progress of an epoch that began at this time to all observers, until it is finished or stopped."""
    has_ended = False
    while not has_ended:
        with contextlib.suppress(Empty):
            epoch.ended.get(timeout=_SECONDS_BETWEEN_REPORTS)
            has_ended = True
        epoch.set_seconds(time.perf_counter() - began)
        progress = replace(epoch.progress(), points=validation.new_points())
        for observer in observers:
            observer.advance(progress)

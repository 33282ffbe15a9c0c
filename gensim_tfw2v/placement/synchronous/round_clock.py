"""How long rounds take, and for whom the workers wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import Span

if TYPE_CHECKING:
    from gensim_tfw2v.placement.calls.work import Finished


class RoundClock:
    """Measures rounds, one after the other; what it has measured may be read from other threads.

    The time that others wait for a worker is counted in the rounds in which its part came last: it is the mean, over
    the other workers with a part, of the seconds from their last report to its last report.
    """

    def __init__(self, workers: int) -> None:
        self._lock = threading.Lock()  # guards the next five
        self._rounds = 0
        self._words = 0
        self._seconds = 0.0
        self._waited = np.zeros(workers)  # seconds of each worker from its reports to the last ones
        self._waited_for = np.zeros(workers)  # seconds in which others waited for it
        self._began = 0.0
        self._words_of_round = 0

    def begin(self, content: Sentences | Span) -> None:
        """Begin a round with this content."""
        self._began = time.monotonic()
        if isinstance(content, Sentences):
            self._words_of_round = content.ids.size
        else:
            self._words_of_round = content.end_word - content.first_word

    def end_waiting(self, results: Sequence[Future[Finished]]) -> None:
        """Record the parts of a round that have arrived when it stops waiting for others."""
        done = [result.result() for result in results if result.done() and result.exception() is None]
        moments: dict[int, float] = {}  # when each worker has reported its last part
        for found in done:  # a part that was late may have come before the round began
            moments[found.worker] = max(found.moment, moments.get(found.worker, self._began))
        if len(moments) < 2:
            return
        last = max(moments, key=lambda worker: moments[worker])
        waits = {worker: moments[last] - moment for worker, moment in moments.items() if worker != last}
        with self._lock:
            for worker, seconds in waits.items():
                self._waited[worker] += seconds
            self._waited_for[last] += sum(waits.values()) / len(waits)

    def end(self) -> None:
        """End the round."""
        with self._lock:
            self._rounds += 1
            self._words += self._words_of_round
            self._seconds += time.monotonic() - self._began

    def tasks(self) -> dict[str, dict[str, float]]:
        """Return further metrics of each worker, by "worker number"."""
        with self._lock:
            return {
                f"worker {worker}": {
                    "round_wait_seconds": float(self._waited[worker]),
                    "waited_for_share": float(self._waited_for[worker] / max(self._seconds, 1e-9)),
                }
                for worker in range(len(self._waited))
            }

    def report(self) -> dict[str, Any]:
        """Return the number of rounds, their mean size and time, and the share of time that others waited for each."""
        shares = {task: found["waited_for_share"] for task, found in self.tasks().items()}
        with self._lock:
            rounds = max(self._rounds, 1)
            return {
                "count": self._rounds,
                "words": self._words / rounds,
                "seconds": self._seconds / rounds,
                "waited_for": shares,
            }

"""Costs of rounds: the reports of all parts added up, bytes sent, and which workers waited for which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.worker_metrics import WorkerMetrics

_NUMBER_BYTES = 4  # of a row's number


class RoundMetrics(WorkerMetrics):
    """Adds up what rounds cost; safe to use from several threads.

    Parameters
    ----------
    cores : sequence of int
        Of each worker, that train a part.
    vector_bytes : int
        Bytes of a row that is sent.
    """

    def __init__(self, cores: Sequence[int], vector_bytes: int) -> None:
        super().__init__(cores)
        self._vector_bytes = vector_bytes
        self._average = self._in_rounds = 0.0
        self._rounds = self._words = 0
        self._waited_for = [0.0] * len(cores)

    def add_part(self, member: Member, report: BlockReport, sent_bytes: int) -> None:
        """Count a part that a worker has trained, for which the coordinator sent `sent_bytes`."""
        with self._lock:
            self._count(member.number, report, sent_bytes)

    def add_meeting(self, finished: Mapping[Member, float]) -> None:
        """Count how long each worker waited, and for which worker, given the time at which each one finished."""
        last = max(finished, key=lambda member: finished[member])
        end = finished[last]
        with self._lock:
            for member, moment in finished.items():
                self._workers[member.number].waited_seconds += end - moment
            others = [moment for member, moment in finished.items() if member is not last]
            if others:
                self._waited_for[last.number] += end - sum(others) / len(others)

    def add_shared_rows(self, members: list[Member], rows: int) -> None:
        """Count an average of `rows` shared rows; each worker adds up its part of them and sends it to all."""
        others = len(members) - 1
        each = 2 * others * rows * self._vector_bytes // len(members)
        with self._lock:
            for member in members:
                self._add_traffic(member, each, each, 2 * others)

    def add_rows(self, members: list[Member], sent: Any) -> None:
        """Count an average of rows; `sent` has how many rows each worker sent as changes and as sums [workers, 2]."""
        others = len(members) - 1
        row_bytes = self._vector_bytes + _NUMBER_BYTES
        total = int(sent.sum())
        with self._lock:
            for member, own in zip(members, sent.sum(axis=1).tolist(), strict=True):
                # The others send each worker about equal shares.
                self._add_traffic(member, (total - own) // others * row_bytes, own * row_bytes, 2 * others)

    def _add_traffic(self, member: Member, received: int, sent: int, messages: int) -> None:
        task = self._workers[member.number]
        task.received_bytes += received
        task.sent_bytes += sent
        task.messages += messages

    def add_round(self, words: int, seconds: float, seconds_averaging: float, workers: int) -> None:
        """Count a whole round."""
        with self._lock:
            self._rounds += 1
            self._words += words
            self._in_rounds += seconds
            self._average += seconds_averaging * workers

    def report(self, raw_words: int) -> dict[str, Any]:
        """Return the metrics of the whole training of `raw_words` raw words."""
        tasks = self.tasks()
        travelled = sum(int(task["received_bytes"]) for task in tasks.values())
        with self._lock:
            in_rounds, rounds = max(self._in_rounds, 1e-9), max(self._rounds, 1)
            seconds = {
                "make": self._seconds.make,
                "compute": self._seconds.compute,
                "average": self._average,
                "idle": self._waited(),
            }
            return {
                **self._common_report(raw_words, travelled, seconds),
                "rounds": {
                    "count": self._rounds,
                    "words": self._words / rounds,
                    "seconds": self._in_rounds / rounds,
                    "share_averaging": self._average / max(sum(seconds.values()), 1e-9),
                    "waited_for": {
                        f"worker {number}": seconds / in_rounds for number, seconds in enumerate(self._waited_for)
                    },
                },
                "tasks": tasks,
            }

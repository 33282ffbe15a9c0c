"""When a checkpoint is due, and when a copy of vectors that may be lost is worth its time."""

from __future__ import annotations

import time

from gensim_tfw2v.arguments.rules import words_in

_LEAST_SECONDS = 30.0  # of training that a loss of vectors may cost, besides an epoch
_COPIES = 20  # or as long as so many copies take, so that they take a twentieth of the time


class Cadence:
    """Decides when a checkpoint is due, so that a crash costs at most a given number of seconds, or of words.

    A crash while a checkpoint is written also loses the work done meanwhile, and a checkpoint begins at the end of a
    chunk. So a checkpoint begins before the interval is over: earlier by the time of the longest checkpoint and chunk
    so far, but not in the interval's first half. The first checkpoint begins after half the interval, because its
    duration is not known.

    Parameters
    ----------
    every : float or str
        Seconds, or words as in "5e6 words".
    """

    def __init__(self, every: float | str) -> None:
        self._counts_words = isinstance(every, str)
        self._interval = words_in(every) if isinstance(every, str) else float(every)
        self._words = 0
        self._began = self._now()
        self._chunk_ended: float | None = None  # time before the first chunk's end is not a chunk's time
        self._longest_chunk = 0.0
        self._longest_writing: float | None = None

    def add(self, words: int) -> None:
        """Count the words of a trained chunk."""
        self._words += words
        now = self._now()
        if self._chunk_ended is not None:
            self._longest_chunk = max(self._longest_chunk, now - self._chunk_ended)
        self._chunk_ended = now

    def is_due(self) -> bool:
        """Return whether it is time for a checkpoint."""
        early = self._interval / 2
        if self._longest_writing is not None:
            early = min(early, self._longest_writing + self._longest_chunk)
        return self._now() - self._began >= self._interval - early

    def begin(self) -> None:
        """Start counting again."""
        self._began = self._now()

    def end_writing(self) -> None:
        """Record that the checkpoint begun last has been written."""
        self._longest_writing = max(self._longest_writing or 0.0, self._now() - self._began)

    def _now(self) -> float:
        """Return words or seconds, whichever the interval is given in."""
        return self._words if self._counts_words else time.monotonic()


class BackupCadence:
    """Decides when a copy of vectors that may be lost is due, from how long the last one took."""

    def __init__(self) -> None:
        self._copied = time.monotonic()  # when the model had the current vectors
        self._seconds = 0.0  # that the last copy took

    def record(self, copy_began: float | None = None) -> None:
        """Record that the model has the current vectors now, from a copy that began then on the monotonic clock."""
        self._copied = time.monotonic()
        if copy_began is not None:
            self._seconds = self._copied - copy_began

    def is_due(self) -> bool:
        """Return whether a copy is due."""
        return time.monotonic() - self._copied >= max(_LEAST_SECONDS, _COPIES * self._seconds)

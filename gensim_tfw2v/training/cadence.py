"""When a checkpoint is due."""

from __future__ import annotations

import time

from gensim_tfw2v.arguments.rules import words_in


class Cadence:
    """Decides when a checkpoint is due, so that a crash costs at most so many seconds, or so many words.

    A crash while a checkpoint is written also loses the work done meanwhile, and a checkpoint begins at the end of a
    chunk. So one begins before the interval is over: by as much as the longest checkpoint and chunk took, but not
    before half of it is over. The first one begins then, because its duration is not known.

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
        self._chunk_ended: float | None = None  # what comes before the first one is not a chunk's time
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
        """Count from now on."""
        self._began = self._now()

    def end_writing(self) -> None:
        """Record that the checkpoint has been written with which counting began."""
        self._longest_writing = max(self._longest_writing or 0.0, self._now() - self._began)

    def _now(self) -> float:
        """Return words or seconds, whichever the interval has."""
        return self._words if self._counts_words else time.monotonic()

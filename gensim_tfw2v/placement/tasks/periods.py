"""How fast a training was with each number of workers: periods that end when the number changes."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass
class _Period:
    workers: int
    began: float  # on the monotonic clock
    tokens: int = 0


class Periods:
    """Counts trained tokens by period; not safe to use from several threads."""

    def __init__(self) -> None:
        self._periods: list[_Period] = []

    def set_workers(self, workers: int) -> None:
        """Record how many workers take part from now on. A period in which nothing was trained becomes the next one."""
        last = self._periods[-1] if self._periods else None
        if last is not None and not last.tokens:
            last.workers = workers
        elif last is None or last.workers != workers:
            self._periods.append(_Period(workers, time.monotonic()))

    def add(self, tokens: int) -> None:
        """Count the tokens of a block."""
        if self._periods:
            self._periods[-1].tokens += tokens

    def report(self, raw_words: int) -> list[dict[str, float]]:
        """Return workers, seconds and raw words a second of each period of a training of `raw_words` raw words."""
        ends = [period.began for period in self._periods[1:]] + [time.monotonic()]
        words_of_token = raw_words / max(sum(period.tokens for period in self._periods), 1)
        return [
            {
                "workers": period.workers,
                "seconds": end - period.began,
                "words_per_second": period.tokens * words_of_token / max(end - period.began, 1e-9),
            }
            for period, end in zip(self._periods, ends, strict=False)  # without periods there is one end too many
        ]

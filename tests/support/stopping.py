"""What ends a training in the midst of its corpus."""

from __future__ import annotations

from collections.abc import Iterator


class StopError(Exception):
    """What ends a training in these tests."""


def stop() -> None:
    """End a training."""
    raise StopError


class StopInSecondPass:
    """Sentences, in the second pass over which training ends."""

    def __init__(self, sentences: list[list[str]]) -> None:
        self._sentences, self._passes = sentences, 0

    def __iter__(self) -> Iterator[list[str]]:
        self._passes += 1
        if self._passes == 2:
            stop()
        return iter(self._sentences)

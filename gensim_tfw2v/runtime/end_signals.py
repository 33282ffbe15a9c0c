"""Signals that end a process, for a main thread that waits for them or is at work."""

from __future__ import annotations

import contextlib
import queue
import signal
from collections.abc import Iterator


class EndSignals:
    """Receives SIGTERM and SIGINT from now on; made by the main thread.

    A handler runs in the main thread, perhaps in the midst of `wait`. A `threading.Event` could then wait for a lock
    that its own `wait` holds. A simple queue can be written to at any moment.
    """

    def __init__(self) -> None:
        self._received: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda received, _: self._received.put(received))

    def wait(self, seconds: float) -> bool:
        """Return whether a signal has come, at the latest after so many seconds."""
        try:
            self._received.get(timeout=seconds)
        except queue.Empty:
            return False
        return True


@contextlib.contextmanager
def end_as_interrupt() -> Iterator[None]:
    """Have SIGTERM raise KeyboardInterrupt in the main thread meanwhile, as Ctrl-C does.

    Schedulers and container engines send it some time before they kill a process.
    """
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)

"""Signals that end a process, for a main thread that waits for them."""

from __future__ import annotations

import queue
import signal


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

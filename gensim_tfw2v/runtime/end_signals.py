"""Signals that end a process, for a main thread that waits for them or is at work."""

from __future__ import annotations

import contextlib
import select
import signal
import socket
from collections.abc import Iterator
from typing import Any


class EndSignals:
    """Receives SIGTERM and SIGINT from now on; made by the main thread.

    A handler runs in the main thread, perhaps in the midst of `wait`, and must not wait for what `wait` holds, as it
    would with a `threading.Event`. So it sends a byte. A signal may make the wait of a `queue.SimpleQueue` endless:
    CPython counts an interrupted wait as one that has the queue's lock, and takes a time limit that has passed as none.
    """

    def __init__(self) -> None:
        self._received, self._sent = socket.socketpair()
        for end in (self._received, self._sent):
            end.setblocking(False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._send)

    def _send(self, *_: Any) -> None:
        with contextlib.suppress(BlockingIOError):  # thousands of signals are waiting
            self._sent.send(b"\0")

    def wait(self, seconds: float) -> bool:
        """Return whether a signal has come, at the latest after so many seconds."""
        has_come, _, _ = select.select([self._received], [], [], seconds)
        return bool(has_come) and bool(self._received.recv(1))


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

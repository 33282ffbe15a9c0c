"""Programs and trainings that a test interrupts as a terminal would, ends at once, or stops as a machine that hangs."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def heed_interrupts() -> None:
    """Take SIGINT seriously again: run in the child, which inherits a shell's deafness to it in background jobs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def freeze(child: subprocess.Popen[Any]) -> None:
    """Stop a child, and return when it has stopped: its other threads continue until its first one has heard."""
    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED)


def kill(process: subprocess.Popen[Any]) -> None:
    """End a process at once, and return when it has ended."""
    process.kill()
    process.wait()


@contextmanager
def stopped_after(chunks: int, placement: type[Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have a training on this kind of placement fail after so many chunks, and expect that it does."""
    train_chunk, left = placement.train_chunk, iter(range(chunks))

    def train_some_chunks(*arguments: Any) -> Any:
        if next(left, None) is None:
            raise OSError("stopped")
        return train_chunk(*arguments)

    with monkeypatch.context() as stopping, pytest.raises(OSError, match="stopped"):
        stopping.setattr(placement, "train_chunk", train_some_chunks)
        yield

"""Programs that a test interrupts as a terminal would, or stops as a machine that hangs."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any


def heed_interrupts() -> None:
    """Take SIGINT seriously again: run in the child, which inherits a shell's deafness to it in background jobs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def freeze(child: subprocess.Popen[Any]) -> None:
    """Stop a child, and return when it has stopped: its other threads go on until its first one has heard."""
    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED)

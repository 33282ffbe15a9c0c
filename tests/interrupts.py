"""Programs that a test interrupts as a terminal would."""

from __future__ import annotations

import signal


def heed_interrupts() -> None:
    """Take SIGINT seriously again: run in the child, which inherits a shell's deafness to it in background jobs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)

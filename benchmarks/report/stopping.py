"""Stops a benchmark on a signal: it ends the processes that it started and keeps its results."""

from __future__ import annotations

import signal
from collections.abc import Callable

from report.reports import say

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def status_of(main: Callable[[], int]) -> int:
    """Return the exit status of `main`, which saves each result at once; 130 if a signal interrupts it."""
    for number in _SIGNALS:
        signal.signal(number, _interrupt)
    try:
        return main()
    except KeyboardInterrupt:
        say("stopped; what was measured so far is saved")
        return 130


def _interrupt(*_: object) -> None:
    """Raise KeyboardInterrupt, and ignore further signals while the benchmark ends."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt

"""What a benchmark does that is told to stop: it ends what it has started, and keeps what it has measured."""

from __future__ import annotations

import signal
from collections.abc import Callable

from reports import say

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def status_of(main: Callable[[], int]) -> int:
    """Return the exit status of `main`, which saves results as they come; 130 if a signal has interrupted it."""
    for number in _SIGNALS:
        signal.signal(number, _interrupt)
    try:
        return main()
    except KeyboardInterrupt:
        say("stopped; what was measured so far is saved")
        return 130


def _interrupt(*_: object) -> None:
    """Raise KeyboardInterrupt; signals that follow are ignored while everything is brought to its end."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt

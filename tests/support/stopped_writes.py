"""Stops this process at a moment at which a file is about to be opened, moved, made or removed."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

_EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}


def stop_at(moment: int, how: str, concerns: Callable[[str], bool]) -> None:
    """Kill this process, or raise an error or an interrupt, at the moment of this number; print which moment it was.

    Moments are those at which something is about to be done with a path that `concerns` is true of.
    """
    count = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event not in _EVENTS or not concerns(str(arguments[0])):
            return
        count += 1
        if count == moment:
            print(event, *arguments[: 2 if event == "os.rename" else 1], flush=True)
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise KeyboardInterrupt if how == "interrupt" else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    sys.addaudithook(watch)

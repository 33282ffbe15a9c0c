"""A time limit in a process of its own, because some of TensorFlow's calls block all threads of this one."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator


@contextlib.contextmanager
def kill_after(seconds: float, processes: Iterable[int]) -> Iterator[None]:
    """Kill these processes if the block takes longer than `seconds`, because it may wait for them without limit."""
    watch = [sys.executable, "-I", "-S", __file__, str(seconds), *map(str, processes)]
    quiet = subprocess.DEVNULL
    # Its standard input ends with the block, and with this process.
    with subprocess.Popen(watch, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True):
        yield


def _watch(seconds: float, processes: Iterable[int]) -> None:
    """Kill processes unless standard input ends in time."""
    in_time, _, _ = select.select([sys.stdin], [], [], seconds)
    if not in_time:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    _watch(float(sys.argv[1]), map(int, sys.argv[2:]))

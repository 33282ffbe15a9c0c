"""A time limit that holds even for code that holds up all of this process's threads, as TensorFlow's calls can."""

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
    """Have processes killed if the block lasts longer: those that it may wait for without an end."""
    watch = [sys.executable, "-I", "-S", __file__, str(seconds), *map(str, processes)]
    quiet = subprocess.DEVNULL
    # Its input ends with the block, and with this process.
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

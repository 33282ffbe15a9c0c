"""Metrics of a task's process: processor time, memory, and the traffic of its network interfaces."""

from __future__ import annotations

import os
import time

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.runtime.system import PROC

NAMES = ("cpu_seconds", "memory_bytes", "received_bytes", "sent_bytes")


def own_metrics() -> npt.NDArray[np.float64]:
    """Return the metrics of this process in the order of `NAMES`.

    Traffic is that of all network interfaces since they came up, loopback included: the kernel does not count it by
    process.
    """
    return np.array([time.process_time(), _memory_bytes(), *_traffic()], dtype=np.float64)


def _memory_bytes() -> int:
    try:
        pages = int((PROC / "self/statm").read_text().split()[1])
    except OSError:  # the system does not list them
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _traffic() -> tuple[int, int]:
    try:
        lines = (PROC / "net/dev").read_text().splitlines()[2:]
    except OSError:
        return 0, 0
    counts = [line.partition(":")[2].split() for line in lines]
    return sum(int(count[0]) for count in counts), sum(int(count[8]) for count in counts)

"""A limit of memory for processes, with the pages of files that they use, in either version of the kernel's groups."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from machines.quotas import hierarchy_in

_FILES = {1: ("memory.limit_in_bytes", "memory.max_usage_in_bytes"), 2: ("memory.max", "memory.peak")}


class MemoryLimit:
    """A control group. Processes that join it, and what they start, have so many bytes together."""

    def __init__(self, root: Path, version: int, limit: int) -> None:
        self.group = root / f"tfw2v-memory-{os.getpid()}"
        self._limit_file, self._peak_file = _FILES[version]
        self.group.mkdir()
        (self.group / self._limit_file).write_text(str(limit))

    def peak(self) -> int:
        """Return the most bytes that they had at a time."""
        return int((self.group / self._peak_file).read_text())


@contextlib.contextmanager
def memory_limit(limit: int | None) -> Iterator[MemoryLimit | None]:
    """Yield a limit of so many bytes, None if there is to be none; raise OSError if this machine has no such groups."""
    if limit is None:
        yield None
        return
    found = hierarchy_in(Path("/proc/mounts").read_text().splitlines(), "memory")
    if found is None:
        raise OSError("there is no control group hierarchy with the memory controller")
    made = MemoryLimit(*found, limit)
    try:
        yield made
    finally:
        made.group.rmdir()


def join(group: Path) -> None:
    """Move this process into a limit's group."""
    (group / "cgroup.procs").write_text(str(os.getpid()))

"""A limit of memory for processes, with the pages of files that they use, by either version of control groups."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from machines.quotas import hierarchy_in

_FILES = {1: "memory.limit_in_bytes", 2: "memory.max"}


@contextlib.contextmanager
def memory_limit(limit: int | None) -> Iterator[Path | None]:
    """Yield the folder of a control group of so many bytes, None if there is to be no limit.

    Raise OSError if this machine has no such groups. All processes that join it must have ended at the end.
    """
    if limit is None:
        yield None
        return
    found = hierarchy_in(Path("/proc/mounts").read_text().splitlines(), "memory")
    if found is None:
        raise OSError("there is no control group hierarchy with the memory controller")
    root, version = found
    group = root / f"tfw2v-memory-{os.getpid()}"
    if version == 2:
        (root / "cgroup.subtree_control").write_text("+memory")
    group.mkdir()
    try:
        (group / _FILES[version]).write_text(str(limit))
        yield group
    finally:
        group.rmdir()


def join(group: Path) -> None:
    """Move this process into a group."""
    (group / "cgroup.procs").write_text(str(os.getpid()))

"""Processor quotas of emulated machines: a control group each, of either version of the kernel's interface."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

_PREFIX = "tfw2v-node-"
_PERIOD_US = 100_000  # the kernel's own default
_MOST_WEIGHT, _MOST_SHARES = 10_000, 262_144  # that the kernel's two interfaces take
_TRIES, _SECONDS_BETWEEN_TRIES = 50, 0.1  # a group whose last process is ending cannot be removed yet


class Quotas:
    """Groups below the root of the hierarchy that has the processor controller."""

    def __init__(self, root: Path, version: int) -> None:
        self._root = root
        self._version = version
        self.clear()
        if version == 2:
            (root / "cgroup.subtree_control").write_text("+cpu")

    def take(self, name: str, process: int) -> None:
        """Put a process, and all that it starts, in a machine's group; it is not limited yet."""
        (self._group(name) / "cgroup.procs").write_text(str(process))

    def limit(self, name: str, cores: float) -> None:
        """Let a machine's processes use so much of a core from now on."""
        group, quota = self._group(name), round(cores * _PERIOD_US)
        if self._version == 2:
            (group / "cpu.max").write_text(f"{quota} {_PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota))

    def prefer(self, name: str) -> None:
        """Let a machine's processes go first from now on: one without a quota never waits for another's cores."""
        if self._version == 2:
            (self._group(name) / "cpu.weight").write_text(str(_MOST_WEIGHT))
        else:
            (self._group(name) / "cpu.shares").write_text(str(_MOST_SHARES))

    def clear(self) -> None:
        """Remove what this run, or an earlier one that was killed, has made, with the processes in it."""
        for group in self._root.glob(f"{_PREFIX}*"):
            for process in (group / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
            for tries_left in reversed(range(_TRIES)):
                try:
                    group.rmdir()
                    break
                except OSError:
                    if not tries_left:
                        raise
                    time.sleep(_SECONDS_BETWEEN_TRIES)

    def _group(self, name: str) -> Path:
        group = self._root / f"{_PREFIX}{name}"
        group.mkdir(exist_ok=True)
        return group


def find_quotas() -> Quotas | str:
    """Return this machine's quotas, or why there are none."""
    found = hierarchy_in(Path("/proc/mounts").read_text().splitlines()) if Path("/proc/mounts").exists() else None
    if found is None:
        return "there is no control group hierarchy with the processor controller"
    try:
        quotas = Quotas(*found)
        quotas.limit("trial", 1.0)
        quotas.clear()
    except OSError as error:
        return f"control groups cannot be made: {error}"
    return quotas


def hierarchy_in(mounts: Iterable[str], controller: str = "cpu") -> tuple[Path, int] | None:
    """Return the root of the hierarchy with a controller among lines of /proc/mounts, and its version."""
    for line in mounts:
        _, place, kind, options, *_ = line.split()
        root = Path(place)
        if kind == "cgroup" and controller in options.split(","):
            return root, 1
        if kind == "cgroup2" and controller in _words_of(root / "cgroup.controllers"):
            return root, 2
    return None


def _words_of(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []

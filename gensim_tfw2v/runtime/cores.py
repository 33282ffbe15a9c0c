"""How many cores this process may use: those that it may run on, within the limits of its control groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from gensim_tfw2v.arguments.rules import WholeNumber
from gensim_tfw2v.runtime.tensorflow import usable_cores

_UNLIMITED = "max"
_CPU = "cpu"  # the controller's name
ALL_CORES = -1  # as scikit-learn's `n_jobs`


@dataclass(frozen=True)
class CoreCount(WholeNumber):
    """A number of cores, or -1 for all that this process may use."""

    least: float = 1

    def wanted(self) -> str:
        """Return the description of valid values for the error."""
        return f"{super().wanted()}, or {ALL_CORES} for all usable cores"

    def fits(self, number: Any) -> bool:
        """Return whether a number is right."""
        return number == ALL_CORES or super().fits(number)

    def plain(self, name: str, value: Any) -> Any:
        """Return a number of cores as an int; raise ValueError or TypeError that names it if it is wrong."""
        found = super().plain(name, value)
        return allowed_cores() if found == ALL_CORES else found


def allowed_cores(system: Path = Path("/")) -> int:
    """Return how many cores this process may keep busy, at least 1.

    Parameters
    ----------
    system : Path
        The folder that has ``proc`` and ``sys``.
    """
    return max(1, int(min([usable_cores(), *_quotas(system)])))


def _quotas(system: Path) -> Iterator[float]:
    """Yield the limit, in cores, of each control group that this process belongs to and that has one."""
    for hierarchy, group in _groups(system):
        # A container often sees its own group as the root, whatever path /proc names.
        for path in (hierarchy, hierarchy / group, *(hierarchy / parent for parent in group.parents)):
            quota = _quota_of(path)
            if quota is not None:
                yield quota


def _groups(system: Path) -> Iterator[tuple[Path, PurePosixPath]]:
    """Yield the folder of each hierarchy that limits processors, and the path of this process's group in it."""
    mounted = system / "sys/fs/cgroup"
    try:
        lines = (system / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:  # no Linux, or no control groups
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        path = PurePosixPath(group.lstrip("/"))
        if not controllers:  # version 2
            yield mounted, path
        elif _CPU in controllers.split(","):  # version 1
            yield mounted / controllers, path
            yield mounted / _CPU, path


def _quota_of(group: Path) -> float | None:
    try:
        both = group / "cpu.max"
        files = [both] if both.exists() else [group / "cpu.cfs_quota_us", group / "cpu.cfs_period_us"]
        quota, period = " ".join(file.read_text(encoding="utf-8") for file in files).split()
        if quota == _UNLIMITED or int(quota) <= 0 or int(period) <= 0:
            return None
        return int(quota) / int(period)
    except (OSError, ValueError):  # there is no such limit here
        return None

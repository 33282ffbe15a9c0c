"""How many cores this process may use: those that it may run on, within the limits of its control groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from gensim_tfw2v.runtime.tensorflow import usable_cores

_UNLIMITED = "max"
_CPU = "cpu"  # the controller's name


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

"""What a coordinator asks of every task by name: its description, with metrics, and leases on its tables."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.cluster.errors import ClusterError, TaskError
from gensim_tfw2v.cluster.remote_functions import register
from gensim_tfw2v.runtime.system import PROC
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.version import __version__

DESCRIBE = "gensim_tfw2v.describe"
OPEN_LEASE = "gensim_tfw2v.open_lease"
RENEW_LEASE = "gensim_tfw2v.renew_lease"
END_LEASE = "gensim_tfw2v.end_lease"
METRIC_NAMES = ("cpu_seconds", "memory_bytes", "received_bytes", "sent_bytes")


@dataclass
class _Lease:
    """Tables that a coordinator has made on this server."""

    tables: list[str]
    key: int
    renewed: float


class Task:
    """The state behind the functions of one process.

    Parameters
    ----------
    details : callable, optional
        Returns further entries of the description.
    clock : callable, optional
        Returns seconds, by which leases age.
    """

    def __init__(
        self, details: Callable[[], Mapping[str, Any]] = dict, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._details, self._clock = details, clock
        self._leases: dict[str, _Lease] = {}
        self._lock = threading.Lock()

    def describe(self) -> bytes:
        """Return versions, process, task metrics and leases, as JSON."""
        with self._lock:
            now = self._clock()
            leases = {
                name: {"tables": lease.tables, "idle": now - lease.renewed} for name, lease in self._leases.items()
            }
        return json.dumps(
            {
                **versions(),
                "python": platform.python_version(),
                "host": platform.node(),
                "process": os.getpid(),
                "figures": own_metrics().tolist(),
                "runs": leases,
                **self._details(),
            }
        ).encode()

    def open_lease(self, name: bytes, tables: bytes) -> np.bool_:
        """Record the tables that a coordinator is about to make here."""
        lease = text_of(name)
        try:
            names = json.loads(text_of(tables))
        except (ValueError, RecursionError):
            names = None
        if not isinstance(names, list) or not all(isinstance(table, str) for table in names):
            raise TaskError(f"the lease {lease!r} came without a list of its tables")
        with self._lock:
            self._leases[lease] = _Lease(names, key_of(lease), self._clock())
        return np.bool_(True)

    def renew_lease(self, key: Any) -> Any:
        """Renew the lease with this key, and return this task's metrics."""
        with self._lock:
            for lease in self._leases.values():
                if lease.key == key:
                    lease.renewed = self._clock()
        return own_metrics()

    def end_lease(self, name: bytes) -> np.bool_:
        """Forget a lease whose tables have been freed."""
        with self._lock:
            self._leases.pop(text_of(name), None)
        return np.bool_(True)

    def register(self) -> None:
        """Let coordinators call these functions by name."""
        register(DESCRIBE, self.describe)
        register(OPEN_LEASE, self.open_lease)
        register(RENEW_LEASE, self.renew_lease)
        register(END_LEASE, self.end_lease)


def key_of(lease: str) -> int:
    """Return the number that stands for a lease's name in messages; it is harmless if two leases have the same key."""
    return zlib.crc32(lease.encode()) >> 1  # 31 bits


def text_of(value: Any) -> str:
    """Return a string that TensorFlow passes as bytes, or as an array of them."""
    value = value.item() if hasattr(value, "item") else value
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        raise TaskError(f"a name arrived damaged: {value[:80]!r}") from None


def description_in(answer: bytes, task: str) -> dict[str, Any]:
    """Return the description that a task has sent; if it is none, raise a ClusterError that names the task."""
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not {"package", "tensorflow"} <= found.keys():
        raise ClusterError(f"{task} does not answer as a task of this package does; start it with `tfw2v server`")
    return found


def checked_cores(described: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many cores of each task train a block; raise ClusterError if a task has other versions than this one.

    A worker on a server of the user's own may not say how many: it trains with one.
    """
    check_versions(described)
    said = {name: found.get("cores") for name, found in described.items()}
    return {name: cores if isinstance(cores, int) and cores > 0 else 1 for name, cores in said.items()}


def versions() -> dict[str, str]:
    """Return the versions of the package and of TensorFlow in this process."""
    return {"package": __version__, "tensorflow": load_tensorflow().__version__}


def check_versions(described: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise ClusterError naming the tasks whose TensorFlow or package has another version than this process."""
    own = versions()
    wrong = [
        f"{task} has {name} {found[name]}"
        for task, found in described.items()
        for name in own
        if found[name] != own[name]
    ]
    if wrong:
        raise ClusterError(
            f"this process has gensim_tfw2v {own['package']} and tensorflow {own['tensorflow']}, but "
            f"{', '.join(wrong)}; install the same versions everywhere"
        )


def own_metrics() -> npt.NDArray[np.float64]:
    """Return the metrics of this process in the order of `METRIC_NAMES`.

    Traffic is that of all network interfaces since they came up, loopback included: the kernel does not count it by
    process.
    """
    memory = received = sent = 0
    with contextlib.suppress(OSError):  # the system does not list them
        memory = int((PROC / "self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        counts = [line.partition(":")[2].split() for line in (PROC / "net/dev").read_text().splitlines()[2:]]
        received, sent = (sum(int(count[place]) for count in counts) for place in (0, 8))
    return np.array([time.process_time(), memory, received, sent], dtype=np.float64)

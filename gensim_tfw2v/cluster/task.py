"""Functions of every task that a coordinator calls by name: describe the task, and record leases on its tables."""

from __future__ import annotations

import json
import os
import platform
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.cluster.remote_functions import register
from gensim_tfw2v.cluster.task_metrics import own_metrics
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.version import __version__

DESCRIBE = "gensim_tfw2v.describe"
OPEN_LEASE = "gensim_tfw2v.open_lease"
RENEW_LEASE = "gensim_tfw2v.renew_lease"
END_LEASE = "gensim_tfw2v.end_lease"


@dataclass
class _Lease:
    """Tables that a coordinator has made on this server."""

    tables: list[str]
    key: int
    renewed: float = field(default_factory=time.monotonic)


class Task:
    """The state behind the functions of one process.

    Parameters
    ----------
    details : callable, optional
        Returns further entries of the description.
    """

    def __init__(self, details: Callable[[], Mapping[str, Any]] = dict) -> None:
        self._details = details
        self._leases: dict[str, _Lease] = {}
        self._lock = threading.Lock()

    def describe(self) -> bytes:
        """Return versions, process, task metrics and leases, as JSON."""
        with self._lock:
            now = time.monotonic()
            leases = {
                name: {"tables": lease.tables, "idle": now - lease.renewed} for name, lease in self._leases.items()
            }
        return json.dumps(
            {
                "package": __version__,
                "tensorflow": load_tensorflow().__version__,
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
            self._leases[lease] = _Lease(names, key_of(lease))
        return np.bool_(True)

    def renew_lease(self, key: Any) -> Any:
        """Renew the lease with this key, and return this task's metrics."""
        with self._lock:
            for lease in self._leases.values():
                if lease.key == key:
                    lease.renewed = time.monotonic()
        return own_metrics()

    def end_lease(self, name: bytes) -> np.bool_:
        """Forget a lease whose tables have been freed."""
        with self._lock:
            self._leases.pop(text_of(name), None)
        return np.bool_(True)


def register_task(task: Task) -> None:
    """Let coordinators call the functions of this process's task by name."""
    functions: dict[str, Callable[..., Any]] = {
        DESCRIBE: task.describe,
        OPEN_LEASE: task.open_lease,
        RENEW_LEASE: task.renew_lease,
        END_LEASE: task.end_lease,
    }
    for name, function in functions.items():
        register(name, function)


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

"""Names of what coordinators keep on the servers, which tell the next coordinator whose it was."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import secrets
from pathlib import Path

from gensim_tfw2v.cluster.health import is_running

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_NAMESPACE = Path("/proc/self/ns/pid")


def lease_name(number: int) -> str:
    """Return the name of this process's run of that number, which no other process ever has."""
    process = os.getpid()
    return f"{platform.node()}/{machine_name()}/{process}/{_token(process)}/{number}"


def owner_has_died(run: str) -> bool:
    """Return whether the process that a run is named after is known to be gone: it was where this one is."""
    _, machine, process, _, _ = run.rsplit("/", 4)
    return machine == machine_name() and not is_running(int(process))


def is_ours(run: str) -> bool:
    """Return whether a run is this process's own."""
    return run.rsplit("/", 2)[1] == _token(os.getpid())


@functools.cache
def _token(process: int) -> str:
    """Return what tells this process from others of its number; a forked child, which has another, gets its own."""
    return secrets.token_hex(8)


def machine_name() -> str:
    """Return a short name of where a process number has the meaning that it has here.

    Containers may share a host name, each of them with processes of its own numbered from 1.
    """
    known = [platform.node()]
    for read in (_BOOT_ID.read_text, _PROCESS_NAMESPACE.readlink):
        try:
            known.append(str(read()))
        except OSError:  # a system without these: the host name has to do
            known.append("")
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]

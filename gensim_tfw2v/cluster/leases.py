"""Names of leases on servers' tables, from which another coordinator learns whose lease it is."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import secrets
from pathlib import Path

from gensim_tfw2v.cluster.health import is_running

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_NAMESPACE = Path("/proc/self/ns/pid")
_NAME = re.compile(r".*/(?P<machine>[^/]*)/(?P<process>[1-9][0-9]{0,8})/(?P<token>[^/]*)/[^/]*", re.DOTALL)


def lease_name(number: int) -> str:
    """Return the name of this process's lease of that number, which no other process ever has."""
    process = os.getpid()
    return f"{platform.node()}/{machine_name()}/{process}/{_token(process)}/{number}"


def owner_has_died(lease: str) -> bool:
    """Return whether the process that holds a lease is known to have ended, as only processes of this machine are."""
    found = _NAME.fullmatch(lease)  # None for what no version of this package names a lease
    return found is not None and found["machine"] == machine_name() and not is_running(int(found["process"]))


def is_ours(lease: str) -> bool:
    """Return whether a lease is this process's own."""
    found = _NAME.fullmatch(lease)
    return found is not None and found["token"] == _token(os.getpid())


@functools.cache
def _token(process: int) -> str:
    """Return a random name of this process. Others that get its number differ, and so does a forked child."""
    return secrets.token_hex(8)


def machine_name() -> str:
    """Return a short name of the machine or container within which process numbers are unique.

    Containers may share a host name, and each of them numbers its processes from 1.
    """
    known = [platform.node()]
    for read in (_BOOT_ID.read_text, _PROCESS_NAMESPACE.readlink):
        try:
            known.append(str(read()))
        except OSError:  # a system without these: the host name must be enough
            known.append("")
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]
